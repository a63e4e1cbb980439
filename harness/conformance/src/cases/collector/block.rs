/// A browser interface that measurements use, and the ways in which it can fail.
pub(super) struct Block {
    /// Part of the case id.
    pub(super) id: &'static str,
    /// What fails, in the title of the case.
    pub(super) title: &'static str,
    /// Whether it is about the WebSocket.
    pub(super) is_websocket: bool,
    /// Description and script of each way. A later way replaces an earlier one.
    pub(super) ways: &'static [(&'static str, &'static str)],
}

/// Functions that the scripts use. A property that cannot be changed stays.
pub(super) const HELPERS: &str = r"
const fail = () => { throw new DOMException('blocked', 'SecurityError') };
const never = () => new Promise(() => {});
const reject = () => Promise.reject(new DOMException('blocked', 'NotAllowedError'));
const set = (object, name, value) => {
  try { Object.defineProperty(object, name, { value, configurable: true, writable: true }) } catch {}
};
const get = (object, name, getter) => {
  try { Object.defineProperty(object, name, { get: getter, configurable: true }) } catch {}
};
const protos = (...names) => names.map((name) => globalThis[name]?.prototype).filter(Boolean);
";

const fn block(
    id: &'static str,
    title: &'static str,
    ways: &'static [(&'static str, &'static str)],
) -> Block {
    Block { id, title, is_websocket: false, ways }
}

