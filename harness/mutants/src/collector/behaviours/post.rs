use super::behaviour::{CollectorBehaviour, must, should};

/// A wrong post: what it carries, how often it is sent, how it is sealed.
pub(super) const ALL: &[&[CollectorBehaviour]] = &[POST, PRIVACY, SEAL, REFERENCE];

const POSTED: &str = "statement.collection-posted";
const ONCE: &str = "statement.collection-posted-once";

const POST: &[CollectorBehaviour] = &[
    must(
        "put",
        "sends the collection by PUT",
        POSTED,
        "post-wrong",
        "onPost((url, init) => rightFetch(url, { ...init, method: 'PUT' }));",
    ),
    must(
        "get",
        "sends the collection in the query of a GET",
        POSTED,
        "post-wrong",
        "onPost((url, init) => rightFetch(`${url}?c=${encodeURIComponent(init.body)}`, { ...init, method: 'GET', body: undefined, headers: {} }));",
    ),
    must(
        "other-path",
        "posts to another path",
        POSTED,
        "post-wrong",
        "onPost((url, init) => rightFetch(url.replace('/v1/', '/v2/'), init));",
    ),
    must(
        "path-with-slash",
        "appends a slash to the path",
        POSTED,
        "post-wrong",
        "onPost((url, init) => rightFetch(url + '/', init));",
    ),
    must(
        "path-with-query",
        "appends a query to the path",
        POSTED,
        "post-wrong",
        "onPost((url, init) => rightFetch(url + '?v=1', init));",
    ),
    must(
        "form-body",
        "posts a form instead of JSON",
        POSTED,
        "post-wrong",
        "onPost((url, init) => rightFetch(url, { ...init, body: new URLSearchParams({ c: init.body }).toString() }));",
    ),
    must(
        "sends-nothing",
        "resolves without a POST",
        POSTED,
        "post-wrong",
        "onPost(async () => new Response('{\"ok\":true}'));",
    ),
    must(
        "answer-not-awaited",
        "resolves before the answer, and sends a second collection to another path",
        POSTED,
        "collection-repeated",
        "onPost((url, init) => { rightFetch(url + '/copy', init).catch(() => {}); return rightFetch(url, init) });",
    ),
    must(
        "posts-twice",
        "posts the collection twice",
        ONCE,
        "collection-repeated",
        "onPost((url, init) => { const first = rightFetch(url, init); rightFetch(url, init).catch(() => {}); return first });",
    ),
    must(
        "posts-two-collections",
        "posts two collections of a session",
        ONCE,
        "collection-repeated",
        "mutant.create = (options) => { const right = createReference(options); const copy = createReference(options); return { start: (reference) => { right.start(reference); copy.start(reference) }, ready: () => right.ready(), verify: async () => { await right.verify(); await copy.verify() }, abort: () => right.abort() } };",
    ),
    must(
        "retries-refused",
        "posts a refused collection again",
        ONCE,
        "collection-repeated",
        "onPost(async (url, init) => { const first = await rightFetch(url, init); return first.ok ? first : rightFetch(url, init) });",
    ),
    must(
        "retries-unchecked",
        "posts again if the service could not check the collection",
        ONCE,
        "collection-repeated",
        "onPost(async (url, init) => { const first = await rightFetch(url, init); return first.status === 401 ? rightFetch(url, init) : first });",
    ),
    must(
        "retries-replayed",
        "posts a collection again that was refused as a copy",
        ONCE,
        "collection-repeated",
        "onPost(async (url, init) => { const first = await rightFetch(url, init); return first.status === 409 ? rightFetch(url, init) : first });",
    ),
    must(
        "retries-slow",
        "posts again if the answer is slow",
        ONCE,
        "collection-repeated",
        "onPost((url, init) => { const first = rightFetch(url, init); return Promise.race([first, new Promise((end) => setTimeout(end, 400)).then(() => rightFetch(url, init))]) });",
    ),
    must(
        "same-body",
        "posts the first collection again in every session",
        ONCE,
        "collection-repeated",
        "let first; onPost((url, init) => rightFetch(url, { ...init, body: first ??= init.body }));",
    ),
    must(
        "verifies-twice",
        "posts the same collection for each verify()",
        ONCE,
        "collection-repeated",
        "let last; onPost((url, init) => { last = () => rightFetch(url, init); return last() }); mutant.create = (options) => { const right = createReference(options); let done; return { start: (reference) => right.start(reference), ready: () => right.ready(), verify: async () => { if (done) await last(); done = true; await right.verify() }, abort: () => right.abort() } };",
    ),
    should(
        "verify-starts-again",
        "posts another collection for each verify()",
        ONCE,
        "collection-repeated",
        "mutant.create = (options) => { let reference; let right = createReference(options); let done; return { start: (given) => { reference = given; right.start(given) }, ready: () => right.ready(), verify: async () => { if (done) { right = createReference(options); right.start(reference) } done = true; await right.verify() }, abort: () => right.abort() } };",
    ),
];

