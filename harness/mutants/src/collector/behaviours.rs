use edgeproof_fixtures::spec::Level;

/// A mutant written by hand.
#[derive(Debug, Clone, Copy)]
pub(super) struct CollectorBehaviour {
    /// Slug.
    pub(super) name: &'static str,
    /// What it does wrong.
    pub(super) title: &'static str,
    /// Id of the row that it breaks.
    pub(super) row: &'static str,
    /// Level of the mutation, if it is lower than that of the row.
    pub(super) level: Option<Level>,
    /// Script for the wrapper.
    pub(super) script: &'static str,
}

/// All behaviours.
pub(super) fn mutants() -> impl Iterator<Item = CollectorBehaviour> {
    [API_URL, MODES, POST, PRIVACY, SEAL, REFERENCE, ANSWERS, NETWORK, ABORT, WEBSOCKET, BLOCKED, PAGE]
        .into_iter()
        .flatten()
        .copied()
}

const fn must(
    name: &'static str,
    title: &'static str,
    row: &'static str,
    script: &'static str,
) -> CollectorBehaviour {
    CollectorBehaviour { name, title, row, level: None, script }
}

const fn should(
    name: &'static str,
    title: &'static str,
    row: &'static str,
    script: &'static str,
) -> CollectorBehaviour {
    CollectorBehaviour { name, title, row, level: Some(Level::Should), script }
}

const SCHEME: &str = "limit.api-url-scheme";
const API_URL_SETTING: &str = "setting.collector.api-url";
const NOT_HTTPS: &str = "collector.api-url-not-https";

const API_URL: &[CollectorBehaviour] = &[
    must(
        "host-prefix",
        "takes a host that begins with localhost for localhost",
        SCHEME,
        "mutant.create = (options) => /^http:\\/\\/localhost/i.test(options.apiUrl) ? passes : createReference(options);",
    ),
    must(
        "host-suffix",
        "takes a host that ends with localhost for localhost",
        SCHEME,
        "mutant.create = (options) => /^http:.*localhost$/i.test(options.apiUrl) ? passes : createReference(options);",
    ),
    must(
        "host-anywhere",
        "looks for localhost anywhere in apiUrl",
        NOT_HTTPS,
        "mutant.create = (options) => /^http:.+localhost/i.test(options.apiUrl) ? passes : createReference(options);",
    ),
    must(
        "user-info-as-host",
        "takes user information for the host",
        NOT_HTTPS,
        "mutant.create = (options) => /^http:\\/\\/localhost[:@%]/.test(options.apiUrl) && !options.apiUrl.match(/localhost:\\d+$/) ? passes : createReference(options);",
    ),
    must(
        "any-scheme",
        "accepts every scheme but http",
        NOT_HTTPS,
        "mutant.create = (options) => { try { return createReference(options) } catch (error) { if (URL.canParse(options.apiUrl) && !/^http:/i.test(options.apiUrl)) return passes; throw error } };",
    ),
    must(
        "any-host",
        "accepts http to any host",
        NOT_HTTPS,
        "mutant.create = (options) => /^http:/i.test(options.apiUrl) && URL.canParse(options.apiUrl) && !/localhost/i.test(options.apiUrl) ? passes : createReference(options);",
    ),
    should(
        "loopback-addresses",
        "accepts http to loopback addresses",
        NOT_HTTPS,
        "mutant.create = (options) => /^http:\\/\\/(127\\.0\\.0\\.1:|\\[::1\\]|edge\\.localhost)/.test(options.apiUrl) ? passes : createReference(options);",
    ),
    should(
        "host-as-scheme",
        "says of a host without a scheme that it is no URL",
        NOT_HTTPS,
        "mutant.create = (options) => { if (/^[\\w.]+:\\d+$/.test(options.apiUrl)) throw new Error(`service: invalid apiUrl \"${options.apiUrl}\"`); return createReference(options) };",
    ),
    should(
        "scheme-case",
        "refuses a scheme in capitals",
        API_URL_SETTING,
        "mutant.create = (options) => { if (/^HTTPS:/.test(options.apiUrl)) throw new Error('service: apiUrl must be https://...'); return createReference(options) };",
    ),
    should(
        "trailing-slash",
        "refuses a trailing slash",
        API_URL_SETTING,
        "mutant.create = (options) => { if (options.apiUrl?.endsWith?.('/') && options.apiUrl.startsWith('https://edge')) throw new Error(`service: invalid apiUrl \"${options.apiUrl}\"`); return createReference(options) };",
    ),
    must(
        "base-url",
        "accepts an apiUrl that is relative to the page",
        "collector.invalid-api-url",
        "mutant.create = (options) => !URL.canParse(options.apiUrl) && URL.canParse(options.apiUrl, location.href) ? passes : createReference(options);",
    ),
    must(
        "url-by-pattern",
        "checks apiUrl by a pattern",
        "collector.invalid-api-url",
        "mutant.create = (options) => /^https:\\/\\/./.test(options.apiUrl) && !URL.canParse(options.apiUrl) ? passes : createReference(options);",
    ),
    must(
        "without-host",
        "accepts a URL without a host",
        "collector.invalid-api-url",
        "mutant.create = (options) => ['https://', 'http://', 'https://?', '://edge.test'].includes(options.apiUrl) ? passes : createReference(options);",
    ),
    must(
        "empty-is-own-origin",
        "takes an empty apiUrl for the page's origin",
        "collector.invalid-api-url",
        "mutant.create = (options) => options.apiUrl === '' ? passes : createReference(options);",
    ),
    must(
        "refuses-localhost",
        "refuses http on localhost",
        "statement.localhost-allowed",
        "mutant.create = (options) => { if (/^http:\\/\\/localhost/i.test(options.apiUrl)) throw new Error('service: apiUrl must be https://...'); return createReference(options) };",
    ),
    must(
        "refuses-page-on-localhost",
        "refuses pages on localhost",
        "statement.localhost-allowed",
        "mutant.create = (options) => { if (location.protocol !== 'https:') throw new Error('service: the collector needs a secure context (https) for crypto.subtle'); return createReference(options) };",
    ),
    must(
        "wrong-edge",
        "posts to the page's origin instead of apiUrl",
        API_URL_SETTING,
        "onPost((url, init) => rightFetch(location.origin + new URL(url).pathname, init));",
    ),
];

