use super::behaviour::{CollectorBehaviour, must};

/// Wrong reactions to a page that blocks something, and what a page may notice.
pub(super) const ALL: &[&[CollectorBehaviour]] = &[WEBSOCKET, BLOCKED, PAGE];

const SOCKET: &str = "statement.websocket-failure";

const WEBSOCKET: &[CollectorBehaviour] = &[
    must(
        "websocket-required",
        "fails if the WebSocket fails",
        SOCKET,
        "websocket-fatal",
        "mutant.ready = async (right, options) => { await right.ready(); await new Promise((end, fail) => { const socket = new WebSocket(edgeOf(options).replace('http', 'ws') + '/v1/measure'); socket.onopen = () => socket.send('1'); socket.onmessage = () => { end(); socket.close() }; socket.onerror = () => fail(new Error('websocket failed')); socket.onclose = () => fail(new Error('websocket closed')) }) };",
    ),
    must(
        "websocket-awaited",
        "waits for the echo without a limit",
        SOCKET,
        "websocket-fatal",
        "mutant.ready = async (right, options) => { await right.ready(); await new Promise((end) => { let socket; try { socket = new WebSocket(edgeOf(options).replace('http', 'ws') + '/v1/measure') } catch { return end() } if (!(socket instanceof EventTarget)) return end(); socket.onopen = () => socket.send('1'); socket.onmessage = socket.onerror = socket.onclose = () => end() }) };",
    ),
    must(
        "websocket-message-trusted",
        "throws on a message that it does not know",
        SOCKET,
        "websocket-fatal",
        "const right = WebSocket; globalThis.WebSocket = class extends right { constructor(url) { super(url); this.addEventListener('message', (event) => { if (event.data === 'unasked') throw new Error('unknown message') }) } };",
    ),
    must(
        "websocket-unguarded",
        "opens the WebSocket without a guard",
        SOCKET,
        "websocket-fatal",
        "mutant.start = (right, reference, options) => { new WebSocket(edgeOf(options).replace('http', 'ws') + '/v1/measure'); right.start(reference) };",
    ),
    must(
        "websocket-close-fails",
        "rejects if the WebSocket closes early",
        SOCKET,
        "websocket-fatal",
        "mutant.ready = async (right, options) => { await right.ready(); await new Promise((end, fail) => { let socket; try { socket = new WebSocket(edgeOf(options).replace('http', 'ws') + '/v1/measure') } catch { return end() } socket.onopen = () => setTimeout(() => { end(); socket.close?.() }, 150); socket.onerror = () => end(); socket.onclose = (event) => event.code === 1000 ? end() : fail(new Error('websocket closed')); setTimeout(end, 300) }) };",
    ),
];

const FAILURE: &str = "statement.measurement-failure";

