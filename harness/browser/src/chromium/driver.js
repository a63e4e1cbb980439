// Calls the collector in the page. The harness runs this function before the page's scripts, and takes what it defines at
// `key` away again before it calls it. What it uses of the page's globals it takes at once, because the page or a test may
// break them later. An expression: the harness puts brackets around it.
// oxlint-disable-next-line no-unused-expressions
(key) => {
  "use strict";
  if (globalThis !== globalThis.top) return;

  const LONGEST_JSON = 1_000_000;
  const LONGEST_TEXT = 4_000;

  const { stringify } = JSON;
  const { apply, defineProperty } = Reflect;
  const { isError } = Error;
  const toText = String;
  const toUrl = URL;
  const ErrorType = Error;
  const DomErrorType = DOMException;
  const cut = String.prototype.slice;
  const controller = new AbortController();
  const { signal } = controller;

  let module;
  let collector;
  let secondVerify;

  // Getters and conversions of thrown values are the page's code, and may throw.
  const attempt = (read, otherwise) => {
    try {
      return read();
    } catch {
      return otherwise;
    }
  };
  const text = (value) => attempt(() => apply(cut, toText(value), [0, LONGEST_TEXT]), "(no text)");

  const failed = (thrown, how) => {
    const isErrorValue = attempt(
      () => Boolean(isError?.(thrown)) || thrown instanceof ErrorType || thrown instanceof DomErrorType,
      false,
    );
    const name = isErrorValue ? attempt(() => text(thrown.name), "(no name)") : thrown === null ? "null" : typeof thrown;
    const message = isErrorValue ? attempt(() => text(thrown.message), "(no message)") : text(thrown);
    // Texts only: `toJSON` on a changed prototype cannot change them.
    return `{"failed":{"name":${stringify(name)},"message":${stringify(message)},"isError":${isErrorValue}},"how":"${how}"}`;
  };

  const returned = (value) => {
    const json = attempt(() => stringify(value), undefined) ?? "null";
    if (json.length <= LONGEST_JSON) return `{"returned":${json}}`;
    return `{"returned":"(${json.length} characters of JSON)"}`;
  };

  // Yields the outcome of a call as JSON. `use` gets the awaited value.
  const settle = async (run, use) => {
    let value;
    try {
      value = run();
    } catch (thrown) {
      return failed(thrown, "thrown");
    }
    try {
      value = await value;
    } catch (thrown) {
      return failed(thrown, "rejected");
    }
    return use(value);
  };

  const callFunction = (owner, name, args, use = returned) => {
    let run;
    try {
      run = owner === undefined || owner === null ? undefined : owner[name];
    } catch (thrown) {
      return failed(thrown, "thrown");
    }
    return typeof run === "function" ? settle(() => apply(run, owner, args), use) : '{"missing":true}';
  };

  const calls = {
    load: ({ url }) =>
      settle(
        () => import(new toUrl(url, document.baseURI).href),
        (namespace) => {
          module = namespace;
          return attempt(() => typeof module.create, "") === "function" ? '{"returned":null}' : '{"missing":true}';
        },
      ),
    create: ({ options, withSignal }) =>
      callFunction(module, "create", [withSignal ? { ...options, signal } : options], (value) => {
        collector = value;
        return '{"returned":null}';
      }),
    start: ({ args }) => callFunction(collector, "start", args),
    ready: () => callFunction(collector, "ready", []),
    verify: () => callFunction(collector, "verify", []),
    verifyTwice: () => {
      const first = callFunction(collector, "verify", []);
      secondVerify = callFunction(collector, "verify", []);
      return first;
    },
    secondVerify: () => secondVerify,
    abort: () => callFunction(collector, "abort", []),
    abortSignal: () => {
      controller.abort();
      return '{"returned":null}';
    },
  };

  // `await`, because the end of an async function looks up `then` of what it returns, and `await` does not.
  const driver = async (call) => await calls[call.name](call);
  defineProperty(globalThis, key, { value: driver, configurable: true });
}
