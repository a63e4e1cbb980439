//! A fifth part, defined with public items only: it is listed, filtered, explained, run and reported as the others are.

mod echo;
mod runner;

use std::future::pending;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use edgeproof::cases::{AnyCase, Catalog};
use edgeproof::cli::explain_case;
use edgeproof::run::{ConformanceRun, RunOptions, Selection, SelectionError};
use edgeproof_fixtures::credentials::Redactor;
use edgeproof_fixtures::spec::Spec;
use edgeproof_http::ServerAddress;
use edgeproof_mock::ReplyShape;
use edgeproof_reports::{FileReport, Format, Outcome, Reader, Report, Titles};
use parking_lot::Mutex;
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, Request, ResponseTemplate};

use crate::together::block_on;
use echo::EchoTarget;
use runner::EchoRunner;

/// The rows of an echo.
const ROWS: &str = r#"
[[row]]
id = "statement.echoed"
section = "2"
condition = "The echo answers with what was said."

[[row]]
id = "statement.echo-in-turn"
section = "2"
condition = "The echo answers each request, not the one before it."
"#;

/// A mutant of the echo.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    None,
    /// It changes what was said, from this request on.
    ShoutsFrom(usize),
}

/// The built-in tables with those of the echo.
fn tables() -> Arc<Spec> {
    let folder = tempfile::tempdir().unwrap();
    let built_in = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/spec");
    for table in std::fs::read_dir(built_in).unwrap().map(Result::unwrap) {
        std::fs::copy(table.path(), folder.path().join(table.file_name())).unwrap();
    }
    let statements = folder.path().join("statements.toml");
    let text = std::fs::read_to_string(&statements).unwrap();
    std::fs::write(&statements, text + ROWS).unwrap();
    Arc::new(Spec::load(folder.path()).unwrap())
}

async fn start(fault: Fault) -> MockServer {
    let server = MockServer::start().await;
    let count = AtomicUsize::new(0);
    let answer = move |request: &Request| {
        let said = String::from_utf8_lossy(&request.body).into_owned();
        let number = count.fetch_add(1, Ordering::Relaxed);
        let said = match fault {
            Fault::ShoutsFrom(first) if number >= first => said.to_uppercase(),
            _ => said,
        };
        ResponseTemplate::new(200).set_body_raw(said, "application/json")
    };
    Mock::given(any()).respond_with(answer).mount(&server).await;
    server
}

/// Plans the cases of the echo at this server.
async fn plan(spec: &Arc<Spec>, server: &MockServer, selection: &Selection) -> ConformanceRun {
    plan_with(spec, server, selection, false).await.unwrap()
}

/// The same, maybe with a second echo.
async fn plan_with(
    spec: &Arc<Spec>,
    server: &MockServer,
    selection: &Selection,
    has_second: bool,
) -> Result<ConformanceRun, SelectionError> {
    let address = ServerAddress::resolve(&server.uri().parse().unwrap(), None).await.unwrap();
    let target = Arc::new(EchoTarget { spec: Arc::clone(spec), address, exchanges: Mutex::default() });
    let runner =
        EchoRunner { has_second, spec: Arc::clone(spec), redactor: Arc::new(Redactor::empty()), target };
    let shape = ReplyShape::from_profile(spec.profile());
    let cases = echo::cases(Catalog::new(spec, &shape, false));
    ConformanceRun::new(cases, selection, runner)
}

/// Runs all cases one after the other on an echo with a fault. Yields the result and the report.
async fn run(fault: Fault, has_second: bool) -> (Report, Report) {
    let (spec, server) = (tables(), start(fault).await);
    let planned = plan_with(&spec, &server, &Selection::default(), has_second).await.unwrap();
    let planned = ConformanceRun { options: RunOptions { jobs: 1, ..RunOptions::default() }, ..planned };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.json");
    let mut report = FileReport::new(Format::Json, &path, Titles::new()).unwrap();
    let result = planned.execute_with(&mut |event| report.read(&event), pending()).await.unwrap();
    report.finish().unwrap();
    (result, Report::load(&path).unwrap())
}

#[test]
fn cases_are_listed_with_their_needs() {
    let list = block_on(async {
        let server = start(Fault::None).await;
        plan(&tables(), &server, &Selection::default()).await.plan.to_string()
    });
    insta::assert_snapshot!(list);
}

#[test]
fn filter_selects_cases_and_a_wrong_one_names_the_part() {
    let (spec, filter) =
        (tables(), |glob: &str| Selection { filter: vec![glob.into()], ..Selection::default() });
    let selected = block_on(async {
        let server = start(Fault::None).await;
        plan(&spec, &server, &filter("monitor.*")).await
    });
    let ids: Vec<&str> = selected.plan.cases.iter().map(|planned| planned.case.id.as_str()).collect();
    assert_eq!(ids, ["monitor.echo"]);
    let refused = block_on(async {
        let server = start(Fault::None).await;
        plan_with(&spec, &server, &filter("echo.none"), false).await.err().map(|why| why.to_string())
    });
    insta::assert_snapshot!(refused.unwrap());
}

#[test]
fn case_is_explained_by_its_rows_and_its_exchange() {
    let spec = tables();
    let shape = ReplyShape::from_profile(spec.profile());
    let cases = echo::cases(Catalog::new(&spec, &shape, false));
    let texts: Vec<String> = cases.iter().map(|case| explain_case(&spec, case as &dyn AnyCase, "")).collect();
    insta::assert_snapshot!(texts.join("\n"));
}

#[test]
fn correct_echo_passes_and_is_reported() {
    let (result, report) = block_on(run(Fault::None, false));
    let outcomes: Vec<(&str, Outcome)> =
        report.cases.iter().map(|case| (case.id.as_str(), case.outcome)).collect();
    assert_eq!(
        outcomes,
        [
            ("echo.text", Outcome::Pass),
            ("echo.in-turn", Outcome::Pass),
            ("echo.second", Outcome::NotApplicable),
            ("monitor.echo", Outcome::Pass),
        ]
    );
    assert_eq!((result.exit_code, result.exchange_count), (0, 4));
    assert_eq!(report.cases[0].exchanges.len(), 1);
}

#[test]
fn second_echo_makes_its_case_apply() {
    let (_, report) = block_on(run(Fault::None, true));
    let second = report.cases.iter().find(|case| case.id == "echo.second").unwrap();
    assert_eq!((second.outcome, second.exchanges.len()), (Outcome::Pass, 2));
}

/// The mutant from its first request on, and late in the run.
#[test]
fn cases_and_monitor_kill_the_mutant() {
    for (fault, killers) in [
        (Fault::ShoutsFrom(0), &["echo.text", "echo.in-turn", "monitor.echo"][..]),
        (Fault::ShoutsFrom(3), &["echo.in-turn", "monitor.echo"]),
    ] {
        let (result, report) = block_on(run(fault, false));
        let failed = report.cases.iter().filter(|case| case.outcome == Outcome::Fail);
        assert_eq!(failed.map(|case| case.id.as_str()).collect::<Vec<_>>(), killers, "{fault:?}");
        assert_eq!(result.exit_code, 1);
    }
}
