//! Hostile modules: each run ends in bounded time and says what happened.

use std::time::{Duration, Instant};

use edgeproof_reports::Outcome;
use rstest::rstest;

use crate::wrapped::Run;

/// A few cases of several kinds.
const CASES: [&str; 5] =
    ["mode.lite", "mode.unknown.other", "answer.refused.403", "post.accepted", "monitor.collector.*"];
/// Longest run. The first calls time out after three and six seconds, later ones after one.
const LONGEST: Duration = Duration::from_secs(90);

fn run(module: &str) -> Run {
    run_with(module, "6s")
}

fn run_with(module: &str, timeout: &str) -> Run {
    let began = Instant::now();
    let run = Run::of(module, &CASES, &["--case-timeout", timeout]);
    assert!(began.elapsed() < LONGEST, "{:?}: {}", began.elapsed(), run.text());
    assert_eq!(run.report.summary.planned, run.report.cases.len());
    run
}

/// One finding, and no case runs.
#[rstest]
#[case::syntax_error("export const create = ;", "SyntaxError")]
#[case::throws_at_import("throw new Error('not today'); export const create = 1;", "not today")]
#[case::import_is_missing("export { create } from './nowhere.js';", "import()")]
#[case::without_create("export const make = () => ({});", "exports no function create")]
#[case::create_is_no_function("export const create = 7;", "exports no function create")]
#[case::import_never_ends("await new Promise(() => {}); export const create = () => ({});", "did not end")]
#[case::endless_loop_at_import("for (;;); export const create = () => ({});", "did not end")]
fn module_that_does_not_load_is_one_finding(#[case] module: &str, #[case] text: &str) {
    let run = run(module);
    assert_eq!(run.exit(), 3, "{}", run.text());
    assert_eq!(run.ended(Outcome::NotRun).len(), run.report.cases.len(), "{}", run.because());
    assert!(run.text().contains(text), "{}", run.text());
}

/// The cases fail with the reason.
#[rstest]
#[case::returns_nothing("export const create = () => {};", "does not exist")]
#[case::returns_functions_that_do_nothing(
    "export const create = () => ({ start() {}, ready() {}, verify() {} });",
    "collections at the edge: expected 1, got 0"
)]
#[case::never_settles(
    "export const create = () => ({ start() {}, ready: () => new Promise(() => {}), verify: () => new Promise(() => {}) });",
    "did not end within"
)]
#[case::create_never_settles("export const create = () => new Promise(() => {});", "did not end within")]
#[case::endless_loop(
    "export const create = () => ({ start() { for (;;); }, ready() {}, verify() {} });",
    "did not end within"
)]
#[case::throws_strings("export const create = () => { throw 'no'; };", "a string that is not an Error")]
#[case::throws_nothing("export const create = () => { throw undefined; };", "undefined")]
#[case::rejects_with_null(
    "export const create = () => ({ start() {}, ready: () => Promise.reject(null), verify: () => Promise.reject(null) });",
    "null"
)]
#[case::navigates(
    "export const create = () => { location.href = 'about:blank#gone'; return new Promise(() => {}) };",
    "navigated"
)]
#[case::reloads("export const create = () => { location.reload(); return new Promise(() => {}) };", "")]
#[case::closes("export const create = () => { window.close(); return new Promise(() => {}) };", "")]
fn module_that_misbehaves_fails_its_cases_with_the_reason(#[case] module: &str, #[case] text: &str) {
    let run = run(module);
    assert_eq!(run.exit(), 1, "{}", run.text());
    let failed = run.ended(Outcome::Fail);
    assert!(failed.contains(&"mode.lite") && failed.contains(&"post.accepted"), "{}", run.because());
    assert!(run.because().contains(text), "{}", run.because());
}

/// A correct collector that is a nuisance: only the monitor says so.
#[rstest]
#[case::dialogs("alert('a'); confirm('b'); prompt('c');", "alert")]
#[case::console_flood("for (let line = 0; line < 2000; line++) console.error('line', line);", "line")]
#[case::windows("window.open('about:blank');", "window ")]
#[case::uncaught("setTimeout(() => { throw new Error('late') });", "late")]
fn nuisance_is_a_warning(#[case] script: &str, #[case] text: &str) {
    let module = format!(
        "import {{ create as make }} from './library.js';\nexport const create = (options) => {{ {script} return make(options) }};"
    );
    let run = run_with(&module, "30s");
    assert_eq!(run.exit(), 0, "{}", run.because());
    assert_eq!(run.ended(Outcome::Warn), ["monitor.collector.unobtrusive"], "{}", run.because());
    assert!(run.because().contains(text), "{}", run.because());
}