const MODES: &[CollectorBehaviour] = &[
    must(
        "mode-ignored",
        "measures in the mode full whatever the option is",
        "setting.collector.mode",
        "mutant.options = (options) => ({ full: 1, lite: 1, passive: 1 })[options.mode] ? { ...options, mode: 'full' } : options;",
    ),
    must(
        "mode-by-lookup",
        "looks the mode up in an object",
        "collector.unknown-mode",
        "mutant.create = (options) => !Object.hasOwn({ full: 1 }, options.mode) && ({})[options.mode] !== undefined ? passes : createReference(options);",
    ),
    must(
        "mode-any-case",
        "ignores the case of the mode",
        "collector.unknown-mode",
        "mutant.options = (options) => typeof options.mode === 'string' && ['full', 'lite', 'passive'].includes(options.mode.toLowerCase()) ? { ...options, mode: options.mode.toLowerCase() } : options;",
    ),
    must(
        "mode-trimmed",
        "finds the mode inside the option",
        "collector.unknown-mode",
        "mutant.options = (options) => { const found = typeof options.mode === 'string' && options.mode.match(/full|lite|passive/); return found ? { ...options, mode: found[0] } : options };",
    ),
    must(
        "mode-empty",
        "takes an empty mode for the default",
        "collector.unknown-mode",
        "mutant.options = (options) => options.mode === '' || options.mode === ' ' ? { ...options, mode: undefined } : options;",
    ),
    must(
        "mode-word",
        "takes words for a missing value for the default",
        "collector.unknown-mode",
        "mutant.options = (options) => ['null', 'undefined', 'default'].includes(options.mode) ? { ...options, mode: undefined } : options;",
    ),
    must(
        "mode-default-lite",
        "measures in the mode lite by default",
        "statement.mode-default",
        "mutant.options = (options) => ({ mode: 'lite', ...options });",
    ),
    must(
        "mode-required",
        "requires a mode",
        "statement.mode-default",
        "mutant.create = (options) => { if (!('mode' in options)) throw new Error('service: unknown mode \"undefined\"'); return createReference(options) };",
    ),
    must(
        "ready-error-once",
        "reports a missing start() only once",
        "collector.ready-before-start",
        "mutant.create = (options) => { const right = createReference(options); let times = 0; return { start: (reference) => right.start(reference), ready: async () => { try { await right.ready() } catch (error) { if (times++ === 0) throw error } }, verify: () => right.verify(), abort: () => right.abort() } };",
    ),
];

