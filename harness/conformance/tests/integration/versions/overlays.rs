//! A folder of tables or an overlay is the interface of every command.

use edgeproof_fixtures::spec::{Row, Spec, Table};
use rstest::rstest;
use tempfile::TempDir;

use super::{edit, load, overlay, tables};
use crate::mock_program::edgeproof;

/// An overlay with one new reason.
pub(crate) const ADDED: &str = r#"
version = "next"

[[add]]
id = "relay.409.session-closed"
section = "7.3"
status = 409
code = "session_closed"
condition = "The session was closed before."
stimuli = ["scripted"]
"#;

/// The row is all that a new reason needs.
#[test]
fn added_reason_has_a_case_and_passes() {
    let folder = TempDir::new().unwrap();
    let path = overlay(&folder, ADDED);
    let path = path.to_str().unwrap();
    let output = edgeproof(&["conformance", "--spec", path, "--filter", "refusal.409.session-closed"]);
    let (code, shown) = run(output);
    assert_eq!(code, Some(0), "{shown}");
    let (code, shown) = run(edgeproof(&["spec", "show", "relay.409.session-closed", "--spec", path]));
    assert!(code == Some(0) && shown.contains("refusal.409.session-closed"), "{shown}");
}

#[rstest]
#[case::status(
    "relay.toml",
    "status = 401\ncode = \"missing_license\"",
    "status = 403\ncode = \"missing_license\"",
    "refusal.401.missing-license"
)]
#[case::code("relay.toml", "\"missing_license\"", "\"no_license\"", "refusal.401.missing-license")]
#[case::path("endpoints.toml", "\"/v1/signals\"", "\"/v2/signals\"", "relay.body.large-numbers")]
#[case::body("edge.toml", "'{\"ok\":true}'", "'{\"accepted\":true}'", "accept.*")]
fn edited_tables_are_the_interface(
    #[case] file: &str,
    #[case] old: &str,
    #[case] new: &str,
    #[case] case: &str,
) {
    let folder = tables();
    edit(folder.path(), file, old, new);
    let path = folder.path().to_str().unwrap();
    let (code, shown) = run(edgeproof(&["conformance", "--spec", path, "--filter", case]));
    assert_eq!(code, Some(0), "{shown}");
}

/// An answer of the edge gets a status, and verdicts age otherwise: the parts follow, and their cases judge it.
#[rstest]
#[case::refusal("edge", "refusal.*", "[[change]]\nid = \"edge.refused\"\nstatus = 422\n")]
#[case::preflight("edge", "cors.*", "[[change]]\nid = \"edge.preflight\"\nstatus = 200\n")]
#[case::longer_age("service", "verdict.*", "[[change]]\nid = \"limit.verdict-age\"\nvalue = 600\n")]
#[case::shorter_age("service", "verdict.*", "[[change]]\nid = \"limit.verdict-age\"\nvalue = 60\n")]
#[case::methods(
    "edge",
    "*",
    "[[change]]\nid = \"endpoint.edge.signals\"\nmethods = [\"POST\", \"PUT\", \"DELETE\", \"OPTIONS\"]\n"
)]
#[case::verdict_methods(
    "service",
    "verdict.*",
    "[[change]]\nid = \"endpoint.service.verdict\"\nmethods = [\"GET\", \"HEAD\", \"POST\"]\n"
)]
#[case::key_set_methods(
    "keys",
    "keys.*",
    "[[change]]\nid = \"endpoint.keys.jwks\"\nmethods = [\"GET\", \"HEAD\", \"OPTIONS\"]\n"
)]
fn parts_follow_a_changed_row(#[case] part: &str, #[case] cases: &str, #[case] text: &str) {
    let folder = TempDir::new().unwrap();
    let path = overlay(&folder, text);
    let path = path.to_str().unwrap();
    let (code, shown) = run(edgeproof(&["conformance", part, "--spec", path, "--filter", cases, "--strict"]));
    assert_eq!(code, Some(0), "{shown}");
}

