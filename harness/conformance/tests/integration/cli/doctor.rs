//! `edgeproof doctor`: what is missing around a run, and what to do.

use std::fs;
use std::net::TcpListener;
use std::process::Command;

use rstest::rstest;

use super::support::{Folder, check, seen};
use crate::held_port::HeldPort;
use crate::limited;

const PROGRAM: &str = env!("CARGO_BIN_EXE_edgeproof");

/// Runs it. Yields its output without the lines that depend on the machine.
fn doctor(folder: &Folder, args: &[&str]) -> String {
    let args = [&["doctor"], args].concat();
    let text = shown(&args, folder.command(&args).env("CHROME", "/no/such/browser"));
    text.split_inclusive('\n').filter(|line| !line.contains(" open files ")).collect()
}

fn shown(args: &[&str], command: &mut Command) -> String {
    let text = seen(args, &limited::output(command)).replace(PROGRAM, "edgeproof");
    let varies = |line: &&str| {
        let about = line.split_whitespace().nth(1);
        let is_finding = ["ok ", "note ", "problem "].iter().any(|state| line.starts_with(state));
        is_finding && about.is_some_and(|about| ["clock", "machine"].contains(&about))
    };
    text.split_inclusive('\n').filter(|line| !varies(&line.trim_end())).collect()
}

#[test]
fn right_edge_has_no_problem() {
    let folder = Folder::new()
        .with("edgeproof.toml", &format!("launch = \"{PROGRAM} edge\"\nreports = {{ json = \"r.json\" }}\n"));
    check("doctor_right_edge", &doctor(&folder, &[]));
    assert_eq!(folder.files(), ["edgeproof.toml"]);
}

#[test]
fn machine_is_checked_without_an_edge() {
    check("doctor_without_an_edge", &doctor(&Folder::new(), &[]));
}

#[test]
fn edge_that_does_not_start_is_found() {
    let folder = Folder::new();
    let texts = [
        doctor(&folder, &["--launch", "sh -c 'echo no port for me; exit 3'"]),
        doctor(&folder, &["--launch", "sleep 600", "--ready-timeout", "200ms"]),
        doctor(&folder, &["--url", "http://127.0.0.1:9"]),
    ];
    check("doctor_start", &texts.join("\n"));
}

/// Only Linux tells what a program listens on.
#[cfg(target_os = "linux")]
#[test]
fn edge_that_listens_elsewhere_is_found() {
    let port = HeldPort::new();
    let launch = format!("{PROGRAM} edge --listen 127.0.0.1:{}", port.number());
    drop(port);
    let text = doctor(&Folder::new(), &["--launch", &launch, "--ready-timeout", "2s"]);
    check("doctor_other_port", &text);
}

#[test]
fn setting_that_the_edge_does_not_use_is_found() {
    let without = ["LICENSE", "EDGE_CLIENT_CERT_FILE", "ALLOWED_ORIGIN", "SERVICE_CA_FILE"].map(|name| {
        let launch = format!("env -u {name} {PROGRAM} edge");
        doctor(&Folder::new(), &["--launch", &launch])
    });
    check("doctor_settings", &without.join("\n"));
}

#[test]
fn settings_of_a_running_edge_are_checked() {
    let folder = Folder::new();
    let port = TcpListener::bind("127.0.0.1:0").unwrap();
    let number = port.local_addr().unwrap().port().to_string();
    let minted = folder.run(&["mint", "edge-settings", "--out", "settings", "--service-port", &number]);
    assert_eq!(minted.status.code(), Some(0), "{minted:?}");
    let args = ["--url", "http://127.0.0.1:9", "--settings", "settings"];
    let taken = doctor(&folder, &args).replace(&number, "PORT");
    let store = folder.0.path().join("settings/service/credentials.json");
    fs::write(&store, &fs::read_to_string(&store).unwrap()[..100]).unwrap();
    let damaged = doctor(&folder, &args);
    let texts = [taken, damaged, doctor(&folder, &["--url", "http://127.0.0.1:9", "--settings", "none"])];
    let mut settings = insta::Settings::clone_current();
    settings.add_filter(r"valid until \S+", "valid until TIME");
    settings.bind(|| check("doctor_running_edge", &texts.join("\n")));
}

#[rstest]
#[case::it("doctor")]
// Without the files, it would blame a correct edge.
#[case::and_a_run_does_not_begin("conformance")]
fn low_limit_on_open_files_is_found(#[case] name: &str) {
    let args = [name, "--no-config"];
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -n 200 && exec \"$0\" \"$@\"", PROGRAM]).args(args).current_dir("/");
    let text = shown(&args, command.env("CHROME", "/no/such/browser"));
    check(&format!("{name}_open_files"), &text);
}

#[test]
fn wrong_input_exits_2() {
    let folder = Folder::new().with("edgeproof.toml", "lunch = \"node edge.mjs\"\n");
    let texts = [
        doctor(&folder, &[]),
        doctor(&folder, &["--no-config", "--launch", "no-such-program"]),
        doctor(&folder, &["--no-config", "--port-env", "X"]),
    ];
    check("doctor_wrong_input", &texts.join("\n"));
}

#[test]
fn help_names_the_exit_codes() {
    check("help_doctor", &Folder::new().seen(&["doctor", "--help"]));
}
