//! Runs the commands of a document in order, in a folder of its own, with the programs first in PATH.

use std::ffi::OsString;
use std::fs;
use std::io::{BufRead, BufReader, Read as _};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

use super::output::difference;
use super::rows;
use super::shown::{Block, inline_commands};
use crate::limited::{self, Watchdog};
use crate::mock_program::Mock;

/// Reports that the documents name, and the runs that write them.
const REPORTS: [(&str, &str); 8] = [
    ("edge.json", "edge --filter method.get"),
    ("https.json", "edge --edge-scheme https --filter http2.*"),
    ("service.json", "service --filter verdict.reference.plain"),
    ("keys.json", "keys --filter keys.shape"),
    ("old.json", "edge --filter method.get"),
    ("new.json", "edge --filter method.get"),
    ("a.json", "edge --filter method.get"),
    ("b.json", "edge --filter method.get"),
];

/// A run of all cases takes seconds. Commands without a filter and without a shown output get the filter of their part.
const FILTERS: [(&str, &str); 4] = [
    ("edgeproof conformance service", " --filter verdict.reference.plain"),
    ("edgeproof conformance keys", " --filter keys.shape"),
    ("edgeproof conformance collector", " --list"),
    ("edgeproof conformance", " --filter method.get"),
];

/// Commands that run until Ctrl-C, their output when they are ready, and their exit code.
const LASTING: [(&str, &str, i32); 2] =
    [("edgeproof mock", "The mock service is ready", 0), ("edgeproof serve", "Ctrl-C to end", 130)];

/// What stands in PATH for the `node` of the documents.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Node {
    /// The reference edge, whatever file it is given.
    Edge,
    /// Node itself, and the example edge as `edge.mjs`.
    Real,
}

/// The folder of a document.
pub(super) struct Place {
    folder: TempDir,
    programs: TempDir,
    mock: Option<(Mock, Value)>,
}

impl Place {
    pub(super) fn new(node: Node) -> Self {
        let (folder, programs) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        symlink(env!("CARGO_BIN_EXE_edgeproof"), programs.path().join("edgeproof")).unwrap();
        let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/examples/node/edge.mjs");
        if node == Node::Real {
            fs::copy(example, folder.path().join("edge.mjs")).unwrap();
        } else {
            let shim = programs.path().join("node");
            fs::write(&shim, "#!/bin/sh\nexec edgeproof edge\n").unwrap();
            fs::set_permissions(&shim, fs::Permissions::from_mode(0o755)).unwrap();
        }
        Self { folder, programs, mock: None }
    }

    /// Runs the commands of a document that no other test runs.
    pub(super) fn play(&mut self, document: &str, text: &str, blocks: &[Block]) {
        self.prepare(document, text, blocks);
        for block in blocks {
            if block.language == "js" && document_needs_node(document) {
                self.replace_line(&block.text);
            }
            let mut script = String::new();
            for (command, output, proof) in rows::proven(document, block) {
                if proof.is_some() {
                    continue;
                }
                let lasting = LASTING.iter().find(|(start, ..)| is_call(&command, start));
                if output.is_none() && lasting.is_none() {
                    script.push_str(&self.adapted(&shortened(&command)));
                    script.push('\n');
                    continue;
                }
                self.run(&script, "");
                script.clear();
                match lasting {
                    Some((_, ready, code)) => self.run_until(&self.adapted(&command), ready, *code),
                    None => self.run(&self.adapted(&command), &output.unwrap_or_default()),
                }
            }
            self.run(&script, "");
        }
        for command in inline_commands(text, "edgeproof") {
            self.run_inline(&command);
        }
    }

    fn run_inline(&self, command: &str) {
        if rows::is_mention(command) {
            return;
        }
        let adapted = self.adapted(&shortened(command));
        match LASTING.iter().find(|(start, ..)| is_call(command, start)) {
            Some((_, ready, code)) => self.run_until(&adapted, ready, *code),
            None => self.run(&adapted, ""),
        }
    }