/// The interfaces, each with its ways to fail: it throws, is missing, returns nonsense, never settles.
pub(super) const BLOCKS: [Block; 13] = [
    block(
        "canvas",
        "a blocked canvas",
        &[
            (
                "a canvas that throws",
                "for (const proto of protos('HTMLCanvasElement', 'OffscreenCanvas'))
                   for (const name of ['getContext', 'toDataURL', 'toBlob', 'convertToBlob']) set(proto, name, fail);",
            ),
            (
                "a canvas without contexts",
                "for (const proto of protos('HTMLCanvasElement', 'OffscreenCanvas')) {
                   set(proto, 'getContext', () => null); set(proto, 'toDataURL', () => 'data:,');
                   set(proto, 'convertToBlob', reject); set(proto, 'toBlob', (done) => done(null)) }",
            ),
            (
                "a canvas that returns nonsense",
                "for (const proto of protos('HTMLCanvasElement', 'OffscreenCanvas')) {
                   set(proto, 'getContext', () => ({})); set(proto, 'toDataURL', () => 7);
                   set(proto, 'convertToBlob', never); set(proto, 'toBlob', () => {}) }",
            ),
            (
                "no canvas",
                "for (const name of ['HTMLCanvasElement', 'OffscreenCanvas', 'CanvasRenderingContext2D'])
                   set(globalThis, name, undefined);
                 const create = Document.prototype.createElement;
                 set(document, 'createElement', function (name, ...rest) {
                   if (String(name).toLowerCase() === 'canvas') return create.call(document, 'div');
                   return create.call(document, name, ...rest) });",
            ),
        ],
    ),
    block(
        "webgl",
        "blocked WebGL",
        &[
            (
                "WebGL that throws",
                "for (const proto of protos('WebGLRenderingContext', 'WebGL2RenderingContext'))
                   for (const name of ['getParameter', 'getExtension', 'getSupportedExtensions']) set(proto, name, fail);",
            ),
            (
                "WebGL that returns nonsense",
                "for (const proto of protos('WebGLRenderingContext', 'WebGL2RenderingContext'))
                   for (const name of ['getParameter', 'getExtension', 'getSupportedExtensions'])
                     set(proto, name, () => undefined);",
            ),
            (
                "no WebGL",
                "for (const proto of protos('HTMLCanvasElement', 'OffscreenCanvas')) {
                   const right = proto.getContext;
                   set(proto, 'getContext', function (kind, ...rest) {
                     return /webgl|webgpu/i.test(kind) ? null : right.call(this, kind, ...rest) }) }
                 set(globalThis, 'WebGLRenderingContext', undefined);
                 set(globalThis, 'WebGL2RenderingContext', undefined);
                 set(navigator, 'gpu', undefined);",
            ),
        ],
    ),
    block(
        "storage",
        "blocked storage",
        &[
            (
                "storage that throws",
                "for (const name of ['localStorage', 'sessionStorage', 'indexedDB', 'caches']) get(globalThis, name, fail);
                 get(Document.prototype, 'cookie', fail); get(document, 'cookie', fail);
                 get(Navigator.prototype, 'storage', fail);",
            ),
            (
                "no storage",
                "for (const name of ['localStorage', 'sessionStorage', 'indexedDB', 'caches']) set(globalThis, name, undefined);
                 get(Navigator.prototype, 'storage', () => undefined);",
            ),
            (
                "a storage quota that is rejected",
                "get(Navigator.prototype, 'storage', () => ({ estimate: reject, persisted: reject }));",
            ),
            (
                "a storage quota that never settles",
                "get(Navigator.prototype, 'storage', () => ({ estimate: never, persisted: never }));",
            ),
            (
                "a storage quota that is nonsense",
                "get(Navigator.prototype, 'storage', () => ({ estimate: () => Promise.resolve(null), persisted: () => 7 }));",
            ),
        ],
    ),
    block(
        "permissions",
        "blocked permissions",
        &[
            ("permissions that throw", "get(Navigator.prototype, 'permissions', fail);"),
            ("no permissions", "get(Navigator.prototype, 'permissions', () => undefined);"),
            (
                "a permission query that throws",
                "get(Navigator.prototype, 'permissions', () => ({ query: fail }));",
            ),
            (
                "a permission query that is rejected",
                "get(Navigator.prototype, 'permissions', () => ({ query: reject }));",
            ),
            (
                "a permission query that never settles",
                "get(Navigator.prototype, 'permissions', () => ({ query: never }));",
            ),
            (
                "a permission query that returns nonsense",
                "get(Navigator.prototype, 'permissions', () => ({ query: () => null }));",
            ),
        ],
    ),
    Block {
        id: "websocket",
        title: "a blocked WebSocket",
        is_websocket: true,
        ways: &[
            ("a WebSocket that throws", "set(globalThis, 'WebSocket', class { constructor() { fail() } });"),
            ("no WebSocket", "set(globalThis, 'WebSocket', undefined); delete globalThis.WebSocket;"),
            (
                "a WebSocket without events",
                "set(globalThis, 'WebSocket', class extends EventTarget {
                   constructor(url) { super(); this.url = url; this.readyState = 0 } send() { fail() } close() {} });",
            ),
            ("a WebSocket that is not a function", "set(globalThis, 'WebSocket', {});"),
        ],
    },
    block(
        "audio",
        "blocked audio",
        &[
            (
                "audio that throws",
                "for (const name of ['AudioContext', 'OfflineAudioContext', 'webkitAudioContext', 'webkitOfflineAudioContext'])
                   set(globalThis, name, class { constructor() { fail() } });",
            ),
            (
                "no audio",
                "for (const name of ['AudioContext', 'OfflineAudioContext', 'webkitAudioContext', 'webkitOfflineAudioContext'])
                   set(globalThis, name, undefined);",
            ),
            (
                "audio that returns nonsense",
                "set(globalThis, 'OfflineAudioContext', class { constructor() { return {} } });
                 set(globalThis, 'AudioContext', class { constructor() { return {} } });",
            ),
        ],
    ),
    block(
        "audio-rendering",
        "audio that is never rendered",
        &[
            (
                "audio that never settles",
                "for (const proto of protos('OfflineAudioContext', 'BaseAudioContext')) set(proto, 'startRendering', never);",
            ),
            (
                "audio that is rejected",
                "for (const proto of protos('OfflineAudioContext', 'BaseAudioContext')) set(proto, 'startRendering', reject);",
            ),
        ],
    ),
    block(
        "fonts",
        "blocked fonts",
        &[
            ("fonts that throw", "get(Document.prototype, 'fonts', fail); get(document, 'fonts', fail);"),
            ("no fonts", "get(document, 'fonts', () => undefined);"),
            (
                "fonts that never load",
                "get(document, 'fonts', () => ({ check: fail, load: never, ready: never(), values: () => [] }));",
            ),
            (
                "fonts that are nonsense",
                "get(document, 'fonts', () => ({ check: () => 7, load: () => null, ready: null }));",
            ),
        ],
    ),
    block(
        "screen",
        "a blocked screen",
        &[
            (
                "a screen that throws",
                "get(globalThis, 'screen', fail);
                 for (const name of ['innerWidth', 'innerHeight', 'outerWidth', 'outerHeight', 'devicePixelRatio', 'visualViewport'])
                   get(globalThis, name, fail);
                 set(globalThis, 'matchMedia', fail);",
            ),
            (
                "no screen",
                "for (const name of ['screen', 'innerWidth', 'innerHeight', 'outerWidth', 'outerHeight', 'visualViewport', 'matchMedia'])
                   get(globalThis, name, () => undefined);",
            ),
            (
                "a screen that is nonsense",
                "get(globalThis, 'screen', () => ({ width: NaN, height: 'tall', colorDepth: {} }));
                 get(globalThis, 'innerWidth', () => Infinity); set(globalThis, 'matchMedia', () => null);",
            ),
        ],
    ),
    block(
        "intl",
        "blocked Intl",
        &[
            ("Intl that throws", "get(globalThis, 'Intl', fail);"),
            ("no Intl", "get(globalThis, 'Intl', () => undefined);"),
            (
                "Intl that is nonsense",
                "get(globalThis, 'Intl', () => ({ DateTimeFormat: () => ({ resolvedOptions: () => null }) }));",
            ),
        ],
    ),
    block(
        "navigator",
        "a blocked navigator",
        &[
            (
                "a navigator that throws",
                "for (const name of ['userAgent', 'userAgentData', 'language', 'languages', 'hardwareConcurrency', 'deviceMemory',
                   'maxTouchPoints', 'platform', 'plugins', 'webdriver', 'connection', 'mediaDevices'])
                   get(Navigator.prototype, name, fail);",
            ),
            (
                "a navigator without values",
                "for (const name of ['userAgent', 'userAgentData', 'language', 'languages', 'hardwareConcurrency', 'deviceMemory',
                   'maxTouchPoints', 'platform', 'plugins', 'webdriver', 'connection', 'mediaDevices'])
                   get(Navigator.prototype, name, () => undefined);",
            ),
            (
                "a navigator that is nonsense",
                "const cyclic = {}; cyclic.self = cyclic;
                 for (const name of ['userAgent', 'languages', 'hardwareConcurrency', 'maxTouchPoints'])
                   get(Navigator.prototype, name, () => cyclic);",
            ),
        ],
    ),
    block(
        "clock",
        "a blocked clock",
        &[
            (
                "a performance clock that throws",
                "set(performance, 'now', fail); get(performance, 'timeOrigin', fail);
                 for (const name of ['mark', 'measure', 'getEntries', 'getEntriesByType', 'getEntriesByName'])
                   set(performance, name, fail);",
            ),
            ("no performance clock", "get(globalThis, 'performance', () => undefined);"),
            (
                "a performance clock that stands still",
                "get(globalThis, 'performance', () => ({ now: () => 0, timeOrigin: 0, getEntriesByType: () => [] }));",
            ),
            (
                "a performance clock that is nonsense",
                "get(globalThis, 'performance', () => ({ now: () => NaN, timeOrigin: 'never' }));",
            ),
        ],
    ),
    block(
        "date",
        "a blocked date",
        &[
            (
                "a date that throws",
                "set(Date, 'now', fail); for (const name of ['getTime', 'valueOf', 'getTimezoneOffset', 'toISOString'])
                   set(Date.prototype, name, fail);",
            ),
            (
                "a date that is nonsense",
                "set(Date, 'now', () => NaN); set(Date.prototype, 'getTime', () => NaN);
                 set(Date.prototype, 'getTimezoneOffset', () => 'west');",
            ),
        ],
    ),
];