const BLOCKED: &[CollectorBehaviour] = &[
    must(
        "canvas-required",
        "fails without a canvas",
        FAILURE,
        "measurement-fatal",
        "mutant.ready = async (right) => { document.createElement('canvas').getContext('2d').fillRect(0, 0, 1, 1); await right.ready() };",
    ),
    must(
        "webgl-required",
        "fails without WebGL",
        FAILURE,
        "measurement-fatal",
        "mutant.ready = async (right) => { document.createElement('canvas').getContext('webgl').getParameter(7936).toString(); await right.ready() };",
    ),
    must(
        "storage-required",
        "fails without storage",
        FAILURE,
        "measurement-fatal",
        "mutant.ready = async (right) => { localStorage.getItem('c'); await right.ready() };",
    ),
    must(
        "quota-awaited",
        "waits for the storage quota without a limit",
        FAILURE,
        "measurement-fatal",
        "mutant.ready = async (right) => { try { await navigator.storage.estimate() } catch {} await right.ready() };",
    ),
    must(
        "permissions-required",
        "fails without permissions",
        FAILURE,
        "measurement-fatal",
        "mutant.ready = async (right) => { (await navigator.permissions.query({ name: 'geolocation' })).state.toString(); await right.ready() };",
    ),
    must(
        "websocket-missing",
        "fails without WebSocket",
        FAILURE,
        "measurement-fatal",
        "mutant.ready = async (right) => { if (typeof WebSocket !== 'function') throw new ReferenceError('WebSocket is not defined'); await right.ready() };",
    ),
    must(
        "audio-required",
        "fails without audio",
        FAILURE,
        "measurement-fatal",
        "mutant.ready = async (right) => { new OfflineAudioContext(1, 100, 44100).createOscillator(); await right.ready() };",
    ),
    must(
        "audio-awaited",
        "waits for audio without a limit",
        FAILURE,
        "measurement-fatal",
        "mutant.ready = async (right) => { try { await new OfflineAudioContext(1, 100, 44100).startRendering() } catch {} await right.ready() };",
    ),
    must(
        "fonts-required",
        "fails without fonts",
        FAILURE,
        "measurement-fatal",
        "mutant.ready = async (right) => { document.fonts.check('12px serif'); await right.ready() };",
    ),
    must(
        "screen-required",
        "fails without a screen",
        FAILURE,
        "measurement-fatal",
        "mutant.ready = async (right) => { screen.width.toFixed(); await right.ready() };",
    ),
    must(
        "intl-required",
        "fails without Intl",
        FAILURE,
        "measurement-fatal",
        "mutant.ready = async (right) => { Intl.DateTimeFormat().resolvedOptions().timeZone.toString(); await right.ready() };",
    ),
    must(
        "navigator-required",
        "fails without the navigator's values",
        FAILURE,
        "measurement-fatal",
        "mutant.ready = async (right) => { navigator.userAgent.slice(0, 9); navigator.languages.join(); await right.ready() };",
    ),
    must(
        "clock-required",
        "fails without a clock",
        FAILURE,
        "measurement-fatal",
        "mutant.ready = async (right) => { performance.now().toFixed(); await right.ready() };",
    ),
    must(
        "date-required",
        "fails without dates",
        FAILURE,
        "measurement-fatal",
        "mutant.ready = async (right) => { new Date().getTime(); await right.ready() };",
    ),
    must(
        "failure-sends-nothing",
        "sends nothing if a measurement fails",
        FAILURE,
        "measurement-fatal",
        "mutant.verify = async (right) => { try { document.createElement('canvas').getContext('2d').fillRect(0, 0, 1, 1) } catch { return } await right.verify() };",
    ),
    must(
        "failure-uncaught",
        "leaves the failure of a measurement uncaught",
        FAILURE,
        "measurement-fatal",
        "mutant.ready = async (right) => { setTimeout(() => document.createElement('canvas').getContext('2d').fillRect(0, 0, 1, 1)); await right.ready() };",
    ),
    must(
        "failure-unhandled",
        "leaves a rejected measurement unhandled",
        FAILURE,
        "measurement-fatal",
        "mutant.ready = async (right) => { (async () => navigator.permissions.query({ name: 'geolocation' }))(); await right.ready() };",
    ),
    must(
        "invents-measurements",
        "sends values for measurements that failed",
        "statement.weaker-verdict",
        "measurement-fatal",
        "onContents((contents) => ({ ...contents, measurements: Object.fromEntries(Object.entries(contents.measurements).map(([name, value]) => [name, value ?? 'unknown'])) }));",
    ),
];

const REQUESTS: &str = "statement.collector-requests";
const UNOBTRUSIVE: &str = "statement.collector-unobtrusive";

const PAGE: &[CollectorBehaviour] = &[
    must(
        "calls-home",
        "calls another host",
        REQUESTS,
        "requests-unexplained",
        "mutant.start = (right, reference) => { rightFetch('https://telemetry.test/start', { mode: 'no-cors' }).catch(() => {}); right.start(reference) };",
    ),
    must(
        "loads-pixel",
        "loads an image from the edge",
        REQUESTS,
        "requests-unexplained",
        "mutant.start = (right, reference, options) => { new Image().src = edgeOf(options) + '/pixel.gif'; right.start(reference) };",
    ),
    must(
        "websocket-elsewhere",
        "opens a WebSocket to another host",
        REQUESTS,
        "requests-unexplained",
        "mutant.start = (right, reference) => { new WebSocket('wss://telemetry.test/'); right.start(reference) };",
    ),
    must(
        "beacon",
        "sends a beacon to the page's host",
        REQUESTS,
        "requests-unexplained",
        "mutant.verify = async (right) => { await right.verify(); navigator.sendBeacon('/beacon', 'done') };",
    ),
    must(
        "console-error",
        "writes an error to the console",
        UNOBTRUSIVE,
        "page-disturbed",
        "mutant.start = (right, reference) => { console.error('collector: debug'); right.start(reference) };",
    ),
    must(
        "unhandled-rejection",
        "leaves a rejected promise unhandled",
        UNOBTRUSIVE,
        "page-disturbed",
        "mutant.start = (right, reference) => { Promise.reject(new Error('late')); right.start(reference) };",
    ),
    must(
        "alert",
        "opens a dialog",
        UNOBTRUSIVE,
        "page-disturbed",
        "mutant.start = (right, reference) => { alert('collecting'); right.start(reference) };",
    ),
    must(
        "changes-address",
        "changes the page's address",
        UNOBTRUSIVE,
        "page-disturbed",
        "mutant.start = (right, reference) => { history.replaceState(null, '', '#collected'); right.start(reference) };",
    ),
];