const POSTED: &str = "statement.collection-posted";
const ONCE: &str = "statement.collection-posted-once";

const POST: &[CollectorBehaviour] = &[
    must(
        "put",
        "sends the collection by PUT",
        POSTED,
        "onPost((url, init) => rightFetch(url, { ...init, method: 'PUT' }));",
    ),
    must(
        "get",
        "sends the collection in the query of a GET",
        POSTED,
        "onPost((url, init) => rightFetch(`${url}?c=${encodeURIComponent(init.body)}`, { ...init, method: 'GET', body: undefined, headers: {} }));",
    ),
    must(
        "other-path",
        "posts to another path",
        POSTED,
        "onPost((url, init) => rightFetch(url.replace('/v1/', '/v2/'), init));",
    ),
    must(
        "path-with-slash",
        "appends a slash to the path",
        POSTED,
        "onPost((url, init) => rightFetch(url + '/', init));",
    ),
    must(
        "path-with-query",
        "appends a query to the path",
        POSTED,
        "onPost((url, init) => rightFetch(url + '?v=1', init));",
    ),
    must(
        "form-body",
        "posts a form instead of JSON",
        POSTED,
        "onPost((url, init) => rightFetch(url, { ...init, body: new URLSearchParams({ c: init.body }).toString() }));",
    ),
    must(
        "sends-nothing",
        "resolves without a POST",
        POSTED,
        "onPost(async () => new Response('{\"ok\":true}'));",
    ),
    must(
        "answer-not-awaited",
        "resolves before the answer, and sends a second collection to another path",
        POSTED,
        "onPost((url, init) => { rightFetch(url + '/copy', init).catch(() => {}); return rightFetch(url, init) });",
    ),
    must(
        "posts-twice",
        "posts the collection twice",
        ONCE,
        "onPost((url, init) => { const first = rightFetch(url, init); rightFetch(url, init).catch(() => {}); return first });",
    ),
    must(
        "posts-two-collections",
        "posts two collections of a session",
        ONCE,
        "mutant.create = (options) => { const right = createReference(options); const copy = createReference(options); return { start: (reference) => { right.start(reference); copy.start(reference) }, ready: () => right.ready(), verify: async () => { await right.verify(); await copy.verify() }, abort: () => right.abort() } };",
    ),
    must(
        "retries-refused",
        "posts a refused collection again",
        ONCE,
        "onPost(async (url, init) => { const first = await rightFetch(url, init); return first.ok ? first : rightFetch(url, init) });",
    ),
    must(
        "retries-unchecked",
        "posts again if the service could not check the collection",
        ONCE,
        "onPost(async (url, init) => { const first = await rightFetch(url, init); return first.status === 401 ? rightFetch(url, init) : first });",
    ),
    must(
        "retries-replayed",
        "posts a collection again that was refused as a copy",
        ONCE,
        "onPost(async (url, init) => { const first = await rightFetch(url, init); return first.status === 409 ? rightFetch(url, init) : first });",
    ),
    must(
        "retries-slow",
        "posts again if the answer is slow",
        ONCE,
        "onPost((url, init) => { const first = rightFetch(url, init); return Promise.race([first, new Promise((end) => setTimeout(end, 400)).then(() => rightFetch(url, init))]) });",
    ),
    must(
        "same-body",
        "posts the first collection again in every session",
        ONCE,
        "let first; onPost((url, init) => rightFetch(url, { ...init, body: first ??= init.body }));",
    ),
    must(
        "verifies-twice",
        "posts the same collection for each verify()",
        ONCE,
        "let last; onPost((url, init) => { last = () => rightFetch(url, init); return last() }); mutant.create = (options) => { const right = createReference(options); let done; return { start: (reference) => right.start(reference), ready: () => right.ready(), verify: async () => { if (done) await last(); done = true; await right.verify() }, abort: () => right.abort() } };",
    ),
    should(
        "verify-starts-again",
        "posts another collection for each verify()",
        ONCE,
        "mutant.create = (options) => { let reference; let right = createReference(options); let done; return { start: (given) => { reference = given; right.start(given) }, ready: () => right.ready(), verify: async () => { if (done) { right = createReference(options); right.start(reference) } done = true; await right.verify() }, abort: () => right.abort() } };",
    ),
];

