//! Collectors of third parties: mistakes are found, and correct choices pass.

use edgeproof_reports::Outcome;
use rstest::rstest;

use crate::support::check;
use crate::wrapped::Run;

/// Wraps the library. `{change}` replaces steps of it.
fn wrapper(change: &str) -> String {
    format!(
        "import * as library from './library.js';\nconst right = globalThis.fetch.bind(globalThis);\n\
         let make = library.create;\n{change}\nexport const create = (options) => make(options);\n"
    )
}

#[rstest]
#[case::unsealed(
    "make = (options) => library.create({ ...options, compatibility: 'pre-seal' });",
    &["sealed.unreadable", "sealed.opens"]
)]
#[case::twice(
    "globalThis.fetch = (url, init) => { if (init?.method === 'POST') right(url, init).catch(() => {}); return right(url, init) };",
    &["post.once.accepted"]
)]
#[case::two_collections(
    "make = (options) => { const [one, two] = [library.create(options), library.create(options)]; return { \
     start: (ref) => { one.start(ref); two.start(ref) }, ready: () => one.ready(), \
     verify: async () => { await one.verify(); await two.verify() } } };",
    &["post.once.accepted"]
)]
#[case::one_key(
    "const key = crypto.subtle.generateKey.bind(crypto.subtle); let first; crypto.subtle.generateKey = (kind, ...rest) => \
     kind.name === 'X25519' ? (first ??= key(kind, ...rest)) : key(kind, ...rest);",
    &["sealed.afresh"]
)]
#[case::frame_awaited(
    "make = (options) => { const one = library.create(options); return { ...one, \
     ready: async () => { await new Promise((end) => requestAnimationFrame(end)); await one.ready() } } };",
    &["wild.hidden"]
)]
#[case::eval_used(
    "make = (options) => { new Function('return 1')(); return library.create(options) };",
    &["wild.policy"]
)]
#[case::other_text(
    "make = (options) => { const one = library.create(options); return { ...one, verify: () => one.verify().catch((error) => \
     { throw new Error(error.message.replace('signal report failed', 'report failed')) }) } };",
    &["answer.refused.403"]
)]
#[case::other_maker(
    "make = (options) => { try { return library.create(options) } catch (error) { throw new Error(error.message.replace('service', 'acme')) } };",
    &["mode.unknown.other"]
)]
fn mistake_is_found(#[case] change: &str, #[case] failing: &[&str]) {
    let run = Run::of(&wrapper(change), failing, &[]);
    assert_eq!(run.exit(), 1, "{}", run.text());
    assert_eq!(run.ended(Outcome::Fail), failing, "{}", run.text());
}

/// What stops every session, or every collection, is one finding.
#[rstest]
#[case::header(
    "globalThis.fetch = (url, init) => right(url, { ...init, headers: { ...init?.headers, 'X-Session': '1' } });",
    "HeaderDisallowedByPreflightResponse: x-session"
)]
#[case::method(
    "globalThis.fetch = (url, init) => right(url, { ...init, method: 'PUT' });",
    "MethodDisallowedByPreflightResponse: PUT"
)]
#[case::seal(
    "globalThis.fetch = (url, init) => right(url, { ...init, body: init.body.replace(/[A-Za-z0-9_-]{40}/, 'A'.repeat(40)) });",
    "The service cannot open the seal  2 cases"
)]
fn finding_names_who_refused_the_collection(#[case] change: &str, #[case] reason: &str) {
    let run = Run::of(&wrapper(change), &["mode.full", "sealed.opens", "sealed.verdict"], &[]);
    assert_eq!(run.exit(), 1, "{}", run.text());
    assert!(run.text().contains(reason), "{}", run.text());
    let one = run.text().contains("no session reaches a correct edge  3 cases");
    assert_eq!(one, reason.contains("Disallowed"), "{}", run.text());
}

#[test]
fn failure_names_expected_and_actual_error() {
    let change = "make = (options) => { const one = library.create(options); return { ...one, verify: () => \
                  one.verify().catch((error) => { throw new Error('HTTP ' + error.message.slice(-3)) }) } };";
    let run = Run::of(&wrapper(change), &["answer.refused.409"], &[]);
    check("collector_other_text", &run.text());
}

#[test]
fn maker_of_the_module_is_named_in_its_errors() {
    let change = "make = (options) => { try { return library.create(options) } catch (error) { throw new Error(error.message.replace('service', 'acme')) } };";
    let run =
        Run::of(&wrapper(change), &["mode.unknown.*", "api-url.i*", "page.insecure"], &["--name", "acme"]);
    assert_eq!(run.exit(), 0, "{}", run.because());
}

