//! `edgeproof spec diff`: the class of a changed row comes from playing the old part.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use edgeproof::interface_change::{Class, Comparison, ComparisonOptions};
use edgeproof_edge::EdgeOptions;
use edgeproof_fixtures::spec::{Spec, Version};
use edgeproof_targets::FaultInjection;
use rstest::rstest;
use tempfile::TempDir;

use super::{edit, load, overlay, tables};
use crate::cli::matrix;
use crate::mock_program::edgeproof;

/// Planted changes with the classes of the parts that they concern.
#[rstest]
#[case::reason_added("[[add]]\nid = \"relay.409.closed\"\nsection = \"7.3\"\nstatus = 409\ncode = \"closed\"\ncondition = \"Closed.\"\nstimuli = [\"scripted\"]", &["edge compatible", "service untested"])]
#[case::reason_status("[[change]]\nid = \"relay.401.missing-license\"\nstatus = 403", &["edge compatible", "service untested"])]
#[case::reason_code("[[change]]\nid = \"relay.401.bad-footer\"\ncode = \"footer_unreadable\"", &["edge compatible", "service untested"])]
#[case::reason_removed("[[remove]]\nid = \"relay.401.bad-footer\"", &["edge untested", "service untested"])]
#[case::edge_status("[[change]]\nid = \"edge.502.service-unreachable\"\nstatus = 503", &["edge breaking"])]
#[case::edge_body("[[change]]\nid = \"edge.200.accepted\"\nbody = '{\"accepted\":true}'", &["edge breaking"])]
#[case::verdict_code("[[change]]\nid = \"verdict.401.wrong-typ\"\ncode = \"wrong_type\"", &["service breaking"])]
#[case::verdict_pending("[[change]]\nid = \"verdict.404.pending\"\nstatus = 425", &["service breaking"])]
#[case::keys_limit("[[change]]\nid = \"limit.key-set-cache\"\nvalue = 60", &["keys breaking"])]
#[case::keys_limit_raised("[[change]]\nid = \"limit.key-set-cache\"\nvalue = 600", &["keys compatible"])]
#[case::path("[[change]]\nid = \"endpoint.keys.jwks\"\npath = \"/v2/keys.json\"", &["keys breaking"])]
#[case::verdict_status("[[change]]\nid = \"verdict.200.available\"\nstatus = 201", &["service breaking"])]
#[case::unauthorized("[[change]]\nid = \"verdict.401.unauthorized\"\nstatus = 403", &["service breaking"])]
#[case::damaged_token("[[change]]\nid = \"verdict.401.malformed-token\"\nstatus = 403", &["service breaking"])]
#[case::health_methods("[[change]]\nid = \"endpoint.edge.health\"\nmethods = [\"GET\", \"POST\"]", &["edge untested"])]
#[case::fewer_situations("[[change]]\nid = \"edge.502.service-unreachable\"\nstimuli = [\"service-garbage\"]", &["edge compatible"])]
#[case::setting_gone("[[remove]]\nid = \"setting.edge.license\"", &["edge untested"])]
#[case::endpoint_of_an_edge("[[add]]\nid = \"endpoint.edge.ready\"\nsection = \"4\"\nparty = \"edge\"\nmethods = [\"GET\"]\npath = \"/ready\"\ncondition = \"Ready.\"", &["edge untested"])]
#[case::taken_method("[[change]]\nid = \"endpoint.edge.signals\"\nmethods = [\"POST\", \"PUT\", \"OPTIONS\"]", &["edge breaking", "collector untested"])]
#[case::method_without_a_body("[[change]]\nid = \"endpoint.edge.signals\"\nmethods = [\"POST\", \"GET\", \"OPTIONS\"]", &["edge untested", "collector untested"])]
#[case::verdict_methods("[[change]]\nid = \"endpoint.service.verdict\"\nmethods = [\"GET\", \"HEAD\"]", &["service compatible"])]
#[case::key_set_methods("[[change]]\nid = \"endpoint.keys.jwks\"\nmethods = [\"GET\", \"POST\"]", &["keys breaking"])]
#[case::observed_only("[[change]]\nid = \"keys.methods\"\nlevel = \"must\"", &["keys untested"])]
#[case::opened("[[change]]\nid = \"statement.read-failed-cors\"\nlevel = \"must\"", &["edge untested"])]
#[case::renamed_answer("[[remove]]\nid = \"edge.405.method-not-allowed\"\n[[add]]\nid = \"edge.405.wrong-method\"\nsection = \"7.2\"\nstatus = 405\nbody = '{\"error\":\"wrong_method\"}'\ncondition = \"Another method.\"\nstimuli = [\"other-method\"]", &["edge breaking"])]
#[case::renamed_statement("[[remove]]\nid = \"statement.slow-service\"\n[[add]]\nid = \"statement.patient\"\nsection = \"4\"\nlevel = \"should\"\ncondition = \"The edge waits for a service that takes one second.\"", &["edge compatible"])]
#[case::renamed_setting("[[remove]]\nid = \"setting.edge.license\"\n[[add]]\nid = \"setting.edge.token\"\nsection = \"2\"\nname = \"TOKEN\"\nparty = \"edge\"\ncondition = \"The license token that the edge presents to the service.\"", &["edge untested"])]
#[case::body_without_status("[[change]]\nid = \"edge.refused\"\nbody = '{\"error\":\"service_rejected\",\"reason\":\"<reason>\"}'", &["edge breaking"])]
#[case::wording("[[change]]\nid = \"edge.200.accepted\"\ncondition = \"The service accepted.\"", &["edge compatible"])]
fn planted_change_has_its_class(#[case] text: &str, #[case] expected: &[&str]) {
    let folder = TempDir::new().unwrap();
    let compared = compare(&load(&overlay(&folder, text)), &ComparisonOptions::default());
    let [change] = &compared.changes[..] else { panic!("{:?}", compared.changes) };
    let classes: Vec<_> =
        change.parts.iter().map(|part| format!("{} {}", part.part.name(), part.class.name())).collect();
    assert_eq!(classes, expected);
}

