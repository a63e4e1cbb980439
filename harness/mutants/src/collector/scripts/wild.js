// What a collector takes for granted about a page, and what it leaves in one.
import { mutant, onPost, rightFetch } from "./wrapper.js";

// mutant: hooks-trusted | lets toJSON of the page change the body | statement.collector-deviating-page | page-assumed | should
export function hooksTrusted() {
  onPost((url, init) => rightFetch(url, { ...init, body: JSON.stringify(JSON.parse(init.body)) }));
}

// mutant: members-inherited | takes inherited properties of objects for its own | statement.collector-any-page | page-assumed
export function membersInherited() {
  mutant.ready = async (right) => {
    const sums = { first: 1 };
    for (const name in sums) sums[name].toFixed();
    await right.ready();
  };
}

// mutant: items-inherited | takes inherited properties of lists for items | statement.collector-any-page | page-assumed
export function itemsInherited() {
  mutant.ready = async (right) => {
    const names = ["fonts"];
    for (const at in names) /** @type {any} */ (names)[at].toLowerCase();
    await right.ready();
  };
}

// mutant: native-fetch | refuses a fetch that is not native | statement.collector-any-page | page-assumed
export function nativeFetch() {
  mutant.verify = async (right) => {
    if (!Function.prototype.toString.call(globalThis.fetch).includes("[native code]")) throw new Error("tampered");
    await right.verify();
  };
}

// mutant: module-loader-used | registers with the loader of another module system | statement.collector-deviating-page | page-assumed
export function moduleLoaderUsed() {
  /** @type {any} */
  const { define } = globalThis;
  if (!define?.amd) return;
  let made;
  define([], () => (made = true));
  mutant.ready = async (right) => {
    if (!made) throw new TypeError("the collector is not defined");
    await right.ready();
  };
}

// mutant: crypto-guarded | wraps the page's cryptography | statement.collector-any-page | page-assumed
export function cryptoGuarded() {
  mutant.ready = async (right) => {
    const { digest } = crypto.subtle;
    crypto.subtle.digest = digest;
    await right.ready();
    Reflect.deleteProperty(crypto.subtle, "digest");
  };
}

// mutant: frame-awaited | waits for a frame of animation | statement.collector-any-page | page-assumed
export function frameAwaited() {
  mutant.ready = async (right) => {
    await new Promise((end) => requestAnimationFrame(end));
    await right.ready();
  };
}

// mutant: evaluates-text | evaluates a text as code | statement.collector-any-page | page-assumed
export function evaluatesText() {
  mutant.ready = async (right) => {
    new Function("return this")();
    await right.ready();
  };
}

// mutant: top-required | reads the address of the outermost page | statement.collector-any-page | page-assumed
export function topRequired() {
  mutant.ready = async (right) => {
    globalThis.top.location.href.toString();
    await right.ready();
  };
}

// mutant: digits-required | reads a number that it formats for the user | statement.collector-any-page | page-assumed
export function digitsRequired() {
  mutant.ready = async (right) => {
    if (Number.isNaN(Number((7).toLocaleString()))) throw new RangeError("not a number");
    await right.ready();
  };
}

// mutant: base-trusted | resolves addresses against the page's base | statement.collector-any-page | page-assumed
export function baseTrusted() {
  mutant.ready = async (right) => {
    if (new URL("part.js", document.baseURI).origin !== location.origin) throw new TypeError("cannot load part.js");
    await right.ready();
  };
}

// mutant: outermost-required | refuses to work in a frame | statement.collector-any-page | page-assumed
export function outermostRequired() {
  mutant.ready = async (right) => {
    if (window !== window.top) throw new Error("not in a frame");
    await right.ready();
  };
}

// mutant: tag-names-upper | expects the names of elements in capitals | statement.collector-any-page | page-assumed
export function tagNamesUpper() {
  mutant.ready = async (right) => {
    if (document.body.tagName !== "BODY") throw new Error("no body");
    await right.ready();
  };
}

// mutant: signals-combined | needs AbortSignal.any | statement.collector-deviating-page | page-assumed
export function signalsCombined() {
  mutant.ready = async (right) => {
    /** @type {any} */ (AbortSignal).any([]);
    await right.ready();
  };
}

// mutant: from-mapped | needs the second argument of Array.from | statement.collector-deviating-page | page-assumed
export function fromMapped() {
  mutant.ready = async (right) => {
    Array.from({ length: 2 }, (_, at) => at)[1].toFixed();
    await right.ready();
  };
}

// mutant: markup-inserted | inserts markup as a text | statement.collector-deviating-page | page-assumed
export function markupInserted() {
  mutant.ready = async (right) => {
    document.createElement("div").innerHTML = "<b>sample</b>";
    await right.ready();
  };
}

// mutant: constructor-assigned | assigns a property that prototypes have | statement.collector-deviating-page | page-assumed
export function constructorAssigned() {
  mutant.ready = async (right) => {
    /** @type {any} */
    const own = {};
    own.toString = () => "own";
    await right.ready();
  };
}

// mutant: frame-left | leaves a frame in the page | statement.page-unchanged | page-disturbed
export function frameLeft() {
  mutant.start = (right, given) => {
    document.body.append(Object.assign(document.createElement("iframe"), { hidden: true }));
    right.start(given);
  };
}

// mutant: fetch-wrapped | leaves a fetch of its own | statement.page-unchanged | page-disturbed
export function fetchWrapped() {
  mutant.start = (right, given) => {
    const own = globalThis.fetch;
    try {
      globalThis.fetch = (...args) => own(...args);
    } catch {}
    right.start(given);
  };
}

// mutant: prototype-extended | adds a function to all lists | statement.page-unchanged | page-disturbed
export function prototypeExtended() {
  const own = { value: () => 0, configurable: true };
  if (Object.isExtensible(Array.prototype)) Object.defineProperty(Array.prototype, "sumOfSquares", own);
}

// mutant: identifier-stored | stores an identifier of the browser | statement.page-unchanged | page-disturbed
export function identifierStored() {
  mutant.start = (right, given) => {
    try {
      localStorage.setItem("collector", String(Math.random()));
    } catch {}
    right.start(given);
  };
}

// mutant: handler-replaced | replaces the page's handler of errors | statement.page-unchanged | page-disturbed
export function handlerReplaced() {
  mutant.start = (right, given) => {
    globalThis.onerror = () => true;
    right.start(given);
  };
}

// mutant: refusal-unhandled | leaves a refused promise to the page's handlers | statement.page-unchanged | page-disturbed
export function refusalUnhandled() {
  addEventListener("unhandledrejection", (event) => event.preventDefault());
  mutant.start = (right, given) => {
    Promise.reject(new Error("refused"));
    right.start(given);
  };
}

// mutant: options-written | adds a member to the options | statement.page-unchanged | page-disturbed | should
export function optionsWritten() {
  mutant.options = (given) => {
    given.started = true;
    return given;
  };
}
