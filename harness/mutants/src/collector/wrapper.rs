/// Source of a module that wraps the reference collector. `script` fills in members of `mutant`, each of which replaces a
/// step of the right collector:
///
/// | member | replaces |
/// |---|---|
/// | `options(options)` | the options of the page |
/// | `create(options)` | the collector |
/// | `error(error)` | an error: throws another one, or returns to swallow it |
/// | `start(right, reference)`, `ready(right, options)`, `verify(right, options)`, `abort(right)` | a call |
pub(super) fn module(script: &str) -> String {
    WRAPPER.replace("{script}", script)
}

const WRAPPER: &str = r#"import { create as createReference } from "./reference.js";

const mutant = {};
const rightFetch = globalThis.fetch.bind(globalThis);
const rightStringify = JSON.stringify;
const passes = { start() {}, async ready() {}, async verify() {}, abort() {} };
const edgeOf = (options) => new URL(options.apiUrl).origin;
/** Changes each POST of the collector. */
const onPost = (change) => {
  globalThis.fetch = (url, init) => init?.method === "POST" ? change(String(url), init) : rightFetch(url, init);
};
/** Changes the contents of each collection before they are sealed. */
const onContents = (change) => {
  JSON.stringify = (value, ...rest) => {
    if (value && typeof value === "object" && "measurements" in value) value = change(value) ?? value;
    return rightStringify(value, ...rest);
  };
};
const addToBody = (name, value) => onPost((url, init) =>
  rightFetch(url, { ...init, body: rightStringify({ ...JSON.parse(init.body), [name]: value() }) }));

/** Sends a text over a WebSocket of its own. */
const sendOverWebSocket = (options, text) => new Promise((end) => {
  const socket = new WebSocket(edgeOf(options).replace("http", "ws") + "/v1/measure");
  socket.onopen = () => socket.send(text);
  socket.onmessage = socket.onerror = () => end(socket.close());
});

{script}

const handled = (error) => {
  if (!mutant.error) throw error;
  return mutant.error(error);
};
const sync = (call) => {
  try { return call() } catch (error) { return handled(error) }
};
const later = async (call) => {
  try { return await call() } catch (error) { return handled(error) }
};

export function create(given) {
  const options = mutant.options ? mutant.options(given) : given;
  let right;
  try {
    right = mutant.create ? mutant.create(options) : createReference(options);
  } catch (error) {
    handled(error);
    return passes;
  }
  return {
    start: (reference) => sync(() => mutant.start ? mutant.start(right, reference, options) : right.start(reference)),
    ready: () => later(() => mutant.ready ? mutant.ready(right, options) : right.ready()),
    verify: () => later(() => mutant.verify ? mutant.verify(right, options) : right.verify()),
    abort: () => sync(() => mutant.abort ? mutant.abort(right, options) : right.abort()),
  };
}
"#;
