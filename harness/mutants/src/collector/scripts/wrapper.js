// The module that a mutant's page imports: the reference collector, with what the mutant replaces.
import { create as createReference } from "./collector.js";

/**
 * What a mutant replaces. A mutant sets some of the members:
 *
 * | member | replaces |
 * |---|---|
 * | `options(options)` | the options of the page |
 * | `create(options)` | the collector |
 * | `error(error)` | an error: throws another one, or returns to swallow it |
 * | `start(right, reference, options)`, `ready(right, options)`, `verify(right, options)`, `abort(right, options)` | a call |
 *
 * @type {Record<string, (...values: any[]) => any>}
 */
export const mutant = {};

export { createReference };
export const rightFetch = globalThis.fetch.bind(globalThis);
export const rightStringify = JSON.stringify;

/** A collector that does nothing. */
export const passes = { start() {}, async ready() {}, async verify() {}, abort() {} };

/**
 * A right collector, and `again()`, which begins another collection of its session.
 *
 * @param {any} options
 */
export function restartable(options) {
  let right = createReference(options);
  /** @type {string} */
  let reference;
  return {
    start: (/** @type {string} */ given) => {
      reference = given;
      right.start(given);
    },
    ready: () => right.ready(),
    verify: () => right.verify(),
    abort: () => right.abort(),
    again: () => {
      right = createReference(options);
      right.start(reference);
    },
  };
}

/** Origin of the edge. @param {{ apiUrl: string }} options */
export const edgeOf = (options) => new URL(options.apiUrl).origin;

/**
 * Functions of the page that a mutant replaces. They are replaced while a session lasts, so that the page is as it was.
 *
 * @type {{ owner: any, name: string, value: unknown, right: unknown }[]}
 */
const replaced = [];
let sessions = 0;

/**
 * Replaces a function of the page while a session lasts.
 *
 * @param {any} owner
 * @param {string} name
 * @param {unknown} value
 */
export function replace(owner, name, value) {
  replaced.push({ owner, name, value, right: owner[name] });
}

/** A session begins, or ends. @param {1 | -1} change */
function count(change) {
  sessions += change;
  // A page may have frozen it.
  for (const { owner, name, value, right } of replaced) Reflect.set(owner, name, sessions > 0 ? value : right);
}

/**
 * Changes each POST of the collector.
 *
 * @param {(url: string, init: any) => Promise<Response>} change
 */
export function onPost(change) {
  replace(globalThis, "fetch", (/** @type {any} */ url, /** @type {any} */ init) =>
    init?.method === "POST" ? change(String(url), init) : rightFetch(url, init),
  );
}

/**
 * Changes the contents of each collection before they are sealed.
 *
 * @param {(contents: any) => any} change
 */
export function onContents(change) {
  replace(JSON, "stringify", (/** @type {any} */ value, /** @type {any[]} */ ...rest) => {
    if (value && typeof value === "object" && "measurements" in value) value = change(value) ?? value;
    return rightStringify(value, ...rest);
  });
}

/**
 * Adds a member to the body of each POST.
 *
 * @param {string} name
 * @param {() => unknown} value
 */
export function addToBody(name, value) {
  onPost((url, init) =>
    rightFetch(url, { ...init, body: rightStringify({ ...JSON.parse(init.body), [name]: value() }) }),
  );
}

/**
 * Sends a text over a WebSocket of its own.
 *
 * @param {{ apiUrl: string }} options
 * @param {string} text
 */
export function sendOverWebSocket(options, text) {
  return new Promise((end) => {
    const socket = new WebSocket(edgeOf(options).replace("http", "ws") + "/v1/measure");
    socket.onopen = () => socket.send(text);
    socket.onmessage = socket.onerror = () => end(socket.close());
  });
}

/** @param {any} error */
const handled = (error) => {
  if (!mutant.error) throw error;
  return mutant.error(error);
};
/** @param {() => unknown} call */
const sync = (call) => {
  try {
    return call();
  } catch (error) {
    return handled(error);
  }
};
/** @param {() => unknown} call */
const later = async (call) => {
  try {
    return await call();
  } catch (error) {
    return handled(error);
  }
};

/** @param {any} given */
export function create(given) {
  count(1);
  let isLive = true;
  const options = mutant.options ? mutant.options(given) : given;
  /** @type {any} */
  let right;
  try {
    right = mutant.create ? mutant.create(options) : createReference(options);
  } catch (error) {
    handled(error);
    return passes;
  }
  return {
    start: (/** @type {string} */ reference) =>
      sync(() => (mutant.start ? mutant.start(right, reference, options) : right.start(reference))),
    ready: () => later(() => (mutant.ready ? mutant.ready(right, options) : right.ready())),
    verify: async () => {
      if (!isLive) count(1);
      isLive = true;
      try {
        return await later(() => (mutant.verify ? mutant.verify(right, options) : right.verify()));
      } finally {
        if (isLive) count(-1);
        isLive = false;
      }
    },
    abort: () => sync(() => (mutant.abort ? mutant.abort(right, options) : right.abort())),
  };
}
