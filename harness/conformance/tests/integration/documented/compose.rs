//! The compose file of the examples: its commands run as processes, with other ports and folders.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use edgeproof_http::{Body, Draft};
use serde_json::Value;
use tempfile::TempDir;

use crate::held_port::HeldPort;
use crate::limited::{self, Watchdog};
use crate::mock_program::{GUIDE, call};

const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/examples");

/// The reference edge stands for the edge in Node: the file starts either with the same command.
#[test]
fn commands_of_the_file_run_as_processes() {
    play(|programs| {
        let shim = programs.join("node");
        fs::write(&shim, "#!/bin/sh\nexec edgeproof edge\n").unwrap();
        fs::set_permissions(&shim, fs::Permissions::from_mode(0o755)).unwrap();
    });
}

#[test]
#[ignore = "needs Node: just test-browser"]
fn commands_of_the_file_run_with_the_edge_in_node() {
    play(|_| {});
}

#[test]
fn entries_have_their_path() {
    let file = ComposeFile::parse("a:\n  b: c\n  d:\n    e: [\"f\", \"g h\"]\ni: \"j\"\n");
    let expected = [("a.b", "c"), ("a.d.e", "[\"f\", \"g h\"]"), ("i", "\"j\"")];
    assert_eq!(file.0, expected.map(|(path, value)| (path.to_owned(), value.to_owned())).into());
}

#[test]
#[should_panic(expected = "no mapping:   - b")]
fn list_in_lines_is_an_error() {
    ComposeFile::parse("a:\n  - b\n");
}