/// A version in which each answer of our own rows has another status.
#[rstest]
fn parts_follow_other_statuses(#[values("edge", "service", "keys")] part: &str) {
    // Neighbouring rows that share a status have different ones.
    let other = |number: usize, row: &Row| match (row.table, row.status()?) {
        (Table::Edge, 200) => Some(202),
        (Table::Edge, 400) => Some(422),
        (Table::Edge, 405) => Some(404),
        (Table::Edge, 502) => Some([503, 504, 500][number % 3]),
        (Table::Verdict | Table::Keys, 200) => Some(203),
        (Table::Verdict, 401) => Some([403, 409, 422, 418][number % 4]),
        (Table::Verdict, 404) => Some(425),
        _ => None,
    };
    let changes = Spec::current().rows().iter().enumerate();
    let changes = changes.filter_map(|(number, row)| Some((&row.id, other(number, row)?)));
    let changes: Vec<String> =
        changes.map(|(id, status)| format!("[[change]]\nid = \"{id}\"\nstatus = {status}\n")).collect();
    let folder = TempDir::new().unwrap();
    let path = overlay(&folder, &changes.concat());
    let (code, shown) = run(edgeproof(&["conformance", part, "--spec", path.to_str().unwrap(), "--strict"]));
    assert_eq!(code, Some(0), "{shown}");
}

#[test]
fn digest_follows_the_interface_and_nothing_else() {
    let folder = tables();
    let before = load(folder.path()).digest().to_owned();
    edit(folder.path(), "relay.toml", "# -- license token", "# -- the license");
    edit(folder.path(), "profile.toml", "value = 10000", "value = 9000");
    assert_eq!(load(folder.path()).digest(), before);
    edit(folder.path(), "relay.toml", "\"missing_license\"", "\"no_license\"");
    let other_code = load(folder.path()).digest().to_owned();
    assert_ne!(other_code, before);
    edit(folder.path(), "verdict.toml", "\"verdict-too-old\", ", "");
    assert_ne!(load(folder.path()).digest(), other_code);
}

#[test]
fn overlay_on_an_overlay_changes_both() {
    let folder = TempDir::new().unwrap();
    overlay(&folder, ADDED);
    let last = folder.path().join("last.toml");
    let text = "base = \"next.toml\"\n[[change]]\nid = \"relay.409.session-closed\"\nstatus = 410\n";
    std::fs::write(&last, text).unwrap();
    let spec = load(&last);
    assert_eq!(spec.version(), "last");
    assert_eq!(spec.row("relay.409.session-closed").unwrap().status(), Some(410));
}

/// The point and its value are all that a rule needs: our edge follows it, its case judges, another edge fails.
#[rstest]
#[case::path("relay.path", "\"/v1/verify\"")]
#[case::header("relay.license-header", "\"x-license\"")]
#[case::scheme("relay.license-scheme", "\"License\"")]
#[case::methods("preflight.methods", "[\"POST\", \"PUT\"]")]
#[case::headers("preflight.headers", "[\"x-trace\", \"content-type\"]")]
#[case::max_age("preflight.max-age-seconds", "60")]
#[case::status("preflight.status", "200")]
#[case::health("health.body", "'{\"up\": 1}'")]
#[case::health_status("health.status", "201")]
fn open_point_becomes_a_rule(#[case] point: &str, #[case] value: &str) {
    let folder = TempDir::new().unwrap();
    let path = overlay(&folder, &rule(point, value));
    let path = path.to_str().unwrap();
    let (code, shown) = run(edgeproof(&["conformance", "--spec", path, "--filter", "rule.*"]));
    assert_eq!(code, Some(0), "{shown}");
    let (_, shown) = run(edgeproof(&["spec", "diff", "current", path]));
    assert!(shown.contains("edge: breaking (1 of 1 case: rule."), "{shown}");
}

/// A rule about any point that a case observes. Our mocks follow it if the profile has the point's value.
#[rstest]
#[case::edge("edge", "paths.root", "404", "405")]
#[case::explored("edge", "vary.type.multipart", "'200 {\"ok\":true}'", "415")]
#[case::setting("edge", "settings.ca-file.missing", "\"does not start\"", "\"starts\"")]
#[case::service("service", "verdict.reason-member", "\"error\"", "\"reason\"")]
#[case::one_of_several("service", "verdict.wait.unit", "404", "400")]
#[case::keys("keys", "keys.cache.lifetime", "\"Cache-Control: public, max-age=300\"", "\"no Cache-Control\"")]
#[case::credential("keys", "keys.credential", "\"none\"", "\"asks for one\"")]
fn case_of_a_rule_compares_what_is_observed(
    #[case] part: &str,
    #[case] point: &str,
    #[case] ours: &str,
    #[case] other: &str,
) {
    for (value, expected) in [(ours, 0), (other, 1)] {
        let folder = TempDir::new().unwrap();
        let text = rule(point, value);
        let path = overlay(&folder, &text);
        let path = path.to_str().unwrap();
        let (code, shown) = run(edgeproof(&["conformance", part, "--spec", path, "--filter", "rule.*"]));
        assert_eq!(code, Some(expected), "{shown}");
        assert!(shown.contains("1 planned"), "{shown}");
    }
}

