//! Commands that list or show without a run.

use serde_json::Value;

use super::support::{Folder, check};

#[test]
fn help_lists_the_commands() {
    check("help", &Folder::new().seen(&["--help"]));
}

#[test]
fn conformance_help_lists_options_and_exit_codes() {
    check("help_conformance", &Folder::new().seen(&["conformance", "--help"]));
}

#[test]
fn spec_list_prints_one_row_a_line() {
    let output = Folder::new().run(&["spec", "list"]);
    assert_eq!(output.status.code(), Some(0));
    let text = String::from_utf8(output.stdout).unwrap();
    // One of each form: a new row or case elsewhere changes none of them.
    let ids = [
        "relay.401.malformed-token",
        "relay.403.client-cert-licence-mismatch",
        "keys.shape",
        "keys.methods",
        "statement.refusal-cut",
        "statement.path-prefix",
    ];
    let is_one = |line: &&str| ids.iter().any(|id| line.split(' ').next() == Some(id));
    check("spec_list", &text.lines().filter(is_one).collect::<Vec<_>>().join("\n"));
}

#[test]
fn spec_list_json_has_the_contract_fields() {
    let output = Folder::new().run(&["spec", "list", "--json"]);
    let rows: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    let keys = ["id", "table", "section", "status", "code", "level", "basis", "stimuli", "cases"];
    for row in &rows {
        let members: Vec<&str> = row.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(members, keys);
        let texts = |name: &str| row[name].as_array().unwrap().iter().all(Value::is_string);
        assert!(texts("stimuli") && texts("cases"), "{row}");
        assert!(row["status"].is_null() || row["status"].is_u64(), "{row}");
        assert!(row["code"].is_null() || row["code"].is_string(), "{row}");
        for name in ["id", "table", "section", "level", "basis"] {
            assert!(row[name].is_string(), "{row}");
        }
    }
    let lines = Folder::new().run(&["spec", "list"]).stdout;
    assert_eq!(rows.len(), String::from_utf8(lines).unwrap().lines().count());
}

#[test]
fn spec_show_prints_a_row_or_a_point() {
    let folder = Folder::new();
    let shown = [
        "relay.401.bad-signature",
        "edge.refused.unknown",
        "endpoint.edge.health",
        "preflight.status",
        "revoked",
    ]
    .map(|id| folder.seen(&["spec", "show", id]));
    let other = folder.seen(&["spec", "show", "relay.400.bad-seal", "--spec", "pre-seal"]);
    check("spec_show", &[shown.join("\n"), other].join("\n"));
}

#[test]
fn list_prints_cases_without_running_them() {
    let folder = Folder::new();
    let list = folder.seen(&["conformance", "--list", "--filter", "accept.*", "--filter", "http2.*"]);
    let attached =
        folder.seen(&["conformance", "--list", "--filter", "log.*", "--url", "http://127.0.0.1:9"]);
    check("list", &[list, attached].join("\n"));
}
