//! `edgeproof explain`, and cases in `edgeproof spec show`.

use rstest::rstest;

use super::support::{Folder, check};

#[test]
fn case_row_and_cause_are_explained() {
    let folder = Folder::new();
    let ids = [
        "relay.body.large-numbers",
        "method.get",
        "isolation.keep-alive",
        "monitor.credentials",
        "verdict.reference.plain",
        "edge.405.method-not-allowed",
        "body-as-text",
    ];
    check("explain", &ids.map(|id| folder.seen(&["explain", id])).join("\n"));
}

#[rstest]
#[case::case("relay.body.large-numbres", "similar: relay.body.large-numbers")]
#[case::row("edge.502.service-unreachabel", "similar: edge.502.service-unreachable")]
#[case::cause("bdy-parsed", "similar: body-parsed")]
#[case::other_version("relay.401.no-such-row", "no case, row or cause has this id")]
fn unknown_id_exits_2_with_near_ids(#[case] id: &str, #[case] expected: &str) {
    let output = Folder::new().run(&["explain", id]);
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(text.contains(expected), "{text}");
}

#[test]
fn id_of_another_version_names_the_option() {
    let output = Folder::new().run(&["explain", "relay.400.bad-seal", "--spec", "pre-seal"]);
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(text.contains("add --spec current"), "{text}");
}

#[test]
fn commands_of_another_interface_name_it() {
    let folder = Folder::new().with("my next.toml", "[[change]]\nid = \"edge.200.accepted\"\nstatus = 201\n");
    for (id, spec, option) in [
        ("method.get", "my next.toml", " --spec 'my next.toml'"),
        ("verdict.404.pending", "pre-seal", " --spec pre-seal"),
        ("body-as-text", "my next.toml", " --spec 'my next.toml'"),
    ] {
        let seen = folder.seen(&["explain", id, "--spec", spec]);
        let (_, commands) = seen.split_once("\nplay it\n").unwrap_or_else(|| panic!("{seen}"));
        assert!(commands.lines().all(|line| line.ends_with(option)), "{seen}");
    }
}

#[test]
fn spec_show_takes_a_case() {
    check("spec_show_case", &Folder::new().seen(&["spec", "show", "accept.exact-body"]));
}

#[test]
fn explain_help_lists_its_arguments() {
    check("help_explain", &Folder::new().seen(&["explain", "--help"]));
}
