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
    // The polls come first: later the process would reuse freed memory.
    let fits = runtime.block_on(async { long_polls().await & relays().await });
    if fits { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// CPU time of a relayed collection: scripted, and verified.
async fn relays() -> bool {
    let (mut bare, mut scripted, mut verified) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        bare.push(load::plain(&server::bare(true, r#"{"ok":true}"#)).await);
        let server = server::mock(ListenerMode::PlainHttp);
        let _script =
            server.service.script(Match::Everything, Script::accept(server.service.spec().profile()));
        scripted.push(load::plain(&server).await);
        verified.push(load::sealed(&server::mock(ListenerMode::Tls(Role::ServiceServer))).await);
    }
    let (bare, scripted, verified) = (median(bare), median(scripted), median(verified));
    let ratio = scripted / bare;
    println!("CPU a request, medians of {ROUNDS} rounds, HTTP/1.1, {} connections", load::CONNECTIONS);
    println!("  bare hyper                    {bare:6.1} µs");
    println!("  scripted relay answer         {scripted:6.1} µs   {ratio:.2}× (at most 1.4×)");
    println!("  verified and opened, over TLS {verified:6.1} µs");
    let parts = crypto::parts();
    let sum: f64 = parts.iter().map(|(_, micros)| micros).sum();
    for (name, micros) in &parts {
        println!("    {name:27} {micros:6.1} µs");
    }
    println!("    cryptography in all         {sum:6.1} µs   {:.0} %", sum / verified * 100.0);
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
