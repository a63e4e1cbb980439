use super::behaviour::{CollectorBehaviour, must, should};

/// Wrong reactions to answers, to network failures and to an abort.
pub(super) const ALL: &[&[CollectorBehaviour]] = &[ANSWERS, NETWORK, ABORT];

const FAILED: &str = "collector.report-failed";

const ANSWERS: &[CollectorBehaviour] = &[
    must(
        "body-decides",
        "takes the body for the answer instead of the status",
        FAILED,
        "failure-swallowed",
        "onPost(async (url, init) => { const answer = await rightFetch(url, init); const text = await answer.clone().text(); return text.includes('\"ok\":true') ? new Response(text) : answer });",
    ),
    must(
        "reads-error",
        "requires JSON in an error",
        FAILED,
        "page-error-wrong",
        "onPost(async (url, init) => { const answer = await rightFetch(url, init); if (!answer.ok) await answer.clone().json(); return answer });",
    ),
    must(
        "server-errors-pass",
        "takes server errors for acceptance",
        FAILED,
        "failure-swallowed",
        "onPost(async (url, init) => { const answer = await rightFetch(url, init); return answer.status >= 500 ? new Response('{}') : answer });",
    ),
    must(
        "status-of-body",
        "reports the status in the body",
        FAILED,
        "page-error-wrong",
        "onPost(async (url, init) => { const answer = await rightFetch(url, init); if (answer.ok) return answer; const body = await answer.clone().json().catch(() => ({})); return new Response('', { status: body.status ?? 400 }) });",
    ),
    must(
        "stays-refused",
        "refuses all sessions after a refused one",
        FAILED,
        "page-error-wrong",
        "let refused; onPost(async (url, init) => { if (refused) return new Response('', { status: refused }); const answer = await rightFetch(url, init); if (!answer.ok) refused = answer.status; return answer });",
    ),
    must(
        "unauthorized-only",
        "reports 401 for every refusal",
        FAILED,
        "page-error-wrong",
        "onPost(async (url, init) => { const answer = await rightFetch(url, init); return answer.ok ? answer : new Response('', { status: 401 }) });",
    ),
    must(
        "copy-passes",
        "takes the refusal of a copy for acceptance",
        FAILED,
        "failure-swallowed",
        "onPost(async (url, init) => { const answer = await rightFetch(url, init); return answer.status === 409 ? new Response('{}') : answer });",
    ),
];

const TYPE_ERROR: &str = "collector.type-error";

const NETWORK: &[CollectorBehaviour] = &[
    must(
        "opaque-answer",
        "asks for no CORS",
        TYPE_ERROR,
        "failure-swallowed",
        "onPost(async (url, init) => { await rightFetch(url, { ...init, mode: 'no-cors', redirect: 'follow', headers: {} }); return new Response('{}') });",
    ),
    must(
        "network-as-status",
        "reports a network error as a status",
        TYPE_ERROR,
        "page-error-wrong",
        "onPost((url, init) => rightFetch(url, init).catch(() => new Response('', { status: 503 })));",
    ),
    must(
        "network-as-abort",
        "reports a network error as an abort",
        TYPE_ERROR,
        "page-error-wrong",
        "onPost((url, init) => rightFetch(url, init).catch((error) => { throw error.name === 'TypeError' ? new DOMException('timeout', 'AbortError') : error }));",
    ),
];

const ABORT_ERROR: &str = "collector.abort-error";
const NO_VERDICT: &str = "statement.abort-without-verdict";

const ABORT: &[CollectorBehaviour] = &[
    must("abort-ignored", "ignores an abort", ABORT_ERROR, "abort-mishandled", "mutant.abort = () => {};"),
    must(
        "abort-only-while-measuring",
        "ignores an abort after ready()",
        ABORT_ERROR,
        "abort-mishandled",
        "let isReady = new WeakSet(); mutant.ready = async (right) => { await right.ready(); isReady.add(right) }; mutant.abort = (right) => { if (!isReady.has(right)) right.abort() };",
    ),
    must(
        "abort-throws",
        "throws in abort()",
        ABORT_ERROR,
        "abort-mishandled",
        "mutant.abort = (right) => { right.abort(); throw new DOMException('aborted', 'AbortError') };",
    ),
    should(
        "abort-afterwards-throws",
        "throws in abort() after the acceptance",
        ABORT_ERROR,
        "abort-mishandled",
        "let done = new WeakSet(); mutant.verify = async (right) => { await right.verify(); done.add(right) }; mutant.abort = (right) => { if (done.has(right)) throw new Error('nothing to abort'); right.abort() };",
    ),
    must(
        "abort-sends",
        "rejects, and sends the collection all the same",
        NO_VERDICT,
        "abort-mishandled",
        "mutant.create = (options) => { const right = createReference(options); let abort; const aborted = new Promise((_, reject) => { abort = () => reject(new DOMException('aborted', 'AbortError')) }); aborted.catch(() => {}); return { start: (reference) => right.start(reference), ready: () => Promise.race([aborted, right.ready()]), verify: () => Promise.race([aborted, right.verify()]), abort: () => { abort(); right.verify().catch(() => {}) } } };",
    ),
    must(
        "abort-sends-again",
        "sends the collection again after an abort",
        NO_VERDICT,
        "abort-mishandled",
        "onPost((url, init) => rightFetch(url, init).catch((error) => { if (error.name === 'AbortError') rightFetch(url, { ...init, signal: undefined }).catch(() => {}); throw error }));",
    ),
    must(
        "abort-forgotten",
        "sends the collection if verify() is called after an abort",
        NO_VERDICT,
        "abort-mishandled",
        "mutant.create = (options) => { let right = createReference(options); let reference; let wasAborted; return { start: (given) => { reference = given; right.start(given) }, ready: () => right.ready(), verify: async () => { if (wasAborted) { right = createReference(options); right.start(reference) } await right.verify() }, abort: () => { wasAborted = true; right.abort() } } };",
    ),
];