/// The number that an owner reads is that of the version.
#[test]
fn advice_names_the_limit_of_the_version() {
    let folder = TempDir::new().unwrap();
    let path = overlay(&folder, "[[change]]\nid = \"limit.key-set-cache\"\nvalue = 299\n");
    let path = path.to_str().unwrap();
    let (code, shown) = run(edgeproof(&["spec", "diff", "current", path, "--format", "json"]));
    assert!(code == Some(0) && shown.contains("send `Cache-Control: max-age=299` or less"), "{shown}");
}

/// A launched edge reads the variables of its version, and no others.
#[rstest]
#[case::same_version("next.toml", 0, "conforms")]
#[case::older_edge("current", 3, "SERVICE_URL is not set")]
fn setting_has_the_name_of_the_version(#[case] edge: &str, #[case] code: i32, #[case] text: &str) {
    let folder = TempDir::new().unwrap();
    overlay(&folder, "[[change]]\nid = \"setting.edge.service-url\"\nname = \"UPSTREAM_URL\"\n");
    let launch = format!("{} edge --listen {{host}}:{{port}} --spec {edge}", env!("CARGO_BIN_EXE_edgeproof"));
    let mut command =
        edgeproof(&["conformance", "--spec", "next.toml", "--filter", "accept.*", "--launch", &launch]);
    command.current_dir(folder.path());
    let (seen, shown) = run(command);
    assert!(seen == Some(code) && shown.contains(text), "{shown}");
}

/// Titles, advice, causes and printed settings follow the version.
#[rstest]
#[case::title_and_fix(&["explain", "unreachable.port-closed"], "the edge answers 503 if nothing", "502")]
#[case::cause(&["explain", "unreachable-answer"], "Catch every error of the call, and answer 503", "502")]
#[case::status_beside_its_body(&["explain", "read-failed-wrong"], "and answer 422 with", "answer 400 with")]
#[case::error_of_a_body(&["explain", "read-failed-wrong"], "body_broken", "read_failed")]
#[case::status_of_something_else(&["explain", "body-validated"], "express.json(): it answers 400", "answers 422 to")]
#[case::setting(&["explain", "unreachable.port-closed"], "an edge with a UPSTREAM_URL", "with a SERVICE_URL")]
#[case::path(&["explain", "method.get"], "/v2/signals", "/v1/signals")]
#[case::settings_folder(&["mint", "edge-settings", "--out", "settings"], "--settings settings --spec next.toml", "SERVICE_URL")]
#[case::edge(&["edge"], "cannot start the edge: UPSTREAM_URL is not set", "SERVICE_URL")]
fn texts_have_the_words_of_the_version(
    #[case] arguments: &[&str],
    #[case] expected: &str,
    #[case] current: &str,
) {
    let folder = TempDir::new().unwrap();
    overlay(
        &folder,
        "[[change]]\nid = \"edge.502.service-unreachable\"\nstatus = 503\n\
         [[change]]\nid = \"edge.400.read-failed\"\nstatus = 422\nbody = '{\"error\":\"body_broken\"}'\n\
         [[change]]\nid = \"setting.edge.service-url\"\nname = \"UPSTREAM_URL\"\n\
         [[change]]\nid = \"endpoint.edge.signals\"\npath = \"/v2/signals\"\n",
    );
    let mut command = edgeproof(arguments);
    command.args(["--spec", "next.toml"]).current_dir(folder.path());
    let (_, shown) = run(command);
    // Ids are names: they keep their number.
    let shown = shown.replace("edge.502.service-unreachable", "").replace("cors.readable.502", "");
    assert!(shown.contains(expected) && !shown.contains(current), "{shown}");
    if let Ok(settings) = std::fs::read_to_string(folder.path().join("settings/edge/edge.env")) {
        assert!(settings.contains("UPSTREAM_URL=") && !settings.contains("SERVICE_URL="), "{settings}");
    }
}