/// A situation that moves to another row leaves both without a class: its cases keep to the old row.
#[test]
fn moved_situation_is_untested() {
    let folder = TempDir::new().unwrap();
    let overlay = overlay(
        &folder,
        "[[change]]\nid = \"verdict.404.pending\"\nstimuli = [\"verdict-pending\", \"reference-unknown\"]\n\
         [[add]]\nid = \"verdict.410.too-old\"\nsection = \"7.4\"\nstatus = 410\nbody = '{\"error\":\"old\"}'\n\
         condition = \"Too old.\"\nstimuli = [\"verdict-too-old\"]",
    );
    let compared = compare(&load(&overlay), &ComparisonOptions::default());
    assert_eq!(compared.changes.len(), 2);
    let parts = || compared.changes.iter().flat_map(|change| &change.parts);
    assert!(parts().all(|part| part.class == Class::Untested), "{:?}", compared.changes);
}

/// An edge that is broken without any change of a table.
#[derive(Debug)]
struct Unconnected;

impl FaultInjection for Unconnected {
    fn edge(&self, options: &mut EdgeOptions) {
        options.settings.service_url = Some("https://127.0.0.1:9".to_owned());
    }
}

#[test]
fn class_comes_from_playing_the_part() {
    let folder = TempDir::new().unwrap();
    let new = load(&overlay(&folder, "[[change]]\nid = \"relay.401.missing-license\"\nstatus = 403"));
    let faults: Option<Arc<dyn FaultInjection>> = Some(Arc::new(Unconnected));
    assert!(!compare(&new, &ComparisonOptions::default()).has(Class::Breaking));
    assert!(
        compare(&new, &ComparisonOptions { faults, ..ComparisonOptions::default() }).has(Class::Breaking)
    );
}

#[test]
fn renamed_row_with_its_code_is_one_change() {
    let folder = TempDir::new().unwrap();
    let text = "[[remove]]\nid = \"relay.401.bad-footer\"\n[[add]]\nid = \"relay.403.bad-footer\"\nsection = \"7.3\"\n\
                status = 403\ncode = \"bad_footer\"\ncondition = \"Unreadable.\"\nstimuli = [\"license-footer-damaged\"]";
    let options = ComparisonOptions { only_rows: true, ..ComparisonOptions::default() };
    let compared = compare(&load(&overlay(&folder, text)), &options);
    assert_eq!(compared.changes.len(), 1);
    assert_eq!(compared.changes[0].old_row.as_deref(), Some("relay.401.bad-footer"));
}