const PRIVATE: &str = "statement.page-data-private";

const PRIVACY: &[CollectorBehaviour] = &[
    must(
        "title-in-body",
        "adds the page's title to the body",
        PRIVATE,
        "page-data-sent",
        "addToBody('title', () => document.title);",
    ),
    must(
        "address-in-body",
        "adds the page's address to the body",
        PRIVATE,
        "page-data-sent",
        "addToBody('page', () => location.href);",
    ),
    must(
        "cookie-in-body",
        "adds the page's cookies to the body, in base64",
        PRIVATE,
        "page-data-sent",
        "addToBody('c', () => btoa(document.cookie));",
    ),
    must(
        "storage-in-body",
        "adds the page's storage to the body, in hexadecimal digits",
        PRIVATE,
        "page-data-sent",
        "addToBody('s', () => [...new TextEncoder().encode(rightStringify({ ...localStorage, ...sessionStorage }))].map((byte) => byte.toString(16).padStart(2, '0')).join(''));",
    ),
    must(
        "form-in-body",
        "adds the page's form fields to the body, as JSON in base64",
        PRIVATE,
        "page-data-sent",
        "addToBody('f', () => btoa(rightStringify(Object.fromEntries(new FormData(document.forms[0])))));",
    ),
    must(
        "text-in-websocket",
        "sends the page's text over the WebSocket",
        PRIVATE,
        "page-data-sent",
        "mutant.ready = async (right, options) => { await sendOverWebSocket(options, document.body.innerText); await right.ready() };",
    ),
    must(
        "address-as-referrer",
        "sends the page's address as the referrer",
        PRIVATE,
        "page-data-sent",
        "onPost((url, init) => rightFetch(url, { ...init, referrerPolicy: 'unsafe-url' }));",
    ),
    must(
        "address-in-query",
        "sends the page's address in a query",
        PRIVATE,
        "page-data-sent",
        "onPost(async (url, init) => { await rightFetch(`${new URL(url).origin}/health?page=${encodeURIComponent(location.href)}`, { mode: 'no-cors' }).catch(() => {}); return rightFetch(url, init) });",
    ),
];

const SEALED: &str = "statement.collection-sealed";

