//! Invalid commands exit 2 with advice before anything runs, and leave no files behind.

use std::net::TcpListener;

use super::spec_reports::report;
use super::support::{Folder, check};

/// One case, in case the run starts by mistake.
const ONE: &str = "accept.exact-body";

/// A saved sequence.
const EDGE_SEQUENCE: &str = "target = \"edge\"\n\n[[step]]\nevent = \"health\"\nconnection = 1\n";

fn folder() -> Folder {
    let passed = r#"{"schema":"edgeproof.report/1","tool":{"version":"0.1.0"},"spec":{"version":"current","digest":"0"},
        "target":{"kind":"embedded"},"started":"2026-01-01T00:00:00Z","duration_ms":1,"seed":1,"exit_code":0,
        "summary":{"planned":0,"pass":0,"fail":0,"warn":0,"known":0,"observed":0,"not_applicable":0,"not_run":0},
        "cases":[],"observations":[]}"#;
    let of_service = report(&[("verdict.replayed", "relay.409.replayed-bundle", "fail", "")], "0");
    Folder::new()
        .with("passed.json", passed)
        .with("of-service.json", &of_service)
        .with("not.json", "no report")
        .with("broken.toml", "\"paths.root\" = \"404\"\n\"paths.query\" = true\n")
        .with("no-point.toml", "# All lines are deleted.\n[paths]\n")
        .with("no-point.json", r#"{"schema": "edgeproof.observations/1", "observations": []}"#)
        .with("no-value.toml", "\"paths.root\" = \"404\"\n\"paths.query\" = []\n")
        .with("unknown.toml", "\"paths.root\" = \"404\"\n\"paths.qurey\" = \"200\"\n")
        .with("service.toml", "\"verdict.wait.huge\" = \"waits\"\n")
        .with("invented.toml", "\"weather.tomorrow\" = \"fair\"\n")
        .with("baseline.txt", "# known\nmethod.* until the next release\nmethod.get\n")
        .with("profile.toml", "relay.path = 17\nrelay.pth = \"/verify\"\n")
        .with("shape.json", "{\"code\": ")
        .with("edge.toml", EDGE_SEQUENCE)
        .with("edge (1).toml", EDGE_SEQUENCE)
        .with("row.toml", "target = \"edge\"\n\n[[step]]\nexchange = \"relay.401.revokd\"\n")
        .with("value.toml", &EDGE_SEQUENCE.replace("health", "helth"))
        .with("empty.toml", "target = \"edge\"\n")
        .with("unjudged.toml", &EDGE_SEQUENCE.replace("health", "service-reset"))
        .with("edge.mjs", "")
        .with("key.pem", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n")
}

#[track_caller]
fn refused(name: &str, commands: &[&[&str]]) {
    let folder = folder();
    let before = folder.files();
    let texts: Vec<String> = std::thread::scope(|scope| {
        let runs: Vec<_> = commands.iter().map(|args| scope.spawn(|| (folder.run(args), *args))).collect();
        let outputs = runs.into_iter().map(|run| run.join().unwrap());
        outputs
            .map(|(output, args)| {
                assert_eq!(output.status.code(), Some(2), "{args:?}");
                assert!(output.stdout.is_empty(), "{args:?} {output:?}");
                super::support::seen(args, &output)
            })
            .collect()
    });
    check(name, &texts.join("\n"));
    assert_eq!(folder.files(), before, "files are left behind");
}

#[test]
fn invalid_targets_exit_2() {
    refused(
        "invalid_targets",
        &[
            &["conformance", "--launch", "no-such-program --port 1"],
            &["conformance", "--launch", "./edge.mjs"],
            &["conformance", "--launch", "sh 'open"],
            &["conformance", "--url", "edge.example"],
            &["conformance", "--url", "https://edge.example/v1/signals"],
            &["conformance", "not a target"],
            &["conformance", "https://edge.example", "--url", "https://edge.example"],
            &["conformance", "--url", "https://edge.example", "--launch", "true"],
            &["conformance", "--settings", "nowhere", "--url", "http://127.0.0.1:9"],
            &["conformance", "--no-service"],
            &["conformance", "https://edge.example", "--no-service", "--origin", "shop.example"],
            &["conformance", "https://edge.example", "--no-service", "--origin", "https://shop.example/"],
            &["conformance", "https://edge.example", "--no-service", "--origin", "*"],
            &["conformance", "--launch", "true", "--origin", "https://shop.example"],
            &["conformance", "https://edge.example", "--origin", "https://shop.example"],
            &[
                "conformance",
                "https://edge.example",
                "--settings",
                "nowhere",
                "--origin",
                "https://shop.example",
            ],
            &["conformance", "service", "--origin", "https://shop.example"],
            &["conformance", "--launch", "true", "--port-env", "A B"],
            &["conformance", "--launch", "true", "--edge-ca", "no.pem"],
            &["conformance", "--launch", "true", "--edge-ca", "edge.mjs"],
            &["conformance", "--launch", "true", "--edge-ca", "not.json"],
            &["conformance", "--launch", "true", "--edge-ca", "key.pem"],
            &["conformance", "--edge-ca", "edge.mjs"],
            &["conformance", "--port-env", "LISTEN"],
            &["conformance", "--ready-timeout", "5s"],
            &["conformance", "https://edge.example", "--edge-scheme", "https"],
            &["conformance", "keys", "--keys-url", "https://keys.example", "--service-ca", "edge.mjs"],
        ],
    );
}

#[test]
fn invalid_selections_exit_2() {
    refused(
        "invalid_cases",
        &[
            &["conformance", "--filter", "nope.*"],
            &["conformance", "--filter", "refusal.unknwon.*"],
            &["conformance", "--filter", "realy.body.*"],
            &["conformance", "--filter", "relay.body.numbers"],
            &["conformance", "--exclude", "accept.exact-bdoy"],
            &["conformance", "--filter", "bad-signatrue"],
            &["conformance", "--hold", "accept.exact-bdy"],
            &["conformance", "--filter", "accept.["],
            &["conformance", "--exclude", "nope"],
            &["conformance", "--filter", ONE, "--exclude", "accept.*"],
            &["conformance", "--hold", "nope"],
            &["conformance", "--rerun-failed", "passed.json"],
            &["conformance", "--rerun-failed", "not.json"],
            &["conformance", "--rerun-failed", "missing.json"],
            &["conformance", "--rerun-failed", "of-service.json"],
            &["conformance", "--failed"],
            &["conformance", "service", "--failed"],
            &["conformance", "--launch", "true", "--failed", "--rerun-failed", "passed.json"],
        ],
    );
}

#[test]
fn invalid_files_exit_2() {
    refused(
        "invalid_files",
        &[
            &["conformance", "--baseline", "baseline.txt"],
            &["conformance", "--baseline", "missing.txt"],
            &["conformance", "--write-baseline", "baseline.txt"],
            &["conformance", "--write-baseline", "missing/known.txt"],
            &["conformance", "--write-baseline", "-"],
            &["conformance", "--profile", "profile.toml"],
            &["conformance", "--profile", "missing.toml"],
            &["conformance", "--reply-shape", "shape.json"],
            &["conformance", "--pin", "not.json"],
            &["conformance", "--pin", "broken.toml"],
            &["conformance", "--pin", "no-point.toml"],
            &["conformance", "--pin", "no-point.json"],
            &["conformance", "--pin", "no-value.toml"],
            &["conformance", "--pin", "unknown.toml"],
            &["conformance", "--pin", "service.toml"],
            &["conformance", "keys", "--pin", "invented.toml"],
            &["conformance", "--record", "missing/points.json"],
            &["conformance", "--record", "points.toml", "--filter", ONE],
        ],
    );
}

#[test]
fn invalid_sequences_exit_2() {
    refused(
        "invalid_sequences",
        &[
            &["conformance", "--save", "found"],
            &["conformance", "service", "--save", "found"],
            &["conformance", "keys", "--explore", "3"],
            &["conformance", "keys", "--replay", "edge.toml"],
            &["conformance", "--explore", "many"],
            &["conformance", "--explore", "3", "--save", "edge.mjs"],
            &["conformance", "--replay", "missing.toml"],
            &["conformance", "--replay", "not.json"],
            &["conformance", "--replay", "row.toml"],
            &["conformance", "--replay", "value.toml"],
            &["conformance", "--replay", "empty.toml"],
            &["conformance", "--replay", "unjudged.toml"],
            &["conformance", "service", "--replay", "edge.toml"],
            &["conformance", "--replay", "edge.toml", "--replay", "./edge.toml"],
            &["conformance", "--replay", "edge (1).toml"],
        ],
    );
}

#[test]
fn invalid_report_options_exit_2() {
    refused(
        "invalid_reports",
        &[
            &["conformance", "--filter", ONE, "--report", "xml=r.xml"],
            &["conformance", "--filter", ONE, "--report", "r.json"],
            &["conformance", "--filter", ONE, "--report", "json="],
            &["conformance", "--filter", ONE, "--report", "json=r.json", "xml=r.xml"],
            &["conformance", "--filter", ONE, "--report", "json=-", "html=-"],
            &["conformance", "--filter", ONE, "--report", "json=-", "--github"],
            &["conformance", "--filter", ONE, "--report", "json=missing/r.json"],
            &["conformance", "--filter", ONE, "--report", "json=."],
            &["conformance", "--filter", ONE, "--report", "json=r", "--report", "html=r"],
            &["conformance", "--filter", ONE, "--report", "json=r", "--report", "html=./r"],
            &[
                "conformance",
                "--filter",
                ONE,
                "--report",
                "json=good.json",
                "--report",
                "html=missing/r.html",
            ],
        ],
    );
}

#[test]
fn invalid_values_exit_2() {
    refused(
        "invalid_arguments",
        &[
            &["conformance", "--jobs", "0"],
            &["conformance", "--case-timeout", "soon"],
            &["conformance", "--case-timeout", "0s"],
            &["conformance", "--spec", "future"],
            &["conformance", "--no-such-option"],
            &["no-such-command"],
        ],
    );
}

/// The port of the mock service is checked before anything runs.
#[test]
fn invalid_mock_arguments_exit_2() {
    refused(
        "invalid_mock",
        &[
            &["mock", "--page", "0.0.0.0:0"],
            &["mock", "--page", "localhost:port"],
            &["mock", "--page", "--magic"],
            &["mock", "--admin-host", "mock.test"],
        ],
    );
}

#[test]
fn mock_help_lists_addresses_and_output() {
    check("help_mock", &Folder::new().seen(&["mock", "--help"]));
}

#[test]
fn port_in_use_exits_2() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let folder = Folder::new();
    let minted = folder.run(&["mint", "edge-settings", "--out", "settings", "--service-port", &port]);
    assert!(minted.status.success(), "{minted:?}");
    let args =
        ["conformance", "--url", "http://127.0.0.1:9", "--settings", "settings", "--report", "json=r.json"];
    check("invalid_port_in_use", &folder.seen(&args));
    assert_eq!(folder.files(), ["settings"]);
}