/// Two rows with one code that both get another id keep their own partner, in any order.
#[test]
fn renamed_rows_with_one_code_do_not_change_places() {
    let folder = TempDir::new().unwrap();
    let row = |id: &str, status: u16, stimulus: &str| {
        format!(
            "[[remove]]\nid = \"relay.{status}.bad-signature\"\n[[add]]\nid = \"relay.{id}\"\nsection = \"7.3\"\n\
             status = {status}\ncode = \"bad_signature\"\ncondition = \"Altered.\"\nstimuli = [\"{stimulus}\"]\n"
        )
    };
    let text = row("collection-altered", 400, "contents-signature-altered")
        + &row("license-altered", 401, "license-signature-altered");
    let options = ComparisonOptions { only_rows: true, ..ComparisonOptions::default() };
    let compared = compare(&load(&overlay(&folder, &text)), &options);
    let pairs: Vec<_> =
        compared.changes.iter().map(|change| (change.row.as_str(), change.old_row.as_deref())).collect();
    assert_eq!(
        pairs,
        [
            ("relay.collection-altered", Some("relay.400.bad-signature")),
            ("relay.license-altered", Some("relay.401.bad-signature")),
        ]
    );
}

/// The service of the new version asks: a point that only the old service has does not blame the edge.
#[test]
fn older_version_has_these_classes() {
    let (old, new) = (Arc::new(Spec::builtin(Version::PreSeal)), Arc::new(Spec::current().clone()));
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let compared = runtime.block_on(Comparison::of(&old, &new, &ComparisonOptions::default())).unwrap();
    let mut shown = String::new();
    for change in &compared.view().changes {
        for part in &change.parts {
            _ = writeln!(shown, "{}: {} {} ({})", change.id, part.part, part.class.name(), part.because);
        }
    }
    insta::assert_snapshot!(shown);
}

/// What the text says besides the class, or in place of a class.
#[rstest]
#[case::unseen(&rule("must", "relay.accepted", "'{}'"), "service: untested (no run sees it: a run plays the service of an edge itself")]
#[case::observed_only(
    "[[change]]\nid = \"keys.methods\"\nlevel = \"must\"",
    "keys: untested (its cases only observe; a rule needs `point` and `value`)"
)]
#[case::fixed(&rule("must", "paths.root", "405"), "1 of 1 case: rule.paths.root; the built-in mock stays as it is (`fixed`))")]
#[case::warned(&rule("should", "relay.path", "\"/v1/verify\""), "edge: compatible (0 passed, 1 warned)")]
#[case::section("[sections]\n\"99\" = \"More\"", "section 99: none → More\n")]
#[case::no_hint(
    "[[change]]\nid = \"endpoint.edge.signals\"\npath = \"/v2/signals\"",
    ", the old part: 404\n"
)]
#[case::heading(
    "[[change]]\nid = \"verdict.404.pending\"\nstatus = 425",
    "what the owner of the service does\n"
)]
fn text_says_why(#[case] text: &str, #[case] expected: &str) {
    let folder = TempDir::new().unwrap();
    let path = overlay(&folder, text);
    let output = edgeproof(&["spec", "diff", "current", path.to_str().unwrap()]).output().unwrap();
    let shown = String::from_utf8_lossy(&output.stdout);
    assert_eq!(shown.matches(expected).count(), 1, "{shown}");
}

fn rule(level: &str, point: &str, value: &str) -> String {
    format!(
        "[[add]]\nid = \"statement.decided\"\nlevel = \"{level}\"\nsection = \"4\"\ncondition = \"Decided.\"\n\
         point = \"{point}\"\nvalue = {value}\n"
    )
}

/// The reference edge of each version, as a program. An edge that only one version can start or reach is on its side.
#[rstest]
#[case::setting("[[change]]\nid = \"setting.edge.service-url\"\nname = \"UPSTREAM_URL\"\n")]
#[case::warned("[[change]]\nid = \"edge.400.read-failed\"\nbody = '{\"error\":\"body_broken\"}'\n")]
#[case::path_and_status(
    "[[change]]\nid = \"endpoint.edge.signals\"\npath = \"/v2/signals\"\n\
     [[change]]\nid = \"edge.502.service-unreachable\"\nstatus = 503\n"
)]
fn launched_edge_is_on_one_side(#[case] changes: &str) {
    let folder = TempDir::new().unwrap();
    overlay(&folder, changes);
    for (spec, side) in [("next.toml", "follows the new version"), ("current", "follows the old version")] {
        let program = env!("CARGO_BIN_EXE_edgeproof");
        let launch = format!("{program} edge --listen {{host}}:{{port}} --spec {spec}");
        let mut command = edgeproof(&["spec", "diff", "current", "next.toml", "--launch", &launch]);
        let output = command.current_dir(folder.path()).output().unwrap();
        let shown =
            String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{shown}");
        assert_eq!(shown.matches(side).count(), changes.matches("[[change]]").count(), "{shown}");
    }
}

