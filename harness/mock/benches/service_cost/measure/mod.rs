mod crypto;
mod load;
mod polls;
mod server;

use std::process::ExitCode;

use edgeproof_fixtures::credentials::{ReadTokenForm, Role};
use edgeproof_mock::{ListenerMode, Match, MockService, NewSession, Script};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::sync::watch;

/// Number of rounds; the median counts.
const ROUNDS: usize = 5;

pub(super) fn run() -> ExitCode {
    server::pin_to(0);
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit }).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let only = std::env::args().nth(1);
    let wants = |part| only.as_deref().is_none_or(|only| only == part || only == "--bench");
    // The polls come first: later the process would reuse freed memory.
    let fits = runtime.block_on(async {
        (!wants("polls") || long_polls().await) & (!wants("requests") || requests().await)
    });
    if fits { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// CPU time of a collection with a scripted answer, of a verdict for a real read token, and of a verified collection.
async fn requests() -> bool {
    let (mut bare, mut scripted, mut verdict, mut verified) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        bare.push(load::collections(&server::bare(true, r#"{"ok":true}"#)).await);
        let server = server::mock(ListenerMode::PlainHttp);
        let _script =
            server.service.script(Match::Everything, Script::accept(server.service.spec().profile()));
        scripted.push(load::collections(&server).await);
        verdict.push(load::verdicts(&server::mock(ListenerMode::PlainHttp)).await);
        verified.push(load::sealed(&server::mock(ListenerMode::Tls(Role::ServiceServer))).await);
    }
    let (bare, scripted, verified) = (median(bare), median(scripted), median(verified));
    let (verdict, ratio) = (median(verdict), scripted / bare);
    println!(
        "CPU-seconds for 100,000 requests, medians of {ROUNDS} interleaved rounds, HTTP/1.1, {} connections",
        load::CONNECTIONS
    );
    println!("  bare hyper, single-threaded   {:6.2}", bare / 10.0);
    println!("  scripted answer               {:6.2}   {ratio:.2}× (at most 1.4×)", scripted / 10.0);
    println!("  verdict, real read token      {:6.2}   {:.2}×", verdict / 10.0, verdict / bare);
    println!("  verified collection, TLS      {:6.2}", verified / 10.0);
    let parts = crypto::parts();
    let sum: f64 = parts.iter().map(|(_, micros)| micros).sum();
    for (name, micros) in &parts {
        println!("    {name:27} {:6.2}", micros / 10.0);
    }
    println!("    cryptography in all         {:6.2}   {:.0} %", sum / 10.0, sum / verified * 100.0);
    ratio <= 1.4
}

/// Concurrent long polls.
async fn long_polls() -> bool {
    let first = mock_polls(1).await;
    let (mut bare, mut shared, mut own) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let server = server::bare(false, "x".repeat(polls::BODY));
        let start = |signal: &watch::Sender<bool>| {
            signal.send_replace(true);
        };
        bare.push(polls::measure(server, "none", |_| "session-0".to_owned(), start).await.seconds);
        shared.push(mock_polls(1).await.seconds);
        own.push(mock_polls(polls::COUNT).await.seconds);
    }
    let (bare, shared, own, memory) = (median(bare), median(shared), median(own), first.bytes_each);
    println!("{} long polls at once, plain HTTP/1.1", polls::COUNT);
    println!("  memory each                   {:6.1} KiB (at most 16)", memory / 1024.0);
    println!("  all answered by bare hyper    {:6.0} ms", bare * 1e3);
    println!(
        "  … with one verdict            {:6.0} ms   {:.2}× (at most 1.5×)",
        shared * 1e3,
        shared / bare
    );
    println!(
        "  … with a verdict each         {:6.0} ms   {:.2}×, of which signing takes {:.0} ms",
        own * 1e3,
        own / bare,
        crypto::signing() * polls::COUNT as f64 / 1e3
    );
    memory <= 16.0 * 1024.0 && shared / bare <= 1.5
}

/// Long polls for this number of sessions.
async fn mock_polls(sessions: usize) -> polls::Polls {
    let server = server::mock(ListenerMode::PlainHttp);
    let read_token = server.service.credentials().read_token(ReadTokenForm::Valid);
    let reference = |number: usize| format!("session-{}", number % sessions);
    let start = |service: &MockService| {
        (0..sessions).for_each(|number| service.add_session(NewSession::new(reference(number))));
    };
    polls::measure(server, &read_token, reference, start).await
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