const SEAL: &[CollectorBehaviour] = &[
    must(
        "unsealed",
        "posts the collection unsealed",
        SEALED,
        "collection-readable",
        "mutant.options = (options) => ({ ...options, compatibility: 'pre-seal' });",
    ),
    must(
        "base64-for-seal",
        "encodes the collection instead of sealing it",
        SEALED,
        "collection-readable",
        "mutant.options = (options) => ({ ...options, compatibility: 'pre-seal' }); onPost((url, init) => rightFetch(url, { ...init, body: rightStringify({ sealed: btoa(unescape(encodeURIComponent(init.body))) }) }));",
    ),
    must(
        "reference-beside-seal",
        "adds the reference to the sealed body",
        SEALED,
        "collection-readable",
        "let reference; mutant.start = (right, given) => { reference = given; right.start(given) }; addToBody('ref', () => reference);",
    ),
    must(
        "reference-in-websocket",
        "sends the reference over the WebSocket",
        SEALED,
        "collection-readable",
        "mutant.ready = async (right, options) => { await sendOverWebSocket(options, right.reference); await right.ready() }; mutant.start = (right, given) => { right.reference = given; right.start(given) };",
    ),
    must(
        "reference-in-url",
        "puts the reference into the URL of another request",
        SEALED,
        "collection-readable",
        "mutant.start = (right, given, options) => { rightFetch(`${edgeOf(options)}/health?ref=${encodeURIComponent(given)}`, { mode: 'no-cors' }).catch(() => {}); right.start(given) };",
    ),
    must(
        "user-agent-beside-seal",
        "adds a measurement to the sealed body",
        SEALED,
        "collection-readable",
        "addToBody('ua', () => navigator.userAgent);",
    ),
    must(
        "own-key",
        "seals to a key of its own",
        SEALED,
        "seal-wrong",
        "mutant.options = (options) => ({ ...options, sealKey: { ...options.sealKey, x: 'hSDwCYkwp1R0i33ctD73Wg2_Og0mOBr066SpjqqbTmo' } });",
    ),
    must(
        "damaged-seal",
        "damages the sealed collection",
        SEALED,
        "seal-wrong",
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
        "page-reference-changed",
        "mutant.start = (right, given) => right.start(given.trim().replace(/ +/g, ' '));",
    ),
    must(
        "reference-encoded",
        "percent-encodes the reference",
        SAME,
        "page-reference-changed",
        "mutant.start = (right, given) => right.start(encodeURIComponent(given));",
    ),
    must(
        "reference-decoded",
        "percent-decodes the reference",
        SAME,
        "page-reference-changed",
        "mutant.start = (right, given) => { try { given = decodeURIComponent(given) } catch { given = given.replaceAll('%', '') } right.start(given) };",
    ),
    must(
        "reference-cut",
        "cuts the reference at 64 characters",
        SAME,
        "page-reference-changed",
        "mutant.start = (right, given) => right.start(given.slice(0, 64));",
    ),
    must(
        "reference-ascii",
        "drops other characters than ASCII",
        SAME,
        "page-reference-changed",
        "mutant.start = (right, given) => right.start(given.replace(/[^\\x20-\\x7e]/g, ''));",
    ),
    must(
        "reference-normalised",
        "normalises the reference",
        SAME,
        "page-reference-changed",
        "mutant.start = (right, given) => right.start(given.normalize('NFC').toLowerCase());",
    ),
    must(
        "reference-escaped",
        "escapes quotes in the reference",
        SAME,
        "page-reference-changed",
        "mutant.start = (right, given) => right.start(given.replace(/[\"'\\\\]/g, '\\\\$&'));",
    ),
    must(
        "reference-minimum",
        "makes up a reference if the given one is short",
        SAME,
        "page-reference-changed",
        "mutant.start = (right, given) => right.start(given.length < 4 ? 'session-' + given : given);",
    ),
    must(
        "reference-word",
        "takes the text undefined for a missing reference",
        SAME,
        "page-reference-changed",
        "mutant.start = (right, given) => right.start(given === 'undefined' ? 'none' : given);",
    ),
    must(
        "reference-own",
        "makes up references",
        REFERENCE_SETTING,
        "page-reference-changed",
        "mutant.start = (right) => right.start('session-' + Math.random());",
    ),
    must(
        "reference-missing",
        "loses the reference",
        REFERENCE_SETTING,
        "page-reference-changed",
        "mutant.start = (right) => right.start();",
    ),
];