#[rstest]
#[case::equal(&["current", "current"], 0, "no difference")]
#[case::breaking(&["current", "next.toml", "--fail-on", "breaking"], 1, "edge: breaking")]
#[case::accepted(&["current", "next.toml", "--fail-on", "any", "--accepted", "accepted.txt"], 0, "edge: breaking")]
#[case::stale(&["current", "current", "--accepted", "accepted.txt"], 1, "stale: line 1: edge.502.service-unreachable")]
#[case::no_reason(&["current", "next.toml", "--accepted", "next.toml"], 2, "no reason")]
#[case::rows_only(&["current", "next.toml", "--static"], 0, "status: 502 → 503")]
#[case::markdown(&["current", "next.toml", "--format", "markdown"], 0, "```diff")]
#[case::page(&["current", "next.toml", "--format", "html"], 0, "<span class=\"mark breaking\">breaking</span>")]
#[case::hostile_page(&["current", "hostile.toml", "--static", "--format", "html"], 0, "&#60;script&#62;alert(1)&#60;/script&#62;")]
#[case::cases(&["current", "next.toml", "--static"], 0, "cases of the changed rows: ")]
#[case::snapshots(&["current", "next.toml"], 0, "files of a snapshot: edge.502.service-unreachable.http")]
#[case::mutants(&["current", "next.toml", "--static", "--matrix", "mutants.json"], 0, "mutants of the changed rows: edge.502")]
#[case::itself(&["next.toml", "./next.toml"], 2, "with itself")]
#[case::nothing_played(&["current", "next.toml", "--static", "--fail-on", "breaking"], 2, "--static plays nothing")]
#[case::no_edge(&["current", "next.toml", "--launch", "false"], 3, "cannot try the target of --launch: ")]
#[case::classes_without_an_edge(&["current", "next.toml", "--launch", "false"], 3, "edge: breaking")]
#[case::no_edge_in_text(&["current", "next.toml", "--launch", "false"], 3, "not run at the target\n")]
#[case::no_edge_in_markdown(&["current", "next.toml", "--launch", "false", "--format", "markdown"], 3, "## not run at the target")]
#[case::no_edge_in_a_page(&["current", "next.toml", "--launch", "false", "--format", "html"], 3, "<h2>Not run at the target</h2>")]
#[case::no_edge_in_json(&["current", "next.toml", "--launch", "false", "--format", "json"], 3, "\"target_failure\": ")]
#[case::no_edge_and_broken(&["current", "next.toml", "--launch", "false", "--fail-on", "breaking"], 1, "edge: breaking")]
#[case::accepted_in_json(&["current", "next.toml", "--static", "--accepted", "accepted.txt", "--format", "json"], 0, "\"reason\": \"agreed with all owners\"")]
#[case::stale_in_json(&["current", "current", "--accepted", "accepted.txt", "--format", "json"], 1, "\"stale\": true")]
#[case::accepted_twice(&["current", "next.toml", "--accepted", "twice.txt"], 2, "twice.txt: line 3 has edge.502.service-unreachable, and line 1 as well")]
#[case::rows_on_the_wire(&["current", "next.toml", "--static"], 0, "rows of which only the words changed: 0 of 1 changed row")]
#[case::unknown(&["current", "nowhere"], 2, "REV:FOLDER")]
#[case::revision_itself(&["v1:tables", "v1:tables/"], 2, "with itself")]
#[case::revision_of_this_clone(&["HEAD@{1}:tables", "current"], 2, "name a commit, a tag or a branch")]
fn command_ends_with(#[case] arguments: &[&str], #[case] code: i32, #[case] text: &str) {
    let folder = TempDir::new().unwrap();
    overlay(&folder, "[[change]]\nid = \"edge.502.service-unreachable\"\nstatus = 503\n");
    fs::write(folder.path().join("accepted.txt"), "edge.502.service-unreachable agreed with all owners\n")
        .unwrap();
    fs::write(
        folder.path().join("twice.txt"),
        "edge.502.service-unreachable agreed\n# again\nedge.502.service-unreachable agreed later\n",
    )
    .unwrap();
    let hostile =
        "[[change]]\nid = \"edge.502.service-unreachable\"\ncondition = \"<script>alert(1)</script>\"\n";
    fs::write(folder.path().join("hostile.toml"), hostile).unwrap();
    let mutants =
        matrix(Spec::current().digest()).replace("relay.409.replayed-bundle", "edge.502.service-unreachable");
    fs::write(folder.path().join("mutants.json"), mutants).unwrap();
    let mut command = edgeproof(&["spec", "diff"]);
    let output = command.args(arguments).current_dir(folder.path()).output().unwrap();
    let shown =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{shown}");
    assert!(shown.contains(text), "{shown}");
}