/// A rule that nothing judges is told; with --require-all it keeps a run from being complete.
#[rstest]
#[case::open_row("[[change]]\nid = \"keys.methods\"\nlevel = \"must\"\n", "keys.methods states a rule", true)]
#[case::no_case(
    "[[add]]\nid = \"statement.new\"\nsection = \"4\"\ncondition = \"New.\"\n",
    "statement.new states a rule",
    true
)]
#[case::excluded(
    "[[add]]\nid = \"statement.new\"\nsection = \"4\"\ncondition = \"New.\"\nexcluded = \"about its owner\"\n",
    "states a rule that no case judges",
    false
)]
fn rule_without_a_judge_is_a_finding(#[case] text: &str, #[case] expected: &str, #[case] is_told: bool) {
    let folder = TempDir::new().unwrap();
    let path = overlay(&folder, text);
    let path = path.to_str().unwrap();
    let (code, shown) = run(edgeproof(&["conformance", "keys", "--spec", path]));
    assert!(code == Some(0) && shown.contains(expected) == is_told, "{shown}");
    let (code, shown) = run(edgeproof(&["conformance", "keys", "--spec", path, "--require-all"]));
    assert_eq!(code, Some(if is_told { 3 } else { 0 }), "{shown}");
}

/// A key set that is cached for another time is a rule that our mock follows.
#[test]
fn mocks_follow_a_rule_about_their_profile() {
    let folder = TempDir::new().unwrap();
    let path = overlay(&folder, &rule("keys.max-age-seconds", "60"));
    let path = path.to_str().unwrap();
    let (code, shown) = run(edgeproof(&["conformance", "keys", "--spec", path, "--strict"]));
    assert!(code == Some(0) && !shown.contains("fail"), "{shown}");
}

#[rstest]
#[case::typing_error("verdict.wait.hgue", "did you mean `verdict.wait.huge`?")]
#[case::unseen("events.sent", "the interface names no receiver of events")]
#[case::several("verdict.wait", "did you mean")]
fn rule_about_a_point_that_nothing_shows_is_an_error(#[case] point: &str, #[case] help: &str) {
    let folder = TempDir::new().unwrap();
    let path = overlay(&folder, &rule(point, "\"none\""));
    let (code, shown) = run(edgeproof(&["spec", "list", "--spec", path.to_str().unwrap()]));
    assert_eq!(code, Some(2), "{shown}");
    let line = format!("next.toml:5: no rule can decide `{point}`");
    assert!(shown.contains(&line) && shown.contains(help), "{shown}");
}

fn rule(point: &str, value: &str) -> String {
    format!(
        "[[add]]\nid = \"statement.decided\"\nsection = \"4\"\ncondition = \"Decided.\"\npoint = \"{point}\"\nvalue = {value}\n"
    )
}

#[rstest]
#[case::unknown("nowhere", "neither a version of the interface nor a path")]
#[case::empty_folder(".", "the folder has no tables")]
fn bad_spec_is_one_message(#[case] spec: &str, #[case] text: &str) {
    let folder = TempDir::new().unwrap();
    let mut command = edgeproof(&["spec", "list", "--spec", spec]);
    let output = command.current_dir(folder.path()).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(2) && errors.contains(text), "{errors}");
}

