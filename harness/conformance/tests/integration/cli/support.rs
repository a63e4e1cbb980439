//! Runs the program in a folder and compares its output with snapshots.

use std::fmt::Write as _;
use std::fs;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

use crate::limited;
use crate::tested_program;

/// Text that differs between runs, and its replacement.
pub(crate) const VARIES: &[(&str, &str)] = &[
    (r"seed \d+", "seed N"),
    (r"[\d,]+ exchanges in [\d.]+ s", "N exchanges in N s"),
    (r" · edge-added latency p50 [^)]*\)", ""),
    (r"\b[0-9a-f]{12} · ", "DIGEST · "),
    (r"(127\.0\.0\.1|localhost|(?:edge|shop)\.test):\d+", "$1:PORT"),
    (r"\bq000[0-9b-z]{4}\b", "MARKER"),
    (r"\[(license|read-token|key)( [a-z ]+)? [0-9a-f]{6}", "[$1$2 DIGITS"),
    (r"(?m)^(\s*< )date: .*$", "${1}date: DATE"),
    (r"/[^\s=]*/\.edgeproof-\w+/", "CREDENTIALS/"),
    (r"\(os error \d+\)", "(os error N)"),
    (r"/[\w./-]*/edgeproof (conformance|serve)", "edgeproof $1"),
    (r"/[\w./-]*/deps/integration-[0-9a-f]+", "PROGRAM"),
    // Log lines arrive at any time. Other tests wait for them.
    (r"(?m)^ *\| refused status=.*\n", ""),
    // Output of the test harness in which the launched program runs.
    (r"(?m)^ *\|\n *\| running 1 test\n", ""),
    (r"(?m)^ *\| running 1 test\n", ""),
];

/// A temporary working folder.
pub(crate) struct Folder(pub(crate) TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn with(self, name: &str, text: &str) -> Self {
        fs::write(self.0.path().join(name), text).unwrap();
        self
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.0.path().join(name)).unwrap()
    }

    /// Loads a JSON report.
    pub(crate) fn report(&self, name: &str) -> edgeproof_reports::Report {
        edgeproof_reports::Report::load(&self.0.path().join(name)).unwrap()
    }

    /// All files but the last run, which every run of a target keeps.
    pub(crate) fn files(&self) -> Vec<String> {
        let files = fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<_> = files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
        names.retain(|name| name != ".edgeproof");
        names.sort();
        names
    }

    /// The program in this folder, without environment variables that change its output.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = tested_program::edgeproof();
        command.args(args).current_dir(self.0.path()).stdin(Stdio::null());
        for name in
            ["NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "GITHUB_STEP_SUMMARY", "COLUMNS", "RUST_BACKTRACE"]
        {
            command.env_remove(name);
        }
        command.env("TERM", "xterm");
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Output {
        limited::output(&mut self.command(args))
    }

    /// Runs the program. Yields command, exit code and both outputs.
    pub(crate) fn seen(&self, args: &[&str]) -> String {
        seen(args, &self.run(args))
    }
}

pub(crate) fn seen(args: &[&str], output: &Output) -> String {
    let mut text =
        format!("$ edgeproof {}\nexit {}\n", shell_words::join(args), output.status.code().unwrap());
    for (name, bytes) in [("stdout", &output.stdout), ("stderr", &output.stderr)] {
        if !bytes.is_empty() {
            let shown = String::from_utf8(bytes.clone()).unwrap().replace('\x1b', "␛");
            let _ = write!(text, "--- {name}\n{shown}");
        }
    }
    text
}

/// Compares with a snapshot, without varying text.
#[track_caller]
pub(crate) fn check(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    for (varies, shown) in VARIES {
        settings.add_filter(varies, *shown);
    }
    settings.set_prepend_module_to_snapshot(false);
    settings.bind(|| insta::assert_snapshot!(name, text));
}