/// Starts what the file starts, in its order, and goes the way of a page and its backend.
fn play(add_programs: impl Fn(&Path)) {
    let machine = Machine::new();
    add_programs(machine.programs.path());
    let file = ComposeFile::read();
    let settings = limited::output(&mut machine.command(&file, "settings"));
    assert!(settings.status.success(), "{settings:?}");

    let mut mock = Running::start(machine.command(&file, "mock"));
    mock.until("The mock service is ready");
    let health = file.list("services.mock.healthcheck.test");
    let [kind, words @ ..] = &health[..] else { panic!("no health check: {health:?}") };
    assert_eq!(kind, "CMD");
    let health = limited::output(&mut machine.process(words));
    assert!(health.status.success(), "{health:?}");
    let mut edge = Running::start(machine.command(&file, "edge"));
    let url = edge.until("edge listening on ");
    let url = url.trim_end().rsplit(' ').next().unwrap();

    // The commands of the document go through the engine into the container of the mock service.
    let inside = "docker compose exec mock ";
    let token = GUIDE.lines().find_map(|line| line.strip_prefix(inside)?.split(" >").next()).unwrap();
    let words = shell_words::split(token).unwrap();
    let token = limited::output(&mut machine.process(&words));
    let token = String::from_utf8(token.stdout).unwrap();

    let collection =
        ["edgeproof", "mint", "collection", "--settings", "settings", "--session-ref", "order 4711"];
    let body = limited::output(&mut machine.process(&collection.map(str::to_owned))).stdout;
    let origin = "https://shop.example";
    let post = Draft::new("POST", "/v1/signals").header("Origin", origin).body(Body::Sized(body.into()));
    let answer = call(url, None, &post);
    assert_eq!((answer.status, &answer.body[..]), (200, &br#"{"ok":true}"#[..]));
    let poll = Draft::new("GET", "/v1/verdict/order%204711?waitMs=5000");
    let poll = poll.header("Authorization", &format!("Bearer {}", token.trim_end()));
    let [plain, admin] = ["8480", "8484"].map(|port| machine.adapted(&format!("http://127.0.0.1:{port}")));
    let verdict: Value = serde_json::from_slice(&call(&plain, None, &poll).body).unwrap();
    assert_eq!(verdict["decision"], "allow");
    assert_eq!(call(&admin, None, &Draft::new("GET", "/journal")).status, 200);
}

/// Entries of the file, by their path: block mappings of one-line values. Another form is an error.
#[derive(Debug)]
struct ComposeFile(BTreeMap<String, String>);

impl ComposeFile {
    fn read() -> Self {
        Self::parse(&fs::read_to_string(Path::new(EXAMPLES).join("compose.yaml")).unwrap())
    }

    fn parse(text: &str) -> Self {
        let (mut entries, mut above) = (BTreeMap::new(), Vec::<&str>::new());
        for line in text.lines().filter(|line| !line.trim_start().starts_with('#')) {
            let name = line.trim_start();
            let (key, value) = name.split_once(':').unwrap_or_else(|| panic!("no mapping: {line}"));
            assert!(
                !key.starts_with('-') && !value.contains(['&', '|', '>']) || value.contains('"'),
                "{line}"
            );
            above.truncate((line.len() - name.len()) / 2);
            above.push(key);
            if !value.trim().is_empty() {
                entries.insert(above.join("."), value.trim().to_owned());
            }
        }
        Self(entries)
    }

    /// A list in brackets, which is JSON too.
    fn list(&self, path: &str) -> Vec<String> {
        serde_json::from_str(&self.0[path]).unwrap_or_else(|why| panic!("{path}: {why}"))
    }

    fn environment(&self, service: &str) -> Vec<(&str, &str)> {
        let start = format!("services.{service}.environment.");
        let entries = self.0.iter();
        entries
            .filter_map(|(path, value)| Some((path.strip_prefix(&start)?, value.trim_matches('"'))))
            .collect()
    }
}

/// What the processes have in place of containers: a folder for their volume, programs and ports.
struct Machine {
    volume: TempDir,
    programs: TempDir,
    /// Each port of the file, and the one that stands for it.
    ports: Vec<(&'static str, HeldPort)>,
}

impl Machine {
    fn new() -> Self {
        let programs = TempDir::new().unwrap();
        symlink(env!("CARGO_BIN_EXE_edgeproof"), programs.path().join("edgeproof")).unwrap();
        let ports = ["8443", "8480", "8484"].map(|port| (port, HeldPort::new())).into();
        Self { volume: TempDir::new().unwrap(), programs, ports }
    }

    /// The command of a service. The image of edgeproof begins it with the program.
    fn command(&self, file: &ComposeFile, service: &str) -> Command {
        let is_ours = file.0[&format!("services.{service}.image")] == "edgeproof";
        let mut words = file.list(&format!("services.{service}.command"));
        if is_ours {
            words.insert(0, "edgeproof".to_owned());
        }
        let mut command = self.process(&words);
        if !is_ours {
            command.current_dir(Path::new(EXAMPLES).join("node"));
        }
        for (name, value) in file.environment(service) {
            // The edge prints its port.
            command.env(name, if name == "PORT" { "0".to_owned() } else { self.adapted(value) });
        }
        command
    }

    /// A process in the folder that stands for the volume.
    fn process(&self, words: &[String]) -> Command {
        let mut words: Vec<_> = words.iter().map(|word| self.adapted(word)).collect();
        if let Some(at) = words.iter().position(|word| word == "--service-host") {
            "localhost".clone_into(&mut words[at + 1]);
        }
        // The shell finds programs in PATH; `Command` would search that of this process.
        let mut command = Command::new("sh");
        let path = std::env::var_os("PATH").unwrap_or_default();
        let paths: Vec<PathBuf> =
            std::iter::once(self.programs.path().to_owned()).chain(std::env::split_paths(&path)).collect();
        command.args(["-c", "exec \"$@\"", "sh"]).args(words).current_dir(self.volume.path());
        command.env("PATH", std::env::join_paths(paths).unwrap());
        command
    }

    fn adapted(&self, text: &str) -> String {
        let volume = self.volume.path().to_str().unwrap();
        let text = text.replace("/work", volume).replace("0.0.0.0", "127.0.0.1");
        self.ports.iter().fold(text, |text, (port, held)| text.replace(port, &held.number().to_string()))
    }
}

/// A process that is killed at the end of the test.
struct Running {
    child: Child,
    lines: BufReader<ChildStdout>,
    _watchdog: Watchdog,
}

impl Running {
    fn start(mut command: Command) -> Self {
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        let watchdog = Watchdog::over(&child);
        Self { child, lines, _watchdog: watchdog }
    }

    /// Reads up to the line with this text.
    fn until(&mut self, text: &str) -> String {
        loop {
            let mut line = String::new();
            assert_ne!(self.lines.read_line(&mut line).unwrap(), 0, "it ended without {text:?}");
            if line.contains(text) {
                return line;
            }
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Fails if it has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