/// What a table cannot say: an answer without its status or its code, and two values of one point.
#[rstest]
#[case::no_code(
    "[[add]]\nid = \"verdict.429.slow\"\nsection = \"7.4\"\nstatus = 429\ncondition = \"Slow.\"\nstimuli = [\"scripted\"]",
    "neither `body` nor `code`"
)]
#[case::two_rules(
    "[[add]]\nid = \"statement.a\"\nsection = \"4\"\ncondition = \"A.\"\npoint = \"relay.path\"\nvalue = \"/a\"\n[[add]]\nid = \"statement.b\"\nsection = \"4\"\ncondition = \"B.\"\npoint = \"relay.path\"\nvalue = \"/b\"",
    "another row decides"
)]
#[case::changed_twice(
    "[[change]]\nid = \"relay.401.expired\"\nstatus = 403\n[[change]]\nid = \"relay.401.expired\"\nstatus = 410",
    "the row `relay.401.expired` is changed twice"
)]
#[case::setting_twice(
    "[[add]]\nid = \"setting.edge.second\"\nsection = \"2\"\nparty = \"edge\"\nname = \"LICENSE\"\ncondition = \"A.\"",
    "two settings of `edge` are `LICENSE`"
)]
#[case::endpoint_twice(
    "[[change]]\nid = \"endpoint.edge.health\"\npath = \"/v1/signals\"",
    "two endpoints of `edge` are `/v1/signals`"
)]
#[case::profile_beside_a_rule(
    "[[add]]\nid = \"statement.a\"\nsection = \"4\"\ncondition = \"A.\"\npoint = \"relay.path\"\nvalue = \"/a\"\n[profile]\nrelay.path = \"/b\"",
    "the profile has another value of `relay.path` than this row"
)]
#[case::scripted_answer_of_an_edge(
    "[[change]]\nid = \"edge.405.method-not-allowed\"\nstimuli = [\"scripted\"]",
    "`scripted` causes nothing in the table `edge`"
)]
#[case::placeholder(
    "[[change]]\nid = \"collector.unknown-mode\"\ntext = \"no mode <valu>\"",
    "`<valu>` stands for nothing"
)]
#[case::placeholder_of_a_body(
    "[[change]]\nid = \"verdict.404.pending\"\nbody = '{\"status\":\"pending\",\"ref\":\"<session_rf>\"}'",
    "`<session_rf>` stands for nothing"
)]
#[case::method_in_small_letters(
    "[[change]]\nid = \"endpoint.keys.jwks\"\nmethods = [\"GET\", \"post\"]",
    "`post` is no method"
)]
#[case::method_twice(
    "[[change]]\nid = \"endpoint.keys.jwks\"\nmethods = [\"GET\", \"GET\"]",
    "the method `GET` is listed twice"
)]
#[case::method_that_runs_send(
    "[[change]]\nid = \"endpoint.edge.signals\"\nmethods = [\"PUT\", \"OPTIONS\"]",
    "next.toml:3: the methods of `endpoint.edge.signals` lack POST"
)]
#[case::setting_with_a_space(
    "[[change]]\nid = \"setting.edge.license\"\nname = \"MY LICENSE=\"",
    "`MY LICENSE=` is no name of an environment variable"
)]
#[case::setting_of_the_harness(
    "[[change]]\nid = \"setting.edge.license\"\nname = \"PORT\"",
    "no setting can be named `PORT`"
)]
#[case::setting_of_the_host(
    "[[change]]\nid = \"setting.edge.license\"\nname = \"HOST\"",
    "no setting can be named `HOST`"
)]
#[case::no_method(
    "[[add]]\nid = \"endpoint.edge.ready\"\nsection = \"4\"\nparty = \"edge\"\nmethods = []\npath = \"/ready\"\ncondition = \"Ready.\"",
    "`endpoint.edge.ready` has no method"
)]
#[case::setting_of_another_row(
    "[[change]]\nid = \"setting.edge.license\"\nname = \"SERVICE_URL\"",
    "next.toml:3: two settings of `edge` are `SERVICE_URL`"
)]
#[case::value_twice(
    "[[change]]\nid = \"setting.collector.mode\"\nvalues = [\"full\", \"full\"]",
    "the value `full` is listed twice"
)]
#[case::unit(
    "[[change]]\nid = \"limit.key-set-cache\"\nvalue = 5\nunit = \"minutes\"",
    "cannot have the unit `minutes`"
)]
#[case::name_of_a_version("version = \"current\"", "`current` is a built-in version")]
#[case::newer_format("format = 2", "reads format 1")]
#[case::no_base("base = \"nowhere\"", "no base `nowhere`")]
#[case::huge_body(
    "[profile]\ncollection.max-bytes = 100000000000",
    "`collection.max-bytes` cannot have this value"
)]
fn impossible_overlay_is_an_error(#[case] text: &str, #[case] message: &str) {
    let folder = TempDir::new().unwrap();
    let error = Spec::load(&overlay(&folder, text)).unwrap_err();
    assert!(error.to_string().contains(message), "{error}");
}

fn run(mut command: std::process::Command) -> (Option<i32>, String) {
    let output = command.output().unwrap();
    let mut shown = String::from_utf8_lossy(&output.stdout).into_owned();
    shown += &String::from_utf8_lossy(&output.stderr);
    (output.status.code(), shown)
}
