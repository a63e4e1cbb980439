//! The server of the self-test: its behaviours, and that its record is right by the client's clock.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use edgeproof_fixtures::spec::{Spec, Version};
use edgeproof_load::scenario::OpaqueCollections;
use edgeproof_load::service::{AnswerManner, Delay, RecordingServer, ServerBehaviour, ServerRecord};
use edgeproof_reports::load::Quantile;

use crate::support::{LIMIT, until};

const MS: Duration = Duration::from_millis(1);

fn start(delay: Delay, manner: AnswerManner) -> RecordingServer {
    RecordingServer::start(
        &Spec::builtin(Version::Current),
        ServerBehaviour { delay, manner, ..ServerBehaviour::default() },
    )
    .unwrap()
}

fn connect(server: &RecordingServer) -> TcpStream {
    let stream = TcpStream::connect(address(server)).unwrap();
    stream.set_read_timeout(Some(LIMIT)).unwrap();
    stream
}

fn address(server: &RecordingServer) -> String {
    server.url().trim_start_matches("http://").to_owned()
}

/// Posts the collection of an operation. Returns what arrives until the connection or the answer ends.
fn post(stream: &mut TcpStream, number: u64) -> std::io::Result<String> {
    let body = OpaqueCollections::new(1).make(number).body;
    let head = format!("POST /v1/signals HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n", body.len());
    stream.write_all(&[head.as_bytes(), &body].concat())?;
    answer(stream)
}

fn get(stream: &mut TcpStream, path: &str) -> String {
    stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n").as_bytes()).unwrap();
    answer(stream).unwrap()
}

fn answer(stream: &mut TcpStream) -> std::io::Result<String> {
    let mut text = Vec::new();
    let mut byte = [0];
    // All bodies are JSON objects without nested ones.
    while !text.ends_with(b"}") && stream.read(&mut byte)? == 1 {
        text.push(byte[0]);
    }
    Ok(String::from_utf8(text).unwrap())
}

/// Whether a read ended at its limit.
fn is_late<T>(end: &std::io::Result<T>) -> bool {
    end.as_ref().is_err_and(|why| matches!(why.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut))
}

/// The record after this many requests: a request is recorded just after its answer.
fn record(server: &RecordingServer, requests: usize) -> ServerRecord {
    until("complete record", || {
        Some(server.record()).filter(|record| record.0.len() >= requests).ok_or(requests)
    })
}

#[test]
fn record_is_within_the_clients_times() {
    let server = start(Delay::Constant(30 * MS), AnswerManner::Accepted);
    let mut stream = connect(&server);
    let longest = (0..5).map(|number| {
        let sent = Instant::now();
        assert!(post(&mut stream, number).unwrap().ends_with("{\"ok\":true}"));
        sent.elapsed()
    });
    let longest = longest.max().unwrap();
    let (low, high) = record(&server, 5).response(0, 5).at(Quantile::Max);
    assert!(low >= 30 * MS && low <= high && low <= longest, "{low:?} to {high:?}, client {longest:?}");
}

#[test]
fn probes_are_not_recorded() {
    let server = start(Delay::default(), AnswerManner::Accepted);
    let mut stream = connect(&server);
    assert!(get(&mut stream, "/").contains("404"));
    assert!(post(&mut stream, 1 << 39).unwrap().contains("200"));
    post(&mut stream, 7).unwrap();
    let record = record(&server, 1);
    assert_eq!(record.0.iter().map(|request| request.number).collect::<Vec<_>>(), [7]);
}

#[test]
fn share_of_requests_is_refused() {
    let server = start(Delay::default(), AnswerManner::Refused { share: 0.25, status: 503 });
    let mut stream = connect(&server);
    let refused = (0..100).filter(|number| post(&mut stream, *number).unwrap().contains(" 503 ")).count();
    assert!((24..=27).contains(&refused), "{refused}");
}

#[test]
fn share_of_connections_is_reset() {
    let server = start(Delay::default(), AnswerManner::Reset { share: 0.25 });
    let reset = (0..40).filter(|number| post(&mut connect(&server), *number).is_err()).count();
    assert!((9..=12).contains(&reset), "{reset}");
    let unanswered = record(&server, 40).0.iter().filter(|request| !request.answered).count();
    assert_eq!(unanswered, reset);
}

#[test]
fn connection_closes_after_each_answer() {
    let server = start(Delay::default(), AnswerManner::Closed);
    let mut stream = connect(&server);
    assert!(post(&mut stream, 0).unwrap().contains("Connection: close"));
    assert_eq!(stream.read(&mut [0]).unwrap(), 0);
}

#[test]
fn answer_drips_in_pieces() {
    let server = start(Delay::default(), AnswerManner::Dripped { pieces: 4, gap: 20 * MS });
    let mut stream = connect(&server);
    let sent = Instant::now();
    assert!(post(&mut stream, 0).unwrap().ends_with("{\"ok\":true}"));
    assert!(sent.elapsed() >= 60 * MS);
    assert!(record(&server, 1).response(0, 1).at(Quantile::Max).0 >= 60 * MS);
}

#[test]
fn verdict_is_pending_for_a_time() {
    let pending = Duration::from_millis(100);
    let server = RecordingServer::start(
        &Spec::builtin(Version::Current),
        ServerBehaviour { pending, ..ServerBehaviour::default() },
    )
    .unwrap();
    let mut stream = connect(&server);
    let first = Instant::now();
    assert!(get(&mut stream, "/v1/verdict/a").contains(r#"{"status":"pending","ref":"a"}"#));
    until("verdict", || {
        let answer = get(&mut stream, "/v1/verdict/a");
        if answer.ends_with(r#"{"ref":"a"}"#) { Ok(()) } else { Err(answer) }
    });
    assert!(first.elapsed() >= pending);
}

#[test]
fn server_dies_with_its_connections_and_its_listener() {
    let dies_at = Some(100 * MS);
    let server = RecordingServer::start(
        &Spec::builtin(Version::Current),
        ServerBehaviour { dies_at, ..ServerBehaviour::default() },
    )
    .unwrap();
    let mut stream = connect(&server);
    post(&mut stream, 0).unwrap();
    // Blocks until the server closes the connection.
    let end = stream.read(&mut [0]);
    assert!(!matches!(&end, Ok(1)) && !is_late(&end), "{end:?}");
    until("refused connection", || match TcpStream::connect(address(&server)) {
        Ok(stream) => Err(stream),
        Err(_) => Ok(()),
    });
}

#[test]
fn dropped_server_answers_nobody() {
    let server = start(Delay::Constant(Duration::from_secs(3600)), AnswerManner::Accepted);
    let mut stream = connect(&server);
    let waiting = std::thread::spawn(move || post(&mut stream, 0));
    drop(server);
    let end = waiting.join().unwrap();
    assert!(!is_late(&end) && end.as_ref().map_or(true, String::is_empty), "{end:?}");
}