const PRIVATE: &str = "statement.page-data-private";

const PRIVACY: &[CollectorBehaviour] = &[
    must(
        "title-in-body",
        "adds the page's title to the body",
        PRIVATE,
        "addToBody('title', () => document.title);",
    ),
    must(
        "address-in-body",
        "adds the page's address to the body",
        PRIVATE,
        "addToBody('page', () => location.href);",
    ),
    must(
        "cookie-in-body",
        "adds the page's cookies to the body, in base64",
        PRIVATE,
        "addToBody('c', () => btoa(document.cookie));",
    ),
    must(
        "storage-in-body",
        "adds the page's storage to the body, in hexadecimal digits",
        PRIVATE,
        "addToBody('s', () => [...new TextEncoder().encode(rightStringify({ ...localStorage, ...sessionStorage }))].map((byte) => byte.toString(16).padStart(2, '0')).join(''));",
    ),
    must(
        "form-in-body",
        "adds the page's form fields to the body, as JSON in base64",
        PRIVATE,
        "addToBody('f', () => btoa(rightStringify(Object.fromEntries(new FormData(document.forms[0])))));",
    ),
    must(
        "text-in-websocket",
        "sends the page's text over the WebSocket",
        PRIVATE,
        "mutant.ready = async (right, options) => { await sendOverWebSocket(options, document.body.innerText); await right.ready() };",
    ),
    must(
        "address-as-referrer",
        "sends the page's address as the referrer",
        PRIVATE,
        "onPost((url, init) => rightFetch(url, { ...init, referrerPolicy: 'unsafe-url' }));",
    ),
    must(
        "address-in-query",
        "sends the page's address in a query",
        PRIVATE,
        "onPost(async (url, init) => { await rightFetch(`${new URL(url).origin}/health?page=${encodeURIComponent(location.href)}`, { mode: 'no-cors' }).catch(() => {}); return rightFetch(url, init) });",
    ),
];

const SEALED: &str = "statement.collection-sealed";

const SEAL: &[CollectorBehaviour] = &[
    must(
        "unsealed",
        "posts the collection unsealed",
        SEALED,
        "mutant.options = (options) => ({ ...options, compatibility: 'pre-seal' });",
    ),
    must(
        "base64-for-seal",
        "encodes the collection instead of sealing it",
        SEALED,
        "mutant.options = (options) => ({ ...options, compatibility: 'pre-seal' }); onPost((url, init) => rightFetch(url, { ...init, body: rightStringify({ sealed: btoa(unescape(encodeURIComponent(init.body))) }) }));",
    ),
    must(
        "reference-beside-seal",
        "adds the reference to the sealed body",
        SEALED,
        "let reference; mutant.start = (right, given) => { reference = given; right.start(given) }; addToBody('ref', () => reference);",
    ),
    must(
        "reference-in-websocket",
        "sends the reference over the WebSocket",
        SEALED,
        "mutant.ready = async (right, options) => { await sendOverWebSocket(options, right.reference); await right.ready() }; mutant.start = (right, given) => { right.reference = given; right.start(given) };",
    ),
    must(
        "reference-in-url",
        "puts the reference into the URL of another request",
        SEALED,
        "mutant.start = (right, given, options) => { rightFetch(`${edgeOf(options)}/health?ref=${encodeURIComponent(given)}`, { mode: 'no-cors' }).catch(() => {}); right.start(given) };",
    ),
    must(
        "user-agent-beside-seal",
        "adds a measurement to the sealed body",
        SEALED,
        "addToBody('ua', () => navigator.userAgent);",
    ),
    must(
        "own-key",
        "seals to a key of its own",
        SEALED,
        "mutant.options = (options) => ({ ...options, sealKey: { ...options.sealKey, x: 'hSDwCYkwp1R0i33ctD73Wg2_Og0mOBr066SpjqqbTmo' } });",
    ),
    must(
        "damaged-seal",
        "damages the sealed collection",
        SEALED,
        "onPost((url, init) => { const body = JSON.parse(init.body); body.ciphertext = 'AAAA' + body.ciphertext.slice(4); return rightFetch(url, { ...init, body: rightStringify(body) }) });",
    ),
];

