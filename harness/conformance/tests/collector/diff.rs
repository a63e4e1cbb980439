//! `edgeproof spec diff` with collectors: those of the old version against cases of the new one, and the reverse.

use rstest::rstest;

use crate::support::Folder;

#[rstest]
#[case::error(
    "[[change]]\nid = \"collector.unknown-mode\"\ntext = \"no mode <value>\"",
    "collector: breaking"
)]
#[case::path(
    "[[change]]\nid = \"endpoint.edge.signals\"\npath = \"/v2/signals\"",
    "collector: breaking (1 of 1 case: post.request)"
)]
#[case::name("[[change]]\nid = \"collector.abort-error\"\ntext = \"CancelledError\"", "collector: breaking")]
#[case::wording(
    "[[change]]\nid = \"collector.unknown-mode\"\ncondition = \"Another mode.\"",
    "collector: compatible"
)]
#[case::monitor(
    "[[change]]\nid = \"statement.page-data-private\"\ncondition = \"It stays.\"",
    "collector: compatible"
)]
#[case::removed(
    "[[remove]]\nid = \"collector.unknown-mode\"",
    "collector: untested (the new version has nothing to play)"
)]
fn changed_row_has_a_class_for_collectors(#[case] text: &str, #[case] expected: &str) {
    let folder = Folder::new().with("next.toml", text);
    let output = folder.run(&["spec", "diff", "current", "next.toml"]);
    let shown =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(0) && shown.contains(expected), "{shown}");
}

/// The collector of a version follows its tables.
#[test]
fn reference_collector_conforms_to_another_version() {
    let text = "[[change]]\nid = \"collector.unknown-mode\"\ntext = \"no mode <value>\"\n\
                [[change]]\nid = \"collector.type-error\"\ntext = \"NetworkError\"\n\
                [[change]]\nid = \"endpoint.edge.signals\"\npath = \"/v2/signals\"\n";
    let folder = Folder::new().with("next.toml", text);
    let filters = ["--filter", "mode.*", "--filter", "network.*", "--filter", "post.*"];
    let output = folder
        .run(&[&["conformance", "collector", "--spec", "next.toml", "--strict"][..], &filters].concat());
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stdout));
}
