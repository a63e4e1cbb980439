use super::block::HELPERS;

/// What scripts of a page did before the collector loads.
pub(super) struct PageScripts {
    /// Part of the case id.
    pub(super) id: &'static str,
    /// What the page has, in the title of the case.
    pub(super) title: &'static str,
    /// Id of the row.
    pub(super) row: &'static str,
    /// Description and script of each page.
    pub(super) ways: &'static [(&'static str, &'static str)],
}

/// Any page will do that is a secure context.
pub(super) const ANY_PAGE: &str = "statement.collector-any-page";
/// Scripts of the page take away what the standards promise.
pub(super) const DEVIATING_PAGE: &str = "statement.collector-deviating-page";

const fn scripts(
    row: &'static str,
    id: &'static str,
    title: &'static str,
    ways: &'static [(&'static str, &'static str)],
) -> PageScripts {
    PageScripts { id, title, row, ways }
}

/// The script with the functions that it uses, in a scope of its own.
pub(super) fn scoped(script: &str) -> String {
    format!("(() => {{ {HELPERS}\n{script} }})();")
}

/// The scripts, as libraries and site owners write them.
pub(super) const PAGE_SCRIPTS: [PageScripts; 11] = [
    scripts(
        ANY_PAGE,
        "prototypes",
        "scripts that add properties to prototypes",
        &[
            (
                "enumerable properties of all objects",
                "Object.prototype.extend = function (other) { for (const name in other) this[name] = other[name]; return this };
                 Object.prototype.each = function (use) { for (const name of Object.keys(this)) use(this[name], name) };",
            ),
            (
                "enumerable values of all objects",
                "Object.prototype.shopConfig = { currency: 'EUR', features: { chat: true } };
                 Object.prototype.shopVersion = '4.2';",
            ),
            (
                "enumerable properties of all lists, texts and functions",
                "Array.prototype.last = function () { return this[this.length - 1] };
                 Array.prototype.remove = function (item) { const at = this.indexOf(item); if (at >= 0) this.splice(at, 1) };
                 String.prototype.strip = function () { return this.trim() };
                 Function.prototype.defer = function (...args) { return setTimeout(() => this(...args), 1) };",
            ),
        ],
    ),
    // A collector that writes its contents as JSON, as most do, needs built-ins that nothing here promises.
    scripts(
        DEVIATING_PAGE,
        "to-json",
        "toJSON on prototypes",
        &[
            (
                "toJSON of lists",
                "Array.prototype.toJSON = function () { return `[${[...this].map((one) => JSON.stringify(one)).join(', ')}]` };
                 String.prototype.toJSON = function () { return `\"${this}\"` };
                 Number.prototype.toJSON = function () { return `${this}` };",
            ),
            (
                "toJSON of objects",
                "Object.prototype.toJSON = function () { return `#<${Object.keys(this).join()}>` };",
            ),
        ],
    ),
    scripts(
        ANY_PAGE,
        "wrappers",
        "functions that other scripts wrap",
        &[
            (
                "a fetch that counts requests",
                "const right = globalThis.fetch; let count = 0;
                 globalThis.fetch = function () { count += 1; return right.apply(this, arguments) };",
            ),
            (
                "a fetch that reads each answer",
                "const right = globalThis.fetch;
                 globalThis.fetch = async (...args) => {
                   const answer = await right(...args); answer.clone().text().catch(() => {}); return answer };",
            ),
            (
                "a fetch that makes a request first",
                "const right = globalThis.fetch;
                 globalThis.fetch = (input, init) => right(new Request(input, init));",
            ),
            (
                "a promise class of a library",
                "const Right = globalThis.Promise; const { then } = Right.prototype; let count = 0;
                 Right.prototype.then = function (...handlers) { count += 1; return then.apply(this, handlers) };
                 globalThis.Promise = class Promise extends Right {};",
            ),
            (
                "timers, listeners and console functions of a monitoring script",
                "const wrap = (object, name) => { const right = object[name];
                   object[name] = function (...args) { return right.apply(this, args) } };
                 for (const name of ['setTimeout', 'setInterval', 'requestAnimationFrame', 'queueMicrotask']) wrap(globalThis, name);
                 for (const name of ['log', 'info', 'warn', 'error', 'debug']) wrap(console, name);
                 wrap(XMLHttpRequest.prototype, 'open'); wrap(XMLHttpRequest.prototype, 'send');
                 wrap(EventTarget.prototype, 'addEventListener'); wrap(EventTarget.prototype, 'removeEventListener');
                 const Right = WebSocket;
                 globalThis.WebSocket = class WebSocket extends Right { constructor(...args) { super(...args) } };",
            ),
        ],
    ),
    scripts(
        DEVIATING_PAGE,
        "loaders",
        "names of other module systems",
        &[(
            "names of other module systems",
            "globalThis.define = (name, needs, make) => {}; globalThis.define.amd = { jQuery: true };
             globalThis.module = { exports: {} }; globalThis.exports = globalThis.module.exports;
             globalThis.require = () => { throw new Error('no such module') };
             globalThis.process = { env: {} }; globalThis.global = globalThis;",
        )],
    ),
    scripts(
        ANY_PAGE,
        "frozen-functions",
        "functions that nobody can replace",
        &[(
            "functions that nobody can replace",
            "for (const name of ['fetch', 'Promise', 'JSON', 'WebSocket', 'setTimeout'])
               Object.defineProperty(globalThis, name, { writable: false, configurable: false });
             for (const object of [crypto, crypto.subtle, Crypto.prototype, SubtleCrypto.prototype, JSON]) Object.freeze(object);",
        )],
    ),
    scripts(
        ANY_PAGE,
        "hidden",
        "a tab in the background",
        &[(
            "a tab in the background",
            "get(Document.prototype, 'visibilityState', () => 'hidden'); get(Document.prototype, 'hidden', () => true);
             set(Document.prototype, 'hasFocus', () => false); set(globalThis, 'requestAnimationFrame', () => 1);
             const right = globalThis.setTimeout;
             set(globalThis, 'setTimeout', (use, time, ...args) => right(use, Math.max(250, Number(time) || 0), ...args));",
        )],
    ),
    scripts(
        ANY_PAGE,
        "loading",
        "a document that still loads",
        &[(
            "a document that still loads",
            "let state = 'loading'; get(Document.prototype, 'readyState', () => state);
             const tell = (target, name, bubbles) => target.dispatchEvent(new Event(name, { bubbles }));
             setTimeout(() => { state = 'interactive'; tell(document, 'readystatechange'); tell(document, 'DOMContentLoaded', true);
               state = 'complete'; tell(document, 'readystatechange'); tell(globalThis, 'load') }, 1500);",
        )],
    ),
    scripts(
        DEVIATING_PAGE,
        "missing",
        "newer interfaces missing",
        &[
            (
                "the abort signals of an older browser",
                "for (const name of ['any', 'timeout']) delete AbortSignal[name];",
            ),
            (
                "the functions of an older browser",
                "for (const name of ['structuredClone', 'queueMicrotask', 'requestIdleCallback', 'scheduler', 'reportError'])
                   delete globalThis[name];
                 for (const name of ['at', 'findLast', 'toSorted', 'toReversed', 'with']) delete Array.prototype[name];
                 for (const name of ['at', 'isWellFormed']) delete String.prototype[name];
                 for (const name of ['withResolvers', 'try']) delete Promise[name];
                 for (const name of ['hasOwn', 'groupBy']) delete Object[name];
                 for (const name of ['toBase64', 'toHex']) delete Uint8Array.prototype[name];
                 delete Uint8Array.fromBase64; delete Array.fromAsync; delete globalThis.Iterator;
                 delete Crypto.prototype.randomUUID; delete Navigator.prototype.userAgentData;",
            ),
        ],
    ),
    scripts(
        DEVIATING_PAGE,
        "old-libraries",
        "built-ins that old libraries replace",
        &[
            (
                "Array.from of a library",
                "Array.from = (items) => { if (items == null) return []; if (typeof items.toArray === 'function') return items.toArray();
                   const list = []; for (let at = 0; at < (items.length >>> 0); at += 1) list.push(items[at]); return list };",
            ),
            (
                "bind() of a library",
                "Function.prototype.bind = function (self, ...first) { const right = this;
                   return function (...rest) { return right.apply(self, [...first, ...rest]) } };",
            ),
            (
                "a JSON of a library",
                "const { stringify, parse } = JSON;
                 globalThis.JSON = { parse: (text) => parse(text),
                   stringify: (value) => stringify(value)?.replace(/[\\u007f-\\uffff]/g,
                     (letter) => `\\\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`) };",
            ),
        ],
    ),
    scripts(
        DEVIATING_PAGE,
        "frozen-prototypes",
        "frozen prototypes",
        &[(
            "frozen prototypes",
            "for (const one of [Object, Array, Function, Promise, String, Map, Set, Uint8Array, Error]) {
               Object.freeze(one.prototype); Object.freeze(one) }",
        )],
    ),
    scripts(
        DEVIATING_PAGE,
        "silent-console",
        "no console and no stack traces",
        &[(
            "no console and no stack traces",
            "globalThis.console = new Proxy({}, { get: () => () => {} }); Error.stackTraceLimit = 0;
             Error.prepareStackTrace = () => undefined; delete Error.captureStackTrace;",
        )],
    ),
];