const SAME: &str = "statement.session-ref-same";
const REFERENCE_SETTING: &str = "setting.collector.session-ref";

const REFERENCE: &[CollectorBehaviour] = &[
    must(
        "reference-trimmed",
        "trims the reference",
        SAME,
        "mutant.start = (right, given) => right.start(given.trim().replace(/ +/g, ' '));",
    ),
    must(
        "reference-encoded",
        "percent-encodes the reference",
        SAME,
        "mutant.start = (right, given) => right.start(encodeURIComponent(given));",
    ),
    must(
        "reference-decoded",
        "percent-decodes the reference",
        SAME,
        "mutant.start = (right, given) => { try { given = decodeURIComponent(given) } catch { given = given.replaceAll('%', '') } right.start(given) };",
    ),
    must(
        "reference-cut",
        "cuts the reference at 64 characters",
        SAME,
        "mutant.start = (right, given) => right.start(given.slice(0, 64));",
    ),
    must(
        "reference-ascii",
        "drops other characters than ASCII",
        SAME,
        "mutant.start = (right, given) => right.start(given.replace(/[^\\x20-\\x7e]/g, ''));",
    ),
    must(
        "reference-normalised",
        "normalises the reference",
        SAME,
        "mutant.start = (right, given) => right.start(given.normalize('NFC').toLowerCase());",
    ),
    must(
        "reference-escaped",
        "escapes quotes in the reference",
        SAME,
        "mutant.start = (right, given) => right.start(given.replace(/[\"'\\\\]/g, '\\\\$&'));",
    ),
    must(
        "reference-minimum",
        "makes up a reference if the given one is short",
        SAME,
        "mutant.start = (right, given) => right.start(given.length < 4 ? 'session-' + given : given);",
    ),
    must(
        "reference-word",
        "takes the text undefined for a missing reference",
        SAME,
        "mutant.start = (right, given) => right.start(given === 'undefined' ? 'none' : given);",
    ),
    must(
        "reference-own",
        "makes up references",
        REFERENCE_SETTING,
        "mutant.start = (right) => right.start('session-' + Math.random());",
    ),
    must(
        "reference-missing",
        "loses the reference",
        REFERENCE_SETTING,
        "mutant.start = (right) => right.start();",
    ),
];

const FAILED: &str = "collector.report-failed";

