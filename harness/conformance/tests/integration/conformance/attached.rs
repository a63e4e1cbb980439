//! Attached edges, with and without the mock service behind them.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use edgeproof_reports::Outcome;

use super::support::{Folder, case, ids, problems};
use crate::broken_edge::command;
use crate::held_port::HeldPort;
use crate::limited::Watchdog;

/// An edge that a shell started.
struct ShellEdge {
    child: Child,
    url: String,
    _watchdog: Watchdog,
}

impl ShellEdge {
    /// Starts the edge like the output of `mint edge-settings` describes. `before`: shell text before the command.
    fn start(folder: &Folder, before: &str) -> Self {
        let line = format!("{before} exec {}", command("sound"));
        let mut shell = Command::new("sh");
        shell.args(["-c", &line]).current_dir(folder.path()).env_remove("PORT");
        let mut child = shell.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let watchdog = Watchdog::over(&child);
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let listening = lines.find_map(|line| line.unwrap().strip_prefix("listening on ").map(str::to_owned));
        // A full pipe would block the edge.
        std::thread::spawn(move || lines.for_each(drop));
        Self { url: format!("http://{}", listening.unwrap()), child, _watchdog: watchdog }
    }
}

impl Drop for ShellEdge {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

fn mint(folder: &Folder, port: u16) {
    let minted =
        folder.run(&["mint", "edge-settings", "--out", "settings", "--service-port", &port.to_string()]);
    assert!(minted.status.success(), "{minted:?}");
    let text = String::from_utf8(minted.stdout).unwrap();
    assert!(text.contains("set -a; . settings/edge/edge.env; set +a;"), "{text}");
}

const SETTINGS: &str = "set -a; . settings/edge/edge.env; set +a;";

#[test]
fn edge_with_minted_settings_conforms() {
    let folder = Folder::new();
    let port = HeldPort::new();
    mint(&folder, port.number());
    let edge = ShellEdge::start(&folder, SETTINGS);
    let report = folder.conform(&["--url", &edge.url, "--settings", "settings"]);
    assert_eq!(problems(&report), Vec::<String>::new());
    assert_eq!((report.exit_code, report.summary.not_run), (0, 0));
    // Only cases about other settings and the log do not apply.
    for id in ids(&report, &[Outcome::NotApplicable]) {
        let because = &case(&report, &id).because;
        assert!(["--launch", "https"].iter().any(|word| because.contains(word)), "{id}: {because}");
    }
    assert!(report.summary.pass > 150, "{:?}", report.summary);
}

const PINS: &str = r#"{"schema": "edgeproof.observations/1",
    "observations": [{"point": "method.options-plain", "saw": "something else"}]}"#;

/// The pinned point differs, so that the case fails.
#[test]
fn failure_shows_the_settings_of_the_folder() {
    let folder = Folder::new();
    let port = HeldPort::new();
    mint(&folder, port.number());
    let edge = ShellEdge::start(&folder, SETTINGS);
    let filter = ["--filter", "method.options-plain"];
    std::fs::write(folder.path().join("pins.json"), PINS).unwrap();
    let args = ["--url", &edge.url, "--settings", "settings", "--pin", "pins.json"];
    let report = folder.conform(&[&args[..], &filter].concat());
    let shown = &case(&report, "method.options-plain").edge.as_ref().unwrap().settings;
    let env = std::fs::read_to_string(folder.path().join("settings/edge/edge.env")).unwrap();
    let without_license = |line: &&str| !line.starts_with("LICENSE=");
    let expected: Vec<&str> = env.lines().filter(without_license).collect();
    let shown: Vec<&str> = shown.iter().map(String::as_str).filter(without_license).collect();
    assert_eq!(shown, expected);
}

#[test]
fn edge_of_another_service_exits_3_with_the_settings_to_change() {
    let folder = Folder::new();
    let (port, elsewhere) = (HeldPort::new(), HeldPort::new());
    mint(&folder, port.number());
    let edge = ShellEdge::start(
        &folder,
        &format!("{SETTINGS} SERVICE_URL=https://localhost:{}", elsewhere.number()),
    );
    let report = folder.conform(&["--url", &edge.url, "--settings", "settings"]);
    assert_eq!((report.exit_code, report.summary.pass), (3, 0));
    let [finding] = &report.findings[..] else { panic!("{:?}", report.findings) };
    for word in ["does not reach the mock service", "service_unreachable", "SERVICE_URL", "--no-service"] {
        assert!(finding.contains(word), "{finding}");
    }
}

#[test]
fn no_service_runs_only_cases_without_mock_service() {
    let folder = Folder::new();
    let edge = ShellEdge::start(
        &folder,
        "export SERVICE_URL=https://service.invalid ALLOWED_ORIGIN=https://shop.example;",
    );
    let args = ["--url", &edge.url, "--no-service"];
    let report = folder.conform(&args);
    assert_eq!((report.exit_code, problems(&report)), (0, Vec::new()));
    assert_eq!(ids(&report, &[Outcome::Pass]).iter().filter(|id| id.starts_with("cors.")).count(), 0);

    let report = folder.conform(&[&args[..], &["--origin", "https://shop.example"]].concat());
    assert_eq!((report.exit_code, problems(&report)), (0, Vec::new()));
    assert!(ids(&report, &[Outcome::Pass]).contains(&"cors.preflight".to_owned()));

    // Without the option nothing is proven.
    let report = folder.conform(&["--url", &edge.url]);
    assert_eq!(report.exit_code, 3);
    assert!(report.findings[0].contains("--no-service"), "{:?}", report.findings);
}

/// The text is valid PEM, but holds no certificate.
#[test]
fn invalid_ca_file_names_the_option_of_the_service() {
    let folder = Folder::new();
    let ca = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    std::fs::write(folder.path().join("ca.pem"), ca).unwrap();
    let report = folder.conform(&["service", "--base-url", "https://127.0.0.1:9", "--service-ca", "ca.pem"]);
    assert_eq!(report.exit_code, 3);
    let [finding] = &report.findings[..] else { panic!("{:?}", report.findings) };
    assert!(finding.starts_with("cannot read the CA file ca.pem: "), "{finding}");
    assert!(finding.contains("\n--service-ca takes a PEM file"), "{finding}");
}
