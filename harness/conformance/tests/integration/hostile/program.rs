//! A hostile edge: this executable, with a hostility from a variable. It forwards the first collections of a run to the
//! reference edge, so that the sanity check passes, and mistreats later ones.

use std::env;
use std::io::Write as _;
use std::net::SocketAddr;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use edgeproof_edge::{Edge, EdgeOptions, LogSink};
use edgeproof_fixtures::credentials::EdgeSettings;
use edgeproof_fixtures::spec::{Spec, Version};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};

use super::hostility::{EVIL, forward, head, mistreat};

/// Variable with the hostility. Without it the entry point does nothing.
const HOSTILITY: &str = "EDGE_HOSTILITY";
/// Variable with the address that the edge calls when a `PUT` arrives. It sends its process id, and the connection ends with
/// the process.
const CALL: &str = "EDGE_CALL";
/// Variable with the request that ends the process: `NUMBER:TEXT` is the request number NUMBER, from 1, whose head contains
/// TEXT. With `after:` in front, the process answers first.
pub(crate) const DIES: &str = "EDGE_DIES";
/// Variable with a file that the first death creates. Later processes live on.
pub(crate) const ONCE: &str = "EDGE_DIES_ONCE";
/// Variable with the address to forward requests to (default: a reference edge in the process).
pub(crate) const INNER: &str = "EDGE_INNER";
/// Variable that marks the children of the program.
pub(crate) const BROOD: &str = "EDGE_BROOD";

/// Number of forwarded collections: those of the sanity check.
const SERVED: usize = 2;

/// The command that launches the program, with variables such as `NAME=value`.
pub(crate) fn command(hostility: &str, variables: &str) -> String {
    let program = env::current_exe().unwrap().into_os_string().into_string().unwrap();
    let words = [
        &program,
        "--exact",
        "hostile::program::edge_program_of_other_tests",
        "--ignored",
        "--nocapture",
        "--quiet",
    ];
    format!("env {HOSTILITY}={hostility} {variables} {}", shell_words::join(words))
}

/// The command of an edge that ignores SIGTERM.
pub(crate) fn ignoring_sigterm(hostility: &str, variables: &str) -> String {
    format!("sh -c 'trap \"\" TERM; exec \"$@\"' sh {}", command(hostility, variables))
}

/// The variable with the address to call.
pub(crate) fn call(address: SocketAddr) -> String {
    format!("{CALL}={address}")
}

#[test]
#[ignore = "a program that other tests start"]
fn edge_program_of_other_tests() {
    let hostility = env::var(HOSTILITY).expect("other tests set the hostility");
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
        .block_on(serve(hostility.leak()));
}

async fn serve(hostility: &'static str) {
    let settings = EdgeSettings::from_env(|name| env::var(name).ok());
    let spec = Arc::new(Spec::builtin(Version::Current));
    let options = EdgeOptions::new(spec, settings, LogSink::new(|line| say(&line)));
    let mut edge = None;
    let inner = match env::var(INNER) {
        Ok(address) => address.parse().unwrap(),
        Err(_) => edge.insert(Edge::start(options).await.unwrap()).addr(),
    };
    let port: u16 = env::var("PORT").unwrap().parse().unwrap();
    let front = TcpListener::bind(("127.0.0.1", port)).await.unwrap();
    say(&format!("listening on {}", front.local_addr().unwrap()));
    if hostility == "fills-stdout" {
        thread::spawn(|| (0..200_000).for_each(|_| say(EVIL)));
    }
    if hostility == "fills-a-line" {
        // 256 MiB without a line end.
        thread::spawn(|| (0..32_768).for_each(|_| drop(std::io::stdout().write_all(&[b'x'; 8 * 1024]))));
    }
    loop {
        let (client, _) = front.accept().await.unwrap();
        tokio::spawn(connection(client, inner, hostility));
    }
}

/// One connection.
async fn connection(mut client: TcpStream, edge: SocketAddr, hostility: &'static str) {
    static POSTS: AtomicUsize = AtomicUsize::new(0);
    let Some(head) = head(&mut client).await else { return };
    if head.starts_with(b"PUT ")
        && let Ok(address) = env::var(CALL)
    {
        let mut caller = TcpStream::connect(address).await.unwrap();
        caller.write_all(format!("{}\n", std::process::id()).as_bytes()).await.unwrap();
        // Stays open without an answer until the process ends.
        std::mem::forget(caller);
        return std::future::pending().await;
    }
    let is_post = head.starts_with(b"POST ");
    let posts = POSTS.fetch_add(usize::from(is_post), Ordering::SeqCst);
    // Readiness and sanity check.
    let first = head.starts_with(b"GET /health ") || (is_post && posts < SERVED);
    let served = match hostility {
        "forks" | "fills-stdout" | "fills-a-line" | "calls" | "dies" => true,
        "fickle" => first || posts.is_multiple_of(2),
        _ => first,
    };
    if hostility == "forks" {
        fork();
    }
    if hostility == "dies" && is_last_request(&head) {
        say("dying of a request");
        if env::var(DIES).is_ok_and(|dies| dies.starts_with("after:")) {
            forward(client, &head, edge).await;
        }
        exit();
    }
    if served {
        return forward(client, &head, edge).await;
    }
    if hostility == "markup" {
        say(EVIL);
    }
    mistreat(client, hostility).await;
}

/// Whether this request ends the process.
fn is_last_request(head: &[u8]) -> bool {
    static SEEN: AtomicUsize = AtomicUsize::new(0);
    let dies = env::var(DIES).unwrap();
    let (number, text) = dies.strip_prefix("after:").unwrap_or(&dies).split_once(':').unwrap();
    let contains = String::from_utf8_lossy(head).contains(text);
    contains
        && SEEN.fetch_add(1, Ordering::SeqCst) + 1 == number.parse::<usize>().unwrap()
        && env::var(ONCE).map_or(true, |file| std::fs::File::create_new(file).is_ok())
}

#[expect(clippy::disallowed_methods, reason = "this is the edge that dies, not edgeproof")]
fn exit() -> ! {
    std::process::exit(7)
}

/// Starts a child, one in another session, and one that also has no parent and no environment. The last one ignores SIGTERM.
fn fork() {
    let brood = format!("{BROOD}={}", env::var(BROOD).unwrap_or_default());
    let worker = "trap '' TERM; while :; do sleep 1000; done";
    let orphan = "setsid env -i PATH=\"$PATH\" sh -c \"$@\" &";
    let children = [
        &["sleep", "100000"][..],
        &["setsid", "sleep", "100000"],
        &["sh", "-c", orphan, "sh", worker, "sh", &brood],
    ];
    for words in children {
        let child =
            Command::new(words[0]).args(&words[1..]).stdin(Stdio::null()).stdout(Stdio::null()).spawn();
        // Deliberately not waited for.
        std::mem::forget(child.unwrap());
    }
}

fn say(line: &str) {
    // The reader may be gone.
    let _ = writeln!(std::io::stdout().lock(), "{line}");
}