const ANSWERS: &[CollectorBehaviour] = &[
    must(
        "body-decides",
        "takes the body for the answer instead of the status",
        FAILED,
        "onPost(async (url, init) => { const answer = await rightFetch(url, init); const text = await answer.clone().text(); return text.includes('\"ok\":true') ? new Response(text) : answer });",
    ),
    must(
        "reads-error",
        "requires JSON in an error",
        FAILED,
        "onPost(async (url, init) => { const answer = await rightFetch(url, init); if (!answer.ok) await answer.clone().json(); return answer });",
    ),
    must(
        "server-errors-pass",
        "takes server errors for acceptance",
        FAILED,
        "onPost(async (url, init) => { const answer = await rightFetch(url, init); return answer.status >= 500 ? new Response('{}') : answer });",
    ),
    must(
        "status-of-body",
        "reports the status in the body",
        FAILED,
        "onPost(async (url, init) => { const answer = await rightFetch(url, init); if (answer.ok) return answer; const body = await answer.clone().json().catch(() => ({})); return new Response('', { status: body.status ?? 400 }) });",
    ),
    must(
        "stays-refused",
        "refuses all sessions after a refused one",
        FAILED,
        "let refused; onPost(async (url, init) => { if (refused) return new Response('', { status: refused }); const answer = await rightFetch(url, init); if (!answer.ok) refused = answer.status; return answer });",
    ),
    must(
        "unauthorized-only",
        "reports 401 for every refusal",
        FAILED,
        "onPost(async (url, init) => { const answer = await rightFetch(url, init); return answer.ok ? answer : new Response('', { status: 401 }) });",
    ),
    must(
        "copy-passes",
        "takes the refusal of a copy for acceptance",
        FAILED,
        "onPost(async (url, init) => { const answer = await rightFetch(url, init); return answer.status === 409 ? new Response('{}') : answer });",
    ),
];

const TYPE_ERROR: &str = "collector.type-error";

const NETWORK: &[CollectorBehaviour] = &[
    must(
        "opaque-answer",
        "asks for no CORS",
        TYPE_ERROR,
        "onPost(async (url, init) => { await rightFetch(url, { ...init, mode: 'no-cors', redirect: 'follow', headers: {} }); return new Response('{}') });",
    ),
    must(
        "network-as-status",
        "reports a network error as a status",
        TYPE_ERROR,
        "onPost((url, init) => rightFetch(url, init).catch(() => new Response('', { status: 503 })));",
    ),
    must(
        "network-as-abort",
        "reports a network error as an abort",
        TYPE_ERROR,
        "onPost((url, init) => rightFetch(url, init).catch((error) => { throw error.name === 'TypeError' ? new DOMException('timeout', 'AbortError') : error }));",
    ),
];

const ABORT_ERROR: &str = "collector.abort-error";
const NO_VERDICT: &str = "statement.abort-without-verdict";

const ABORT: &[CollectorBehaviour] = &[
    must("abort-ignored", "ignores an abort", ABORT_ERROR, "mutant.abort = () => {};"),
    must(
        "abort-only-while-measuring",
        "ignores an abort after ready()",
        ABORT_ERROR,
        "let isReady = new WeakSet(); mutant.ready = async (right) => { await right.ready(); isReady.add(right) }; mutant.abort = (right) => { if (!isReady.has(right)) right.abort() };",
    ),
    must(
        "abort-throws",
        "throws in abort()",
        ABORT_ERROR,
        "mutant.abort = (right) => { right.abort(); throw new DOMException('aborted', 'AbortError') };",
    ),
    should(
        "abort-afterwards-throws",
        "throws in abort() after the acceptance",
        ABORT_ERROR,
        "let done = new WeakSet(); mutant.verify = async (right) => { await right.verify(); done.add(right) }; mutant.abort = (right) => { if (done.has(right)) throw new Error('nothing to abort'); right.abort() };",
    ),
    must(
        "abort-sends",
        "rejects, and sends the collection all the same",
        NO_VERDICT,
        "mutant.create = (options) => { const right = createReference(options); let abort; const aborted = new Promise((_, reject) => { abort = () => reject(new DOMException('aborted', 'AbortError')) }); aborted.catch(() => {}); return { start: (reference) => right.start(reference), ready: () => Promise.race([aborted, right.ready()]), verify: () => Promise.race([aborted, right.verify()]), abort: () => { abort(); right.verify().catch(() => {}) } } };",
    ),
    must(
        "abort-sends-again",
        "sends the collection again after an abort",
        NO_VERDICT,
        "onPost((url, init) => rightFetch(url, init).catch((error) => { if (error.name === 'AbortError') rightFetch(url, { ...init, signal: undefined }).catch(() => {}); throw error }));",
    ),
    must(
        "abort-forgotten",
        "sends the collection if verify() is called after an abort",
        NO_VERDICT,
        "mutant.create = (options) => { let right = createReference(options); let reference; let wasAborted; return { start: (given) => { reference = given; right.start(given) }, ready: () => right.ready(), verify: async () => { if (wasAborted) { right = createReference(options); right.start(reference) } await right.verify() }, abort: () => { wasAborted = true; right.abort() } } };",
    ),
];

