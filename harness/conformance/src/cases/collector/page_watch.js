// Notes the state of a page when it is loaded, and compares it later. The harness runs this function before the page's
// scripts, and takes what it needs of the page's globals at once. An expression: the harness puts brackets around it.
// oxlint-disable-next-line no-unused-expressions
(key) => {
  "use strict";
  if (globalThis !== globalThis.top) return;

  const LONGEST_WAIT = 1_500;
  const PAUSE = 50;
  const MOST = 10;

  const { getOwnPropertyDescriptor, is } = Object;
  const { ownKeys } = Reflect;
  const { setTimeout } = globalThis;
  const toText = String;

  const attempt = (read, otherwise) => {
    try {
      return read();
    } catch {
      return otherwise;
    }
  };
  const isObject = (value) => typeof value === "function" || (typeof value === "object" && value !== null);
  // Frames are properties of the global object, and the harness takes its own one away.
  const isForeign = (name) => /^(\d+$|driver-)/.test(name);

  // Descriptors of the built-ins by path. `known`: names of globals that count.
  const builtIns = (known) => {
    const found = new Map();
    const add = (path, object) => {
      for (const name of attempt(() => ownKeys(object), [])) {
        const descriptor = attempt(() => getOwnPropertyDescriptor(object, name));
        if (descriptor) found.set(`${path}.${toText(name)}`, descriptor);
      }
    };
    for (const name of known) {
      const descriptor = getOwnPropertyDescriptor(globalThis, name);
      if (!descriptor) continue;
      found.set(toText(name), descriptor);
      const { value } = descriptor;
      if (!isObject(value) || value === globalThis) continue;
      add(toText(name), value);
      const prototype = typeof value === "function" ? attempt(() => value.prototype) : undefined;
      if (isObject(prototype)) add(`${toText(name)}.prototype`, prototype);
    }
    for (const name of ["navigator", "document", "history", "screen", "performance", "crypto"]) {
      const object = attempt(() => globalThis[name]);
      if (isObject(object)) add(name, object);
    }
    const subtle = attempt(() => globalThis.crypto.subtle);
    if (isObject(subtle)) add("crypto.subtle", subtle);
    return found;
  };
  const PARTS = ["value", "get", "set", "writable", "enumerable", "configurable"];
  const isSame = (one, other) => PARTS.every((part) => is(one[part], other[part]));

  // Elements of the document, each with its tag.
  const elements = () => {
    const found = new Map();
    for (const element of document.querySelectorAll("*")) {
      found.set(element, attempt(() => element.cloneNode(false).outerHTML, element.localName));
    }
    return found;
  };

  const databases = async () => attempt(() => indexedDB.databases(), Promise.resolve([]));
  const cacheNames = async () => attempt(() => caches.keys(), Promise.resolve([]));
  const workers = async () => attempt(() => navigator.serviceWorker.getRegistrations(), Promise.resolve([]));
  const list = async (read) => [...((await read().catch(() => [])) ?? [])];

  // What a site stores, and what its user sees, by name.
  const state = async () => {
    const found = new Map();
    const note = (name, read) => found.set(name, attempt(() => toText(read()), ""));
    for (const storage of ["localStorage", "sessionStorage"]) {
      for (const name of attempt(() => ownKeys(globalThis[storage]), [])) {
        note(`${storage} ${toText(name)}`, () => globalThis[storage].getItem(name));
      }
    }
    for (const cookie of attempt(() => document.cookie.split("; "), [])) {
      if (cookie) note(`cookie ${cookie.split("=")[0]}`, () => cookie);
    }
    for (const { name } of await list(databases)) note(`database ${name}`, () => name);
    for (const name of await list(cacheNames)) note(`cache ${name}`, () => name);
    for (const { scope } of await list(workers)) note(`service worker ${scope}`, () => scope);
    note("title", () => document.title);
    note("text", () => document.body.textContent);
    note("form fields", () => [...document.querySelectorAll("input")].map(({ value }) => value).join());
    note("address", () => location.href);
    note("focus", () => document.activeElement?.localName);
    note("scroll position", () => `${scrollX} ${scrollY}`);
    note("selection", () => getSelection().toString());
    note("window name", () => globalThis.name);
    note("style sheets", () => document.styleSheets.length + document.adoptedStyleSheets.length);
    note("fonts", () => document.fonts.size);
    return found;
  };

  // Handlers of other scripts.
  const errors = [];
  const policy = [];
  const seen = (event) => errors.push(toText(event?.message ?? event?.reason ?? event));
  const handler = () => {};
  globalThis.onerror = handler;
  globalThis.onunhandledrejection = handler;
  addEventListener("error", seen);
  addEventListener("unhandledrejection", seen);
  addEventListener("securitypolicyviolation", (event) => policy.push(toText(event.effectiveDirective)));
  let longTasks = 0;
  attempt(() => {
    new PerformanceObserver((entries) => (longTasks += entries.getEntries().length)).observe({ type: "longtask" });
  });

  let before;
  addEventListener("load", () => {
    const known = ownKeys(globalThis).filter((name) => !isForeign(toText(name)));
    before = { known, builtIns: builtIns(known), elements: elements(), state: state() };
  });

  const changesOf = (earlier, now, shown) => {
    const changes = [];
    for (const [name, value] of earlier) {
      if (!now.has(name)) changes.push(`${shown(name, value)} is gone`);
      else if (typeof value === "object" ? !isSame(value, now.get(name)) : value !== now.get(name)) {
        changes.push(`${shown(name, now.get(name))} is changed`);
      }
    }
    for (const [name, value] of now) if (!earlier.has(name)) changes.push(`${shown(name, value)} is new`);
    return changes.slice(0, MOST);
  };
  const changes = async () => {
    const [earlier, now] = [await before.state, await state()];
    return {
      builtIns: changesOf(before.builtIns, builtIns(before.known), (name) => name),
      left: [
        ...changesOf(before.elements, elements(), (_, tag) => toText(tag).slice(0, 80)),
        ...changesOf(earlier, now, (name) => name),
      ],
      handlers: [
        ...(globalThis.onerror === handler ? [] : ["onerror is replaced"]),
        ...(globalThis.onunhandledrejection === handler ? [] : ["onunhandledrejection is replaced"]),
        ...errors.slice(0, MOST),
      ],
    };
  };

  // The changes since the page was loaded. What lasts a moment only is none.
  const compare = async () => {
    const { known } = before;
    for (let waited = 0; ; waited += PAUSE) {
      const found = await changes();
      const isClean = found.builtIns.length + found.left.length === 0;
      if (!isClean && waited < LONGEST_WAIT) {
        await new Promise((resolve) => setTimeout(resolve, PAUSE));
        continue;
      }
      const globals = ownKeys(globalThis)
        .filter((name) => !known.includes(name) && !isForeign(toText(name)))
        .map(toText)
        .sort();
      return { ...found, globals, policy: [...new Set(policy)].sort(), longTasks };
    }
  };
  Object.defineProperty(globalThis, key, { value: compare });
}