#[test]
#[ignore = "needs git: just test-browser"]
fn revision_of_a_repository_is_a_side() {
    let folder = repository();
    edit(folder.path(), "relay.toml", "\"missing_license\"", "\"no_license\"");
    check_diff(&folder, "HEAD:", 0, "missing_license → no_license");
    check_diff(&folder, "HEAD:./", 0, "missing_license → no_license");
    check_diff(&folder, "HEAD:.", 0, "missing_license → no_license");
    check_diff(&folder, "HEAD~9:", 2, "cannot read HEAD~9:");
}

/// Another edgeproof wrote them: its advice and causes may have other names.
#[test]
#[ignore = "needs git: just test-browser"]
fn own_files_of_a_revision_are_not_read() {
    let folder = repository();
    for name in ["advice.toml", "causes.toml", "variation.toml"] {
        fs::write(folder.path().join(name), "old = 1\n").unwrap();
        git(folder.path(), &["add", name]);
    }
    git(folder.path(), &["commit", "-q", "-m", "old"]);
    for name in ["advice.toml", "causes.toml", "variation.toml"] {
        fs::remove_file(folder.path().join(name)).unwrap();
    }
    check_diff(&folder, "HEAD:", 0, "no difference");
}

#[test]
#[ignore = "needs git: just test-browser"]
fn broken_table_of_a_revision_is_shown_with_its_line() {
    let folder = repository();
    edit(folder.path(), "relay.toml", "condition = \"LICENSE", "conditon = \"LICENSE");
    git(folder.path(), &["commit", "-q", "-a", "-m", "broken"]);
    check_diff(&folder, "HEAD:", 2, "HEAD:/relay.toml:");
    check_diff(&folder, "HEAD:", 2, "│ conditon = \"LICENSE");
    check_diff(&folder, "HEAD:", 2, "did you mean `condition`?");
}

#[test]
#[ignore = "needs git: just test-browser"]
fn shallow_clone_is_told_what_to_fetch() {
    let folder = repository();
    git(folder.path(), &["commit", "-q", "--allow-empty", "-m", "second"]);
    let clone = TempDir::new().unwrap();
    let url = format!("file://{}", folder.path().display());
    git(clone.path(), &["clone", "-q", "--depth=1", &url, "."]);
    check_diff(&clone, "HEAD~1:", 2, "`git fetch --depth=2`, or all with `git fetch --unshallow`");
    check_diff(&clone, "v1:", 2, "`git fetch --depth=1 origin v1`");
    git(clone.path(), &["fetch", "-q", "--depth=2"]);
    check_diff(&clone, "HEAD~1:", 0, "no difference");
}

/// A repository with the tables in its only commit.
fn repository() -> TempDir {
    let folder = tables();
    git(folder.path(), &["init", "-q"]);
    git(folder.path(), &["add", "."]);
    git(folder.path(), &["commit", "-q", "-m", "first"]);
    folder
}

fn git(folder: &Path, arguments: &[&str]) {
    let author = ["-c", "user.name=a", "-c", "user.email=a@example.com"];
    let output = Command::new("git").args(author).args(arguments).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
#[ignore = "needs git: just test-browser"]
fn revision_has_a_snapshot() {
    let folder = repository();
    edit(folder.path(), "relay.toml", "\"missing_license\"", "\"no_license\"");
    let run = |arguments: &[&str]| {
        let mut command = edgeproof(&["spec", "snapshot", "wire"]);
        command.args(arguments).current_dir(folder.path()).output().unwrap()
    };
    assert_eq!(run(&["--spec", "HEAD:"]).status.code(), Some(0));
    assert_eq!(run(&["--spec", "current", "--check"]).status.code(), Some(0));
    assert_eq!(run(&["--spec", ".", "--check"]).status.code(), Some(1));
}

/// Compares a revision with the folder.
#[track_caller]
fn check_diff(folder: &TempDir, old: &str, code: i32, text: &str) {
    let mut command = edgeproof(&["spec", "diff", old, ".", "--static"]);
    let output = command.current_dir(folder.path()).output().unwrap();
    let shown =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(code) && shown.contains(text), "{shown}");
}

fn compare(new: &Spec, options: &ComparisonOptions) -> Comparison {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (old, new) = (Arc::new(Spec::current().clone()), Arc::new(new.clone()));
    runtime.block_on(Comparison::of(&old, &new, options)).unwrap()
}