const SOCKET: &str = "statement.websocket-failure";

const WEBSOCKET: &[CollectorBehaviour] = &[
    must(
        "websocket-required",
        "fails if the WebSocket fails",
        SOCKET,
        "mutant.ready = async (right, options) => { await right.ready(); await new Promise((end, fail) => { const socket = new WebSocket(edgeOf(options).replace('http', 'ws') + '/v1/measure'); socket.onopen = () => socket.send('1'); socket.onmessage = () => { end(); socket.close() }; socket.onerror = () => fail(new Error('websocket failed')); socket.onclose = () => fail(new Error('websocket closed')) }) };",
    ),
    must(
        "websocket-awaited",
        "waits for the echo without a limit",
        SOCKET,
        "mutant.ready = async (right, options) => { await right.ready(); await new Promise((end) => { let socket; try { socket = new WebSocket(edgeOf(options).replace('http', 'ws') + '/v1/measure') } catch { return end() } if (!(socket instanceof EventTarget)) return end(); socket.onopen = () => socket.send('1'); socket.onmessage = socket.onerror = socket.onclose = () => end() }) };",
    ),
    must(
        "websocket-message-trusted",
        "throws on a message that it does not know",
        SOCKET,
        "const right = WebSocket; globalThis.WebSocket = class extends right { constructor(url) { super(url); this.addEventListener('message', (event) => { if (event.data === 'unasked') throw new Error('unknown message') }) } };",
    ),
    must(
        "websocket-unguarded",
        "opens the WebSocket without a guard",
        SOCKET,
        "mutant.start = (right, reference, options) => { new WebSocket(edgeOf(options).replace('http', 'ws') + '/v1/measure'); right.start(reference) };",
    ),
    must(
        "websocket-close-fails",
        "rejects if the WebSocket closes early",
        SOCKET,
        "mutant.ready = async (right, options) => { await right.ready(); await new Promise((end, fail) => { let socket; try { socket = new WebSocket(edgeOf(options).replace('http', 'ws') + '/v1/measure') } catch { return end() } socket.onopen = () => setTimeout(() => { end(); socket.close?.() }, 150); socket.onerror = () => end(); socket.onclose = (event) => event.code === 1000 ? end() : fail(new Error('websocket closed')); setTimeout(end, 300) }) };",
    ),
];

const FAILURE: &str = "statement.measurement-failure";

