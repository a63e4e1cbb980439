mod child;
mod crypto;
mod load;
mod polls;
mod serve;

use std::process::ExitCode;

use child::Child;

/// Number of rounds; the median counts.
const ROUNDS: usize = 5;

pub(super) fn run() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    // Cargo passes `--bench`.
    if let Some(role) = arguments.next().filter(|role| role != "--bench") {
        serve::run(&role, arguments.next());
        return ExitCode::SUCCESS;
    }
    child::pin_to(0);
    child::raise_file_limit();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let fits = runtime.block_on(async { relays().await & long_polls().await });
    if fits { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// CPU time of a relayed collection: scripted, and verified.
async fn relays() -> bool {
    let (mut bare, mut scripted, mut verified) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let server = Child::start("bare");
        bare.push(load::plain(&server).await);
        let server = Child::start("scripted");
        scripted.push(load::plain(&server).await);
        let server = Child::start("verified");
        verified.push(load::sealed(&server).await);
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
    let (mut bare, mut shared, mut own, mut memory) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        bare.push(polls::measure("bare-polls").await.seconds);
        let polls = polls::measure("polls-of-one").await;
        shared.push(polls.seconds);
        memory.push(polls.bytes_each);
        own.push(polls::measure("polls").await.seconds);
    }
    let (bare, shared, own, memory) = (median(bare), median(shared), median(own), median(memory));
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

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
