//! The program that the tests launch: this executable, with a behaviour from a variable.

use std::env;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

use edgeproof_edge::{Edge, EdgeOptions, EdgeTls, LogSink};
use edgeproof_fixtures::credentials::EdgeSettings;
use edgeproof_fixtures::spec::{Spec, Version};
use edgeproof_http::{Answer, Draft, NoAnswer, ServerAddress, send};
use edgeproof_launch::{CommandLine, Launch};
use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};

/// Variable with the behaviour. Without it the entry point does nothing.
const BEHAVIOUR: &str = "EDGE_PROGRAM";
/// Variable with the name of the port variable.
const PORT_FROM: &str = "EDGE_PROGRAM_PORT_FROM";
/// Output before `/wrote` is answered, in bytes.
const FLOOD: usize = 16 * 1024 * 1024;

/// The command that launches the program, with variables such as `NAME=value`.
pub(crate) fn command(behaviour: &str, variables: &str) -> String {
    let program = shell_words::join(entry("target::program::edge_program_of_other_tests"));
    format!("env {BEHAVIOUR}={behaviour} {variables} {program}")
}

/// The command that runs one ignored test of this executable, with unchanged output.
pub(crate) fn entry(test: &str) -> Vec<String> {
    let program = env::current_exe().unwrap().into_os_string().into_string().unwrap();
    let arguments = ["--exact", test, "--ignored", "--nocapture", "--quiet"];
    std::iter::once(program).chain(arguments.map(str::to_owned)).collect()
}

/// A launch of `line`.
pub(crate) fn launch(line: &str) -> Launch {
    Launch { grace: Duration::from_secs(10), ..Launch::new(CommandLine::parse(line).unwrap()) }
}

pub(crate) async fn get(edge: &ServerAddress, path: &str) -> Result<Answer, NoAnswer> {
    send(edge, &Draft::new("GET", path), Duration::from_secs(20)).await.reply
}

/// Whether the process is gone, or a zombie.
pub(crate) fn is_gone(pid: u32) -> bool {
    if !cfg!(target_os = "linux") {
        // A zombie still counts as there, until its parent has waited for it.
        let pid = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
        return test_kill_process(pid) == Err(Errno::SRCH);
    }
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit(") ").next().unwrap_or_default();
    state.is_empty() || state.starts_with(['Z', 'X'])
}

/// Bytes that the flood has written.
static WRITTEN: AtomicUsize = AtomicUsize::new(0);
static MORE: (Mutex<()>, Condvar) = (Mutex::new(()), Condvar::new());

#[test]
#[ignore = "a program that other tests start"]
fn edge_program_of_other_tests() {
    let behaviour = env::var(BEHAVIOUR).expect("other tests set the behaviour");
    println!("pid {}", std::process::id());
    match behaviour.as_str() {
        "serve" => serve(&listen()),
        "settings" => {
            for name in EdgeSettings::NAMES.into_iter().chain(["HOST"]) {
                match env::var(name) {
                    Ok(value) => println!("{name} is {value}"),
                    Err(_) => println!("{name} is absent"),
                }
            }
            serve(&listen());
        }
        "elsewhere" => serve(&TcpListener::bind(("127.0.0.1", 0)).unwrap()),
        "flood" => flood(b"all work and no play makes an edge a dull program\n"),
        "flood-without-line-ends" => flood(&[b'x'; 4096]),
        "garbage" => {
            for stream in listen().incoming() {
                stream.unwrap().write_all(b"SSH-2.0-OpenSSH_9.2\r\n").unwrap();
            }
        }
        "mute" => {
            let streams: Vec<_> = listen().incoming().collect();
            drop(streams);
        }
        "reference" => reference(),
        "call" => {
            let mut stream = TcpStream::connect(env::var("CALL").unwrap()).unwrap();
            writeln!(stream, "{}", std::process::id()).unwrap();
            loop {
                thread::park();
            }
        }
        other => panic!("no such behaviour: {other}"),
    }
}

/// The reference edge, over TLS with the files that two variables name.
fn reference() {
    let file = |name| env::var_os(name).unwrap();
    let tls = EdgeTls {
        chain: CertificateDer::pem_file_iter(file("EDGE_CERT")).unwrap().map(Result::unwrap).collect(),
        key: PrivateKeyDer::from_pem_file(file("EDGE_KEY")).unwrap(),
    };
    let listen = SocketAddr::from(([127, 0, 0, 1], env::var("PORT").unwrap().parse().unwrap()));
    let settings = EdgeSettings::from_env(|name| env::var(name).ok());
    let log = LogSink::new(|line| println!("{line}"));
    let spec = Arc::new(Spec::builtin(Version::Current));
    let options = EdgeOptions { listen, tls: Some(tls), ..EdgeOptions::new(spec, settings, log) };
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        let _edge = Edge::start(options).await.unwrap();
        std::future::pending::<()>().await;
    });
}

fn listen() -> TcpListener {
    let name = env::var(PORT_FROM).unwrap_or_else(|_| "PORT".into());
    let port: u16 = env::var(name).unwrap().parse().unwrap();
    TcpListener::bind((env::var("HOST").unwrap(), port)).unwrap()
}

fn flood(piece: &'static [u8]) {
    let listener = listen();
    thread::spawn(move || {
        loop {
            std::io::stdout().write_all(piece).unwrap();
            WRITTEN.fetch_add(piece.len(), Ordering::Relaxed);
            MORE.1.notify_all();
        }
    });
    serve(&listener);
}

fn serve(listener: &TcpListener) {
    println!("listening on {}", listener.local_addr().unwrap());
    for stream in listener.incoming() {
        thread::spawn(move || answer(stream.unwrap()));
    }
}

fn answer(mut stream: TcpStream) {
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
    let Some(Ok(first)) = lines.next() else { return };
    while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
    if first.starts_with("GET /die ") {
        println!("dying of a request");
        exit(7);
    }
    if first.starts_with("GET /wrote ") {
        let mut guard = MORE.0.lock().unwrap();
        while WRITTEN.load(Ordering::Relaxed) < FLOOD {
            // A notification may pass unheard between look and wait; there will be another one.
            guard = MORE.1.wait_timeout(guard, Duration::from_millis(10)).unwrap().0;
        }
    }
    // The peer may not wait for it.
    let _ = stream.write_all(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
}

#[expect(clippy::disallowed_methods, reason = "this is the edge that dies, not edgeproof")]
fn exit(code: i32) -> ! {
    std::process::exit(code)
}