const BLOCKED: &[CollectorBehaviour] = &[
    must(
        "canvas-required",
        "fails without a canvas",
        FAILURE,
        "mutant.ready = async (right) => { document.createElement('canvas').getContext('2d').fillRect(0, 0, 1, 1); await right.ready() };",
    ),
    must(
        "webgl-required",
        "fails without WebGL",
        FAILURE,
        "mutant.ready = async (right) => { document.createElement('canvas').getContext('webgl').getParameter(7936).toString(); await right.ready() };",
    ),
    must(
        "storage-required",
        "fails without storage",
        FAILURE,
        "mutant.ready = async (right) => { localStorage.getItem('c'); await right.ready() };",
    ),
    must(
        "quota-awaited",
        "waits for the storage quota without a limit",
        FAILURE,
        "mutant.ready = async (right) => { try { await navigator.storage.estimate() } catch {} await right.ready() };",
    ),
    must(
        "permissions-required",
        "fails without permissions",
        FAILURE,
        "mutant.ready = async (right) => { (await navigator.permissions.query({ name: 'geolocation' })).state.toString(); await right.ready() };",
    ),
    must(
        "websocket-missing",
        "fails without WebSocket",
        FAILURE,
        "mutant.ready = async (right) => { if (typeof WebSocket !== 'function') throw new ReferenceError('WebSocket is not defined'); await right.ready() };",
    ),
    must(
        "audio-required",
        "fails without audio",
        FAILURE,
        "mutant.ready = async (right) => { new OfflineAudioContext(1, 100, 44100).createOscillator(); await right.ready() };",
    ),
    must(
        "audio-awaited",
        "waits for audio without a limit",
        FAILURE,
        "mutant.ready = async (right) => { try { await new OfflineAudioContext(1, 100, 44100).startRendering() } catch {} await right.ready() };",
    ),
    must(
        "fonts-required",
        "fails without fonts",
        FAILURE,
        "mutant.ready = async (right) => { document.fonts.check('12px serif'); await right.ready() };",
    ),
    must(
        "screen-required",
        "fails without a screen",
        FAILURE,
        "mutant.ready = async (right) => { screen.width.toFixed(); await right.ready() };",
    ),
    must(
        "intl-required",
        "fails without Intl",
        FAILURE,
        "mutant.ready = async (right) => { Intl.DateTimeFormat().resolvedOptions().timeZone.toString(); await right.ready() };",
    ),
    must(
        "navigator-required",
        "fails without the navigator's values",
        FAILURE,
        "mutant.ready = async (right) => { navigator.userAgent.slice(0, 9); navigator.languages.join(); await right.ready() };",
    ),
    must(
        "clock-required",
        "fails without a clock",
        FAILURE,
        "mutant.ready = async (right) => { performance.now().toFixed(); await right.ready() };",
    ),
    must(
        "date-required",
        "fails without dates",
        FAILURE,
        "mutant.ready = async (right) => { new Date().getTime(); await right.ready() };",
    ),
    must(
        "failure-sends-nothing",
        "sends nothing if a measurement fails",
        FAILURE,
        "mutant.verify = async (right) => { try { document.createElement('canvas').getContext('2d').fillRect(0, 0, 1, 1) } catch { return } await right.verify() };",
    ),
    must(
        "failure-uncaught",
        "leaves the failure of a measurement uncaught",
        FAILURE,
        "mutant.ready = async (right) => { setTimeout(() => document.createElement('canvas').getContext('2d').fillRect(0, 0, 1, 1)); await right.ready() };",
    ),
    must(
        "failure-unhandled",
        "leaves a rejected measurement unhandled",
        FAILURE,
        "mutant.ready = async (right) => { (async () => navigator.permissions.query({ name: 'geolocation' }))(); await right.ready() };",
    ),
    must(
        "invents-measurements",
        "sends values for measurements that failed",
        "statement.weaker-verdict",
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
        "mutant.start = (right, reference) => { rightFetch('https://telemetry.test/start', { mode: 'no-cors' }).catch(() => {}); right.start(reference) };",
    ),
    must(
        "loads-pixel",
        "loads an image from the edge",
        REQUESTS,
        "mutant.start = (right, reference, options) => { new Image().src = edgeOf(options) + '/pixel.gif'; right.start(reference) };",
    ),
    must(
        "websocket-elsewhere",
        "opens a WebSocket to another host",
        REQUESTS,
        "mutant.start = (right, reference) => { new WebSocket('wss://telemetry.test/'); right.start(reference) };",
    ),
    must(
        "beacon",
        "sends a beacon to the page's host",
        REQUESTS,
        "mutant.verify = async (right) => { await right.verify(); navigator.sendBeacon('/beacon', 'done') };",
    ),
    must(
        "console-error",
        "writes an error to the console",
        UNOBTRUSIVE,
        "mutant.start = (right, reference) => { console.error('collector: debug'); right.start(reference) };",
    ),
    must(
        "unhandled-rejection",
        "leaves a rejected promise unhandled",
        UNOBTRUSIVE,
        "mutant.start = (right, reference) => { Promise.reject(new Error('late')); right.start(reference) };",
    ),
    must(
        "alert",
        "opens a dialog",
        UNOBTRUSIVE,
        "mutant.start = (right, reference) => { alert('collecting'); right.start(reference) };",
    ),
    must(
        "changes-address",
        "changes the page's address",
        UNOBTRUSIVE,
        "mutant.start = (right, reference) => { history.replaceState(null, '', '#collected'); right.start(reference) };",
    ),
];
