//! `edgeproof serve`: one case by hand.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::Duration;

use rstest::rstest;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use super::support::{Folder, check};
use crate::broken_edge::command;
use crate::limited::Watchdog;

/// A running `edgeproof serve`.
struct Serving {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    /// Everything that it printed.
    text: String,
    credentials: TempDir,
    /// All reads end with the process.
    _watchdog: Watchdog,
}

impl Serving {
    /// Starts it and waits until it is ready.
    fn start(args: &[&str]) -> Self {
        let credentials = tempfile::tempdir().unwrap();
        let mut command = Folder::new().command(&[&["serve"], args].concat());
        // The working folder is gone by now.
        command.current_dir(credentials.path().parent().unwrap()).env("TMPDIR", credentials.path());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = command.spawn().unwrap();
        let watchdog = Watchdog::over(&child);
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut serving =
            Self { child, input, output, text: String::new(), credentials, _watchdog: watchdog };
        serving.until("Ctrl-C to end");
        serving
    }

    /// Reads up to the line with this text.
    fn until(&mut self, text: &str) {
        loop {
            let mut line = String::new();
            assert_ne!(self.output.read_line(&mut line).unwrap(), 0, "no {text:?} in: {}", self.text);
            self.text.push_str(&line);
            if line.contains(text) {
                return;
            }
        }
    }

    /// Posts a body to the edge, as curl does. Yields the answer.
    fn post(&self, body: &str) -> String {
        let edge = self.text.lines().find_map(|line| line.strip_prefix("edge: http://")).unwrap();
        let mut stream = TcpStream::connect(edge.split(['/', ',']).next().unwrap()).unwrap();
        let head =
            "POST /v1/signals HTTP/1.1\r\nHost: x\r\nOrigin: https://shop.example\r\nConnection: close\r\n";
        write!(stream, "{head}Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    /// The body in the printed command.
    fn body(&self) -> String {
        let line = self.text.lines().find(|line| line.trim_start().starts_with("curl ")).unwrap();
        let words = shell_words::split(line).unwrap();
        let at = words.iter().position(|word| word == "--data-binary").unwrap();
        words[at + 1].clone()
    }

    /// Ends it by a signal. Yields the exit code and its whole output.
    fn end(mut self, signal: Signal) -> (i32, String) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
        self.wait()
    }

    fn wait(&mut self) -> (i32, String) {
        self.output.read_to_string(&mut self.text).unwrap();
        let code = self.child.wait().unwrap().code().unwrap();
        let left = std::fs::read_dir(self.credentials.path()).unwrap().count();
        assert_eq!(left, 0, "credentials are left behind");
        (code, std::mem::take(&mut self.text))
    }
}

#[rstest]
#[case::ctrl_c(Signal::INT, 130)]
#[case::terminated(Signal::TERM, 143)]
fn second_hop_is_judged_until_a_signal(#[case] signal: Signal, #[case] code: i32) {
    let mut serving = Serving::start(&["refusal.409.replayed-bundle"]);
    let body = serving.body();
    let answer = serving.post(&body);
    assert!(answer.starts_with("HTTP/1.1 409 "), "{answer}");
    serving.until("the service replies 409");
    // Each further request gets the same reply.
    let answer = serving.post(&body.replace('}', " }"));
    assert!(answer.starts_with("HTTP/1.1 409 "), "{answer}");
    serving.until("JSON was parsed and written again");
    let (ended, text) = serving.end(signal);
    assert_eq!(ended, code);
    check("serve", &without_log(&text));
}

#[test]
fn enter_plays_the_case_and_judges_the_answer() {
    let launch = command("hands-on");
    let mut serving = Serving::start(&["refusal.409.replayed-bundle", "--launch", &launch]);
    for _ in 0..2 {
        serving.input.write_all(b"\n").unwrap();
        serving.until("wrong  body");
    }
    let (code, text) = serving.end(Signal::INT);
    assert_eq!(code, 130);
    assert_eq!(text.matches("played refusal.409.replayed-bundle: fail\n").count(), 2, "{text}");
    assert!(text.contains("    the edge answers HTTP/1.1 409 "), "{text}");
}

#[test]
fn case_with_several_steps_is_played_and_its_requests_are_shown() {
    let mut serving = Serving::start(&["isolation.keep-alive"]);
    assert!(serving.text.contains("no single curl plays this case"), "{}", serving.text);
    serving.input.write_all(b"\n").unwrap();
    serving.until("--next");
    let (_, text) = serving.end(Signal::INT);
    assert!(text.contains("played isolation.keep-alive: pass\n"), "{text}");
    assert!(!text.contains("wrong  "), "{text}");
}

#[test]
fn each_request_of_a_case_has_a_reply_of_its_own() {
    let mut serving = Serving::start(&["log.refusal"]);
    let (mut bodies, text) = (Vec::new(), serving.text.clone());
    for line in text.lines().filter(|line| line.trim_start().starts_with("curl ")) {
        bodies.push(shell_words::split(line).unwrap().join(" "));
    }
    assert!(!bodies.is_empty(), "{text}");
    serving.input.write_all(b"\n").unwrap();
    serving.until("played log.refusal: pass");
    assert_eq!(serving.end(Signal::INT).0, 130);
}

#[test]
fn death_of_the_edge_exits_3() {
    let launch = command("dies");
    let mut serving = Serving::start(&["method.put", "--launch", &launch]);
    serving.input.write_all(b"\n").unwrap();
    let (code, text) = serving.wait();
    assert_eq!(code, 3);
    assert!(text.contains("edge | dying of a request\n"), "{text}");
    assert!(text.ends_with("the edge is gone: it exited by itself with exit status: 7\n"), "{text}");
}

#[test]
fn secrets_are_not_shown() {
    let launch = command("leaks");
    let mut serving = Serving::start(&["accept.exact-body", "--launch", &launch]);
    let body = serving.body();
    serving.post(&body);
    serving.until("the service replies 200");
    serving.input.write_all(b"\n").unwrap();
    serving.until("remove the credential from the answer");
    let (_, text) = serving.end(Signal::INT);
    assert!(!text.contains("service_license_") && !text.contains("PRIVATE"), "{text}");
}

#[test]
fn closed_standard_input_does_not_end_it() {
    let mut serving = Serving::start(&["accept.exact-body"]);
    serving.input = {
        let (_, writer) = std::io::pipe().unwrap();
        std::os::fd::OwnedFd::from(writer).into()
    };
    let body = serving.body();
    serving.post(&body);
    serving.until("the service replies 200");
    assert_eq!(serving.end(Signal::INT).0, 130);
}

#[test]
fn invalid_serve_commands_are_explained() {
    let folder = Folder::new();
    let texts = [
        &["serve", "relay.body.large-numbres"][..],
        &["serve", "verdict.reference.unicode"],
        &["serve", "accept.exact-body", "--url", "http://127.0.0.1:9"],
        &["serve", "accept.exact-body", "--launch", "false"],
        &["serve"],
    ]
    .map(|args| folder.seen(args));
    check("invalid_serve", &texts.join("\n"));
}

#[test]
fn serve_help_lists_options_and_exit_codes() {
    check("help_serve", &Folder::new().seen(&["serve", "--help"]));
}

/// Lines of the edge's log arrive at any time.
fn without_log(text: &str) -> String {
    text.split_inclusive('\n').filter(|line| !line.starts_with("edge | ")).collect()
}