/// A collector that seals in a format of its own is judged without opening its collections.
#[test]
fn collections_that_nobody_can_open_are_not_opened() {
    let change = "globalThis.fetch = (url, init) => { if (init?.method !== 'POST') return right(url, init); \
                  const noise = crypto.getRandomValues(new Uint8Array(300)); \
                  return right(url, { ...init, body: JSON.stringify({ v: 9, c: btoa(String.fromCharCode(...noise)) }) }) };";
    let run = Run::of(
        &wrapper(change),
        &["post.*", "sealed.*", "mode.*", "abort.*", "several.*", "answer.refused.403"],
        &[],
    );
    assert_eq!(run.exit(), 0, "{}", run.because());
    let skipped = run.ended(Outcome::NotApplicable);
    assert!(skipped.contains(&"sealed.opens") && skipped.contains(&"sealed.verdict"), "{skipped:?}");
    assert!(run.ended(Outcome::Pass).contains(&"sealed.unreadable"));
}

/// The interface does not say that a page can have several collectors.
#[test]
fn collector_that_exists_once_a_page_passes() {
    let change = "let only; make = (options) => only ??= library.create(options);";
    let run = Run::of(
        &wrapper(change),
        &["answer.refused.403", "post.once.*", "mode.*", "api-url.https", "blocked.intl", "several.*"],
        &[],
    );
    assert_eq!(run.exit(), 0, "{}", run.because());
}

/// A collector may post and measure in other ways, and may take its time.
#[rstest]
#[case::blob(
    "globalThis.fetch = (url, init) => init?.method !== 'POST' ? right(url, init) : \
     right(url, { ...init, keepalive: true, body: new Blob([init.body], { type: 'application/json' }) });"
)]
#[case::request("globalThis.fetch = (url, init) => right(new Request(url, init));")]
#[case::frame(
    "make = (options) => { const one = library.create(options); const frame = document.createElement('iframe'); return { ...one, \
     start: (ref) => { document.documentElement.append(frame); frame.contentWindow?.navigator.userAgent; one.start(ref) }, \
     ready: async () => { await one.ready(); frame.remove() }, abort: () => { frame.remove(); one.abort() } } };"
)]
#[case::worker(
    "make = (options) => { const one = library.create(options); const measured = () => new Promise((end) => { \
     setTimeout(end, 500); try { const worker = new Worker(URL.createObjectURL(new Blob(['postMessage(1)']))); \
     worker.onmessage = worker.onerror = () => { worker.terminate(); end() } } catch { end() } }); \
     return { ...one, ready: async () => { await measured(); await one.ready() } } };"
)]
#[case::slow(
    "make = (options) => { const one = library.create(options); return { ...one, \
     ready: async () => { await one.ready(); await new Promise((end) => setTimeout(end, 1500)) } } };"
)]
fn correct_choices_pass_on_any_page(#[case] change: &str) {
    let cases =
        ["wild.policy", "wild.xhtml", "wild.hidden", "wild.o*", "wild.wrappers", "several.at-once", "page.*"];
    let run = Run::of(&wrapper(change), &cases, &[]);
    assert_eq!(run.exit(), 0, "{}", run.because());
    assert!(run.ended(Outcome::Fail).is_empty(), "{}", run.because());
}

/// Errors may come late, and from promises.
#[rstest]
#[case::at_verify(
    "make = (options) => { let one, failed, ref; try { one = library.create(options) } catch (error) { failed = error } \
     return { start: (given) => one?.start(given), ready: async () => { if (one) await one.ready() }, \
     verify: async () => { if (failed) throw failed; await one.verify() } } };"
)]
#[case::asynchronous(
    "make = async (options) => { const one = library.create(options); return { start: async (ref) => one.start(ref), \
     ready: () => one.ready(), verify: () => one.verify() } };"
)]
fn error_may_come_from_any_call(#[case] change: &str) {
    let run = Run::of(
        &wrapper(change),
        &["mode.unknown.*", "api-url.invalid.*", "page.insecure", "mode.lite"],
        &[],
    );
    assert_eq!(run.exit(), 0, "{}", run.because());
}

#[test]
fn module_without_abort_does_not_fail() {
    let change = "make = (options) => { const { abort, ...one } = library.create(options); return one };";
    let run = Run::of(&wrapper(change), &["abort.*", "mode.lite"], &[]);
    assert_eq!(run.exit(), 0, "{}", run.because());
    assert_eq!(run.ended(Outcome::NotApplicable).len(), 5, "{}", run.because());
}

/// Relative imports work, and nothing outside of the folder is served.
#[test]
fn module_imports_its_neighbours_only() {
    let module =
        "import '../../../../../../../../../../etc/hostname';\nexport { create } from './library.js';";
    let run = Run::of(module, &["mode.lite"], &[]);
    assert_eq!(run.exit(), 3, "{}", run.text());
    let run = Run::of("export { create } from './library.js';", &["mode.lite"], &[]);
    assert_eq!(run.exit(), 0, "{}", run.text());
}
