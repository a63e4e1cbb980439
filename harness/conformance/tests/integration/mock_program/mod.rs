//! `edgeproof mock` as a program: what it prints works, and it leaves no files behind.

mod page;
mod printed;
mod session;

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::LazyLock;
use std::time::Duration;

use edgeproof_http::{Answer, Draft, ServerAddress, send};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

use crate::limited::{self, Watchdog};
use crate::tested_program;

/// Time of one exchange.
const LIMIT: Duration = Duration::from_secs(60);

pub(crate) static GUIDE: LazyLock<String> = LazyLock::new(|| {
    fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/mock.md"))
        .expect("the repository has docs")
});

/// A mock service in its own process, killed at the end of the test.
pub(crate) struct Mock {
    child: Child,
    out: BufReader<ChildStdout>,
    temporary: TempDir,
    /// All reads end with the process.
    _watchdog: Watchdog,
}

impl Mock {
    pub(crate) fn start(args: &[&str]) -> Self {
        let temporary = TempDir::new().unwrap();
        let mut child = edgeproof(&["mock"])
            .args(args)
            .env("TMPDIR", temporary.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let watchdog = Watchdog::over(&child);
        let out = BufReader::new(child.stdout.take().unwrap());
        Self { child, out, temporary, _watchdog: watchdog }
    }

    /// Its output, up to the line that begins with `last`.
    pub(crate) fn printed(&mut self, last: &str) -> String {
        let mut text = String::new();
        while !text.lines().last().is_some_and(|line| line.starts_with(last)) {
            assert!(self.out.read_line(&mut text).unwrap() > 0, "the mock service exited: {text}");
        }
        text
    }

    pub(crate) fn ready(&mut self) -> Value {
        serde_json::from_str(&self.printed("{")).unwrap()
    }

    /// Stops it with SIGTERM. Yields its log.
    pub(crate) fn stop(mut self) -> String {
        kill_process(Pid::from_child(&self.child), Signal::TERM).unwrap();
        let mut log = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
        assert_eq!(self.child.wait().unwrap().code(), Some(0), "{log}");
        let mut rest = String::new();
        self.out.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "", "output after the ready block");
        assert_eq!(fs::read_dir(self.temporary.path()).unwrap().count(), 0, "files are left behind");
        log
    }
}

impl Drop for Mock {
    fn drop(&mut self) {
        // Fails if it was stopped already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The program with these arguments.
pub(crate) fn edgeproof(args: &[&str]) -> Command {
    let mut command = tested_program::edgeproof();
    command.args(args).env("NO_COLOR", "1");
    command
}

/// Sends a request with our own client. `ca`: the certificate authority of the server.
pub(crate) fn call(url: &str, ca: Option<&Path>, draft: &Draft) -> Answer {
    let url = url.parse().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let server = ServerAddress::resolve(&url, ca).await.unwrap();
        send(&server, draft, LIMIT).await.reply.unwrap()
    })
}

/// The JSON that a GET yields.
pub(crate) fn get(url: &str, path: &str) -> Value {
    let answer = call(url, None, &Draft::new("GET", path));
    assert_eq!(answer.status, 200, "{path}");
    serde_json::from_slice(&answer.body).unwrap()
}

/// A collection that `edgeproof mint` makes with these arguments.
pub(crate) fn minted(args: &[&str]) -> Vec<u8> {
    let output = limited::output(edgeproof(&["mint", "collection"]).args(args));
    assert!(output.status.success(), "{output:?}");
    output.stdout
}

pub(crate) fn path(value: &Value) -> PathBuf {
    value.as_str().unwrap().into()
}