    /// Writes the files that the document takes as given, and starts the mock service if it names one.
    fn prepare(&mut self, document: &str, text: &str, blocks: &[Block]) {
        for (name, run) in REPORTS.iter().filter(|(name, _)| text.contains(name)) {
            self.run(&format!("edgeproof conformance {run} --quiet --report json={name}"), "…");
        }
        let write = |name: &str, text: &str| {
            let path = self.folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        if text.contains("target/mutants.json") {
            write(
                "target/mutants.json",
                &crate::cli::matrix(edgeproof_fixtures::spec::Spec::current().digest()),
            );
        }
        if text.contains("packages/edgeproof-*") {
            self.run(PACKAGE, "");
        }
        for block in blocks.iter().filter(|block| block.language == "toml") {
            // A file names itself in its first line.
            let name = block.text.strip_prefix("# ").and_then(|rest| rest.lines().next());
            if let Some(name) =
                name.filter(|name| Path::new(name).extension().is_some_and(|ending| ending == "toml"))
            {
                write(name, &block.text);
            }
        }
        if ["127.0.0.1:8", ".example"].iter().any(|name| text.contains(name)) {
            let addresses =
                ["--listen", "--plain", "--edge", "--admin"].map(|option| [option, "127.0.0.1:0"]);
            let mut mock = Mock::start(&[addresses.as_flattened(), &["--json", "--quiet"]].concat());
            let ready = mock.ready();
            self.mock = Some((mock, ready));
        }
        if document == "docs/configuration.md" {
            let several = blocks.iter().find(|block| block.text.contains("[target.staging]")).unwrap();
            write("edgeproof.toml", &self.adapted(&several.text));
        }
    }

    /// The command with what this machine has in place of the document's addresses, ports and credentials.
    fn adapted(&self, command: &str) -> String {
        let mut text = command.to_owned();
        if is_call(&text, "edgeproof mock") && !text.contains("--health") && !text.contains("--listen") {
            text.push_str(" --listen 127.0.0.1:0");
        }
        if text.ends_with("--page --listen 127.0.0.1:0") {
            text = text.replace("--page", "--page 127.0.0.1:0");
        }
        let mut replaced = vec![
            ("READ_TOKEN=service_read_…", "READ_TOKEN=\"$MOCK_READ_TOKEN\"".to_owned()),
            ("0.0.0.0:8443", "127.0.0.1:0".to_owned()),
            ("0.0.0.0:8480", "127.0.0.1:0".to_owned()),
            ("--explore 500", "--explore 2 --filter explore.edge".to_owned()),
            (" collector.json", String::new()), // its run needs Chromium
        ];
        if let Some((_, ready)) = &self.mock {
            let at = |name: &str| ready[name].as_str().unwrap().to_owned();
            replaced.extend([
                ("http://127.0.0.1:8080/state", at("admin") + "/state"),
                ("http://127.0.0.1:8484", at("admin")),
                ("https://edge.staging.example", at("edge")),
                ("https://edge.example", at("edge")),
            ]);
            for service in [
                "http://127.0.0.1:8080",
                "http://127.0.0.1:8480",
                "https://service.example",
                "https://keys.example",
            ] {
                replaced.push((service, at("plain")));
            }
        }
        replaced.iter().fold(text, |text, (from, to)| text.replace(from, to))
    }

    /// A block of one line of code replaces the line of `edge.mjs` that begins alike.
    fn replace_line(&self, code: &str) {
        let file = self.folder.path().join("edge.mjs");
        let (start, _) = code.split_once('=').unwrap();
        let edge = fs::read_to_string(&file).unwrap();
        let lines = edge.lines().map(|line| {
            let is_it = line.trim_start().starts_with(start.trim_start());
            if is_it { code.trim_end() } else { line }
        });
        let changed = lines.collect::<Vec<_>>().join("\n") + "\n";
        assert_ne!(changed, edge, "edge.mjs has no other line that begins with {start}");
        fs::write(file, changed).unwrap();
    }

    fn shell(&self, script: &str) -> Command {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let paths = std::iter::once(self.programs.path().to_owned()).chain(std::env::split_paths(&path));
        let path: OsString = std::env::join_paths(paths).unwrap();
        let mut command = Command::new("sh");
        // What it starts ends with it.
        command.process_group(0);
        command.args(["-euc", script]).current_dir(self.folder.path()).env("PATH", path);
        for name in ["GITHUB_STEP_SUMMARY", "FORCE_COLOR", "CLICOLOR_FORCE", "COLUMNS", "READ_TOKEN"] {
            command.env_remove(name);
        }
        if let Some((_, ready)) = &self.mock {
            let token = ready["read_token"].as_str().unwrap();
            command.env("MOCK_READ_TOKEN", token).env("STAGING_READ_TOKEN", token);
        }
        command.env("NO_COLOR", "1");
        command
    }

    /// Runs a script to its end. `shown` is its output in the document, or nothing. The exit code is the one that it names.
    fn run(&self, script: &str, shown: &str) {
        let output = limited::output(&mut self.shell(script));
        let text = [&output.stdout[..], &output.stderr].concat();
        let text = String::from_utf8(text).unwrap();
        let named = shown.rsplit_once("(exit ").and_then(|(_, rest)| rest.split(')').next()?.parse().ok());
        assert_eq!(output.status.code(), Some(named.unwrap_or(0)), "{script}\n{text}");
        if !shown.is_empty()
            && let Some(why) = difference(shown, &text)
        {
            panic!("{script}\n{why}");
        }
    }

    /// Runs a command until it is ready, then ends it as Ctrl-C does.
    fn run_until(&self, command: &str, ready: &str, code: i32) {
        let mut child = self.shell(&format!("exec {command}"));
        let mut child =
            child.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let watchdog = Watchdog::over(&child);
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        let mut text = String::new();
        while !text.contains(ready) && lines.read_line(&mut text).unwrap() > 0 {}
        // Fails if it has ended, which the exit code shows.
        let _ = kill_process(Pid::from_child(&child), Signal::INT);
        lines.read_to_string(&mut text).unwrap();
        drop(watchdog);
        let output = limited::end(child);
        let text = text + &String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{command}\n{text}");
    }
}

/// A package for Linux, as `just dist` names it, with the program that the tests build.
const PACKAGE: &str = "\
mkdir -p packages edgeproof-0-x86_64-unknown-linux-gnu
ln -s \"$(command -v edgeproof)\" edgeproof-0-x86_64-unknown-linux-gnu/edgeproof
tar -czf packages/edgeproof-0-x86_64-unknown-linux-gnu.tar.gz edgeproof-0-x86_64-unknown-linux-gnu
rm -r edgeproof-0-x86_64-unknown-linux-gnu
(cd packages && sha256sum *.tar.gz > SHA256SUMS)";

/// Documents whose edge is the example in Node. Their code blocks change it.
pub(super) fn document_needs_node(document: &str) -> bool {
    ["docs/ten-minutes.md", "docs/failures.md"].contains(&document)
}

/// Whether a command calls this program and command, and not only to print something.
fn is_call(command: &str, start: &str) -> bool {
    let rest = command.strip_prefix(start);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
        && !command.split_whitespace().any(|word| ["--help", "--magic", "--health", "--list"].contains(&word))
}

fn shortened(command: &str) -> String {
    let is_whole = |command: &str| {
        !command
            .split_whitespace()
            .any(|word| ["--filter", "--list", "--explore", "--replay"].contains(&word))
    };
    let call = command.split(" #").next().unwrap_or(command).trim_end();
    let found = FILTERS.iter().find(|(start, _)| call.contains(start) && is_whole(call));
    found.map_or_else(|| command.to_owned(), |(_, filter)| format!("{call}{filter}"))
}
