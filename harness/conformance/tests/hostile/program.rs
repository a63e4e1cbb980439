//! An edge that is hostile: this very executable, told by variables how. In front of the reference edge stands what
//! serves the collections that a run begins with, so that there is ground to stand on, and then changes its mind.

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

use crate::hostility::{EVIL, head, serve_well, treat};

/// Says how; without it, the entry point below does nothing.
const HOSTILITY: &str = "EDGE_HOSTILITY";
/// Says whom to call, with the process id, when a `PUT` arrives. The connection ends with the program.
const CALL: &str = "EDGE_CALL";
/// Marks what the program starts.
pub(crate) const BROOD: &str = "EDGE_BROOD";

/// Collections that are served well: the one that shows whether there is ground to stand on, and the one that shows
/// whether reasons are read.
const SERVED: usize = 2;

/// The command that launches the program so, with words such as `NAME=value` put into its environment.
pub(crate) fn command(hostility: &str, variables: &str) -> String {
    let program = env::current_exe().unwrap().into_os_string().into_string().unwrap();
    let words = [&program, "--exact", "program::edge_program", "--ignored", "--nocapture", "--quiet"];
    format!("env {HOSTILITY}={hostility} {variables} {}", shell_words::join(words))
}

/// The same, deaf to SIGTERM.
pub(crate) fn deaf(hostility: &str, variables: &str) -> String {
    format!("sh -c 'trap \"\" TERM; exec \"$@\"' sh {}", command(hostility, variables))
}

/// The word for whom to call.
pub(crate) fn call(address: SocketAddr) -> String {
    format!("{CALL}={address}")
}

#[test]
#[ignore = "a program for other tests to start"]
fn edge_program() {
    let Ok(hostility) = env::var(HOSTILITY) else { return };
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
    let edge = Edge::start(EdgeOptions::new(spec, settings, LogSink::new(|line| say(&line)))).await.unwrap();
    let port: u16 = env::var("PORT").unwrap().parse().unwrap();
    let front = TcpListener::bind(("127.0.0.1", port)).await.unwrap();
    if hostility == "fills-stdout" {
        thread::spawn(|| (0..200_000).for_each(|_| say(EVIL)));
    }
    if hostility == "fills-a-line" {
        // A quarter of a gigabyte without an end of line.
        thread::spawn(|| (0..32_768).for_each(|_| drop(std::io::stdout().write_all(&[b'x'; 8 * 1024]))));
    }
    loop {
        let (client, _) = front.accept().await.unwrap();
        tokio::spawn(connection(client, edge.addr(), hostility));
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
        // Open until the program ends, and no answer until then.
        std::mem::forget(caller);
        return std::future::pending().await;
    }
    let is_post = head.starts_with(b"POST ");
    let posts = POSTS.fetch_add(usize::from(is_post), Ordering::SeqCst);
    // Whether it is ready, and whether there is ground to stand on.
    let first = head.starts_with(b"GET /health ") || (is_post && posts < SERVED);
    let served = match hostility {
        "forks" | "fills-stdout" | "fills-a-line" | "calls" => true,
        "fickle" => first || posts.is_multiple_of(2),
        _ => first,
    };
    if hostility == "forks" {
        fork();
    }
    if served {
        return serve_well(client, &head, edge).await;
    }
    if hostility == "markup" {
        say(EVIL);
    }
    treat(client, hostility).await;
}

/// A child, and one that leaves the process group.
fn fork() {
    for words in [&["sleep", "100000"][..], &["setsid", "sleep", "100000"]] {
        let child =
            Command::new(words[0]).args(&words[1..]).stdin(Stdio::null()).stdout(Stdio::null()).spawn();
        // Not waited for: who started it takes no care of it.
        std::mem::forget(child.unwrap());
    }
}

fn say(line: &str) {
    // Nobody may be left to read it.
    let _ = writeln!(std::io::stdout().lock(), "{line}");
}
