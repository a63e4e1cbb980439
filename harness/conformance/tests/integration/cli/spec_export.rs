//! `edgeproof spec export`: tables, OpenAPI, Markdown, HTML.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;

use edgeproof_fixtures::spec::{Spec, Version, interface_files};
use quick_xml::Reader;
use quick_xml::events::Event;
use rstest::rstest;
use serde_json::{Value, json};

use super::spec_reports::{REPORTS, matrix};
use super::support::{Folder, check};

fn stdout(folder: &Folder, args: &[&str]) -> String {
    let output = folder.run(args);
    assert_eq!(output.status.code(), Some(0), "{args:?} {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn exported_tables_are_an_interface_that_runs() {
    let folder = Folder::new();
    let exported = folder.seen(&["spec", "export", "tables", "mine"]);
    let list = folder.seen(&["spec", "list", "--spec", "mine"]);
    assert_eq!(list.lines().skip(1).collect::<Vec<_>>(), {
        let builtin = folder.seen(&["spec", "list"]);
        builtin.lines().skip(1).map(str::to_owned).collect::<Vec<_>>()
    });
    let run = folder.run(&["conformance", "--spec", "mine", "--filter", "refusal.*", "--quick"]);
    assert_eq!(run.status.code(), Some(0), "{run:?}");
    check("spec_export_tables", &exported);
    assert_eq!(folder.files(), ["mine"], "temporary files are left behind");
}

#[test]
fn overlay_is_merged_into_the_exported_tables() {
    let overlay = "version = \"next\"\n[[remove]]\nid = \"relay.401.bad-footer\"\n[profile]\nrelay.path = \"/verify\"\n";
    let folder = Folder::new().with("changes.toml", overlay);
    let exported = folder.seen(&["spec", "export", "tables", "my tables", "--spec", "changes.toml"]);
    check("spec_export_overlay", &exported);
    for id in ["relay.401.bad-footer", "relay.path"] {
        let shown = |spec: &str| {
            let output = folder.run(&["spec", "show", id, "--spec", spec]);
            (output.status.code(), output.stdout)
        };
        assert_eq!(shown("my tables"), shown("changes.toml"));
    }
}

/// An endpoint that no built-in version has is an operation as well.
#[test]
fn openapi_has_an_added_endpoint() {
    let overlay = "[[add]]\nid = \"endpoint.edge.ready\"\nsection = \"4\"\nparty = \"edge\"\nmethods = [\"GET\"]\n\
                   path = \"/ready\"\ncondition = \"The edge is ready.\"\n";
    let folder = Folder::new().with("next.toml", overlay);
    let document: Value =
        serde_json::from_str(&stdout(&folder, &["spec", "export", "openapi", "--spec", "next.toml"]))
            .unwrap();
    assert_eq!(document["paths"]["/ready"]["get"]["summary"], "The edge is ready.");
}

#[test]
fn folder_that_is_in_use_stays_unchanged() {
    let folder = Folder::new().with("file", "text");
    fs::create_dir(folder.0.path().join("full")).unwrap();
    fs::write(folder.0.path().join("full/notes.txt"), "mine").unwrap();
    fs::create_dir(folder.0.path().join("empty")).unwrap();
    let before = folder.files();
    let refused = ["full", "file", "nowhere/tables", "."].map(|dir| {
        let seen = folder.seen(&["spec", "export", "tables", dir]);
        assert!(seen.contains("exit 2"), "{seen}");
        seen
    });
    let inside = Folder::new().seen(&["spec", "export", "tables", "."]);
    check("spec_export_refused", &[refused.join("\n"), inside].join("\n"));
    assert_eq!(folder.files(), before);
    assert_eq!(folder.read("full/notes.txt"), "mine");
    stdout(&folder, &["spec", "export", "tables", "empty"]);
    assert_eq!(fs::read_dir(folder.0.path().join("empty")).unwrap().count(), interface_files().count());
}

#[rstest]
fn openapi_has_an_example_for_each_answer(#[values(Version::Current, Version::PreSeal)] version: Version) {
    let text = stdout(&Folder::new(), &["spec", "export", "openapi", "--spec", version.name()]);
    let document: Value = serde_json::from_str(&text).unwrap();
    let mut named = BTreeSet::new();
    for (_, _, operation) in operations(&document) {
        for response in operation["responses"].as_object().unwrap().values() {
            named.extend(response["x-rows"].as_array().unwrap().iter().map(|id| id.as_str().unwrap()));
        }
    }
    let spec = Spec::builtin(version);
    let answers = spec.rows().iter().filter(|row| row.status().is_some() || row.body().is_some());
    let missing: Vec<_> = answers.map(|row| row.id.as_str()).filter(|id| !named.contains(id)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn openapi_is_derived_from_rows() {
    let text = stdout(&Folder::new(), &["spec", "export", "openapi"]);
    let document: Value = serde_json::from_str(&text).unwrap();
    let mut outline = String::new();
    for (path, method, operation) in operations(&document) {
        let statuses: Vec<_> = operation["responses"].as_object().unwrap().keys().cloned().collect();
        _ = writeln!(outline, "{method} {path} {} {}", operation["security"], statuses.join(" "));
    }
    let conflict = &document["paths"]["/v1/signals"]["post"]["responses"]["409"];
    let parameters = &document["paths"]["/v1/verdict/{sessionRef}"]["get"]["parameters"];
    let schemes = &document["components"]["securitySchemes"];
    let shown = [conflict, parameters, schemes].map(|value| serde_json::to_string_pretty(value).unwrap());
    check("spec_export_openapi", &format!("{outline}\n{}", shown.join("\n")));
}

#[rstest]
#[case::without_preflight("endpoints.toml", r#"["POST", "OPTIONS"]"#, r#"["POST"]"#, json!(["/v1/signals post"]))]
#[case::two_parties_at_one_path(
    "profile.toml",
    "\"/v1/relay\"",
    "\"/v1/signals\"",
    json!(["/v1/signals options", "/v1/signals post", "/v1/signals#relay post"])
)]
fn openapi_follows_edited_tables(
    #[case] file: &str,
    #[case] old: &str,
    #[case] new: &str,
    #[case] expected: Value,
) {
    let folder = Folder::new();
    stdout(&folder, &["spec", "export", "tables", "mine"]);
    crate::versions::edit(&folder.0.path().join("mine"), file, old, new);
    let text = stdout(&folder, &["spec", "export", "openapi", "--spec", "mine"]);
    let document: Value = serde_json::from_str(&text).unwrap();
    let signals = operations(&document).filter(|(path, _, _)| path.starts_with("/v1/signals"));
    let mut found: Vec<_> = signals.map(|(path, method, _)| format!("{path} {method}")).collect();
    found.sort();
    assert_eq!(json!(found), expected);
}

/// The status and the schema of what an edge answers, by an overlay.
#[test]
fn openapi_has_the_own_status_of_a_row() {
    let overlay = "[[change]]\nid = \"edge.refused\"\nstatus = 422\n[[change]]\nid = \"edge.preflight\"\nstatus = 200\n";
    let folder = Folder::new().with("next.toml", overlay);
    let text = stdout(&folder, &["spec", "export", "openapi", "--spec", "next.toml"]);
    let document: Value = serde_json::from_str(&text).unwrap();
    let [post, preflight] =
        ["post", "options"].map(|method| &document["paths"]["/v1/signals"][method]["responses"]);

    let refused = &post["422"];
    let rows = refused["x-rows"].as_array().unwrap();
    assert!(rows.contains(&json!("edge.refused")) && rows.contains(&json!("relay.409.replayed-bundle")));
    let content = &refused["content"]["application/json"];
    let replayed = json!({"error": "service_rejected", "reason": "replayed_bundle", "status": 409});
    assert_eq!(content["examples"]["relay.409.replayed-bundle"]["value"], replayed);
    assert_eq!(content["schema"]["properties"]["status"], json!({ "type": "integer" }));
    assert!(!text.contains("<reason>") && !text.contains("<status>"));

    assert_eq!(preflight.as_object().unwrap().keys().collect::<Vec<_>>(), ["200"]);
    assert_eq!(preflight["200"]["headers"]["Access-Control-Allow-Origin"]["required"], true);
    assert_eq!(post["200"]["x-rows"], json!(["edge.200.accepted"]));
}

#[rstest]
#[case::must("post", "409", "Access-Control-Allow-Origin", json!(true))]
#[case::should("post", "405", "Access-Control-Allow-Origin", json!(false))]
#[case::on_405("post", "405", "Allow", json!(false))]
#[case::elsewhere("post", "409", "Allow", Value::Null)]
fn openapi_has_the_headers_of_rows(
    #[case] method: &str,
    #[case] status: &str,
    #[case] name: &str,
    #[case] expected: Value,
) {
    let text = stdout(&Folder::new(), &["spec", "export", "openapi"]);
    let document: Value = serde_json::from_str(&text).unwrap();
    let response = &document["paths"]["/v1/signals"][method]["responses"][status];
    assert_eq!(response["headers"][name]["required"], expected);
}

/// An overlay may remove a row that the base's own model of variation names.
#[test]
fn base_with_a_model_of_its_own_is_merged_with_an_overlay() {
    let overlay = "base = \"base\"\n[[remove]]\nid = \"edge.refused.unknown\"\n";
    let folder = Folder::new().with("next.toml", overlay);
    stdout(&folder, &["spec", "export", "tables", "base"]);
    let model = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/spec/variation.toml");
    fs::write(
        folder.0.path().join("base/variation.toml"),
        format!("# ours\n{}", fs::read_to_string(model).unwrap()),
    )
    .unwrap();
    stdout(&folder, &["spec", "export", "tables", "merged", "--spec", "next.toml"]);
    assert!(folder.read("merged/variation.toml").contains("statement.body-unchanged"));
    assert!(!folder.read("merged/variation.toml").contains("\"edge.refused.unknown\""));
    let cases = |spec: &str| stdout(&folder, &["conformance", "--list", "--spec", spec]);
    assert_eq!(cases("merged"), cases("next.toml"));
}

#[rstest]
#[case::markdown("markdown", "\n- mutants: ")]
#[case::page("html", "<dt>mutants</dt><dd>")]
fn document_counts_the_mutants_of_a_row(#[case] form: &str, #[case] mutants: &str) {
    let folder = REPORTS.folder().with("mutants.json", &matrix(Spec::current().digest()));
    let shown = stdout(&folder, &["spec", "export", form, "--matrix", "mutants.json"]);
    let (_, entry) = shown.split_once("relay.409.replayed-bundle").unwrap();
    let (_, counts) = entry.split_once(mutants).unwrap();
    assert!(counts.starts_with("1 of 3 killed, 1 noticed"), "{}", counts.lines().next().unwrap());
    assert!(!stdout(&folder, &["spec", "export", form]).contains(mutants));
}

#[test]
fn markdown_lists_rows_by_section_with_their_outcomes() {
    let folder = REPORTS.folder();
    let without = stdout(&folder, &["spec", "export", "markdown"]);
    let with = stdout(&folder, &["spec", "export", "markdown", "edge.json", "service.json"]);
    assert_eq!(without.matches("\n### ").count(), Spec::current().rows().len());
    assert_eq!(with.matches("\n- outcome: ").count(), Spec::current().rows().len());
    let ids = ["relay.401.bad-signature", "relay.409.replayed-bundle", "keys.etag", "limit.service-port"];
    let entry = |id: &str| {
        let (_, after) = with.split_once(&format!("\n### `{id}`")).unwrap();
        format!("### `{id}`{}", after.split("\n#").next().unwrap())
    };
    let head = with.lines().take(2).collect::<Vec<_>>().join("\n");
    check("spec_export_markdown", &format!("{head}\n{}", ids.map(entry).join("\n")));
}

#[test]
fn html_is_one_well_formed_page_without_network() {
    let folder = REPORTS.folder();
    let page = stdout(&folder, &["spec", "export", "html", "edge.json", "service.json"]);
    let mut reader = Reader::from_str(&page);
    reader.config_mut().check_end_names = true;
    let mut articles = 0;
    loop {
        match reader.read_event().unwrap() {
            Event::Eof => break,
            Event::Start(tag) if tag.name().as_ref() == b"article" => articles += 1,
            Event::Start(tag) | Event::Empty(tag) => {
                assert!(!matches!(tag.name().as_ref(), b"script" | b"img" | b"link" | b"iframe"), "{tag:?}");
            }
            _ => {}
        }
    }
    assert_eq!(articles, Spec::current().rows().len());
    assert!(!page.contains("url("));
    let (_, article) = page.split_once("<article id=\"relay.409.replayed-bundle\"").unwrap();
    check("spec_export_html", article.split_once("</article>").unwrap().0);
}

/// Path, method and operation.
fn operations(document: &Value) -> impl Iterator<Item = (&String, &String, &Value)> {
    let paths = document["paths"].as_object().unwrap().iter();
    paths.flat_map(|(path, item)| {
        item.as_object().unwrap().iter().map(move |(method, operation)| (path, method, operation))
    })
}
