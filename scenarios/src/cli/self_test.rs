use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use edgeproof_fixtures::spec::{Spec, Version};
use edgeproof_http::ServerAddress;
use edgeproof_reports::load::{LoadReport, LoadState, PlannedLoad};
use parking_lot::Mutex;

use super::args::SelfTest;
use crate::engine::{LoadModel, LoadRun, LoadRunOptions, processors};
use crate::measure::{Codes, Histogram, RouteId};
use crate::plan::{Arrivals, Quantile, Rate, Shard, Share, Stages, UserCount, UserLimit, collection_route};
use crate::report::{ReportInputs, build, embedded};
use crate::scenario::{CollectionRequests, CollectionSource, EdgeRelay, OpaqueCollections};
use crate::service::{StallPattern, StallingServer};
use edgeproof_cli::Failure;
use edgeproof_cli::exit_code::{BROKEN, INCOMPLETE};
use edgeproof_cli::runtime;

/// Largest relative error of a percentile.
const NEAR: f64 = 0.05;
/// Smallest delivered share of the rate.
const DELIVERED: f64 = 0.995;
/// Attempts at the percentiles while the machine is too busy.
const ATTEMPTS: u32 = 2;

/// One run of the generator.
struct GeneratorRun {
    rate: Rate,
    time: Duration,
    warm_up: Duration,
    users: u32,
    stalls: Option<StallPattern>,
    starved: bool,
}

/// The result of one check. The worst one is the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum SelfTestResult {
    /// The check passed.
    Passed,
    /// The run reported that this machine is too busy, and its figures are right.
    Inconclusive,
    /// The run reported a wrong figure.
    Failed,
}

/// The command `edgeproof-load self-test`. Exit code 0: the figures are right; 1: a figure is wrong; 3: the
/// machine was too busy.
pub(super) fn main(args: &SelfTest) -> Result<u8, Failure> {
    let runtime = runtime()?;
    let outcome = runtime.block_on(test(args));
    runtime.shutdown_timeout(Duration::from_secs(2));
    let (result, line) = outcome?;
    print_line(&line);
    Ok(match result {
        SelfTestResult::Passed => 0,
        SelfTestResult::Failed => BROKEN,
        SelfTestResult::Inconclusive => INCOMPLETE,
    })
}

async fn test(args: &SelfTest) -> Result<(SelfTestResult, String), Failure> {
    let mut result = check_percentiles().await?;
    for _ in 1..ATTEMPTS {
        if result == SelfTestResult::Inconclusive {
            print_line("  - this machine is too busy; trying again");
            result = check_percentiles().await?;
        }
    }
    let mut rates = Vec::new();
    for rate in &args.rates {
        rates.push((*rate, check_rate(*rate, args.duration).await?));
    }
    let starved = check_starved().await?;
    let worst = rates.iter().map(|(_, result)| *result).fold(result.max(starved), SelfTestResult::max);
    if worst == SelfTestResult::Failed {
        return Ok((SelfTestResult::Failed, "FAILED: the generator reported a wrong figure".into()));
    }
    let too_busy: Vec<String> = rates
        .iter()
        .filter(|(_, result)| *result == SelfTestResult::Inconclusive)
        .map(|(rate, _)| rate.to_string())
        .collect();
    if result == SelfTestResult::Inconclusive || (!rates.is_empty() && too_busy.len() == rates.len()) {
        let line = "INCONCLUSIVE: this machine is too busy; no reported figure is wrong";
        return Ok((SelfTestResult::Inconclusive, line.into()));
    }
    let unchecked = match too_busy[..] {
        [] => String::new(),
        _ => format!("; not checked at {}: this machine is too busy", too_busy.join(" and ")),
    };
    Ok((SelfTestResult::Passed, format!("passed: all reported figures are right{unchecked}")))
}

/// Checks percentiles against a service that stalls 1.6 s of every 2 s: 80 % of the requests wait, evenly
/// spread over 0 to 1.6 s. There are fewer users than requests in a stall, so most requests wait for a
/// connection; a generator with coordinated omission would miss them. The rate is low, so that the backlog of
/// a stall is gone at once even on a slow machine.
async fn check_percentiles() -> Result<SelfTestResult, Failure> {
    let stalls = StallPattern { period: Duration::from_secs(2), time: Duration::from_millis(1600) };
    let rate = Rate::per_second(50.0).unwrap_or_default();
    let generator_run = GeneratorRun {
        rate,
        time: Duration::from_secs(8),
        warm_up: stalls.period,
        users: 16,
        stalls: Some(stalls),
        starved: false,
    };
    let report = run(generator_run).await?;
    print_line(&format!("{rate} against a service that stalls by the clock: the run is {}", state(&report)));
    let response = Histogram::decode(&report.response.histogram).unwrap_or_default();
    let mut near = true;
    for quantile in [Quantile::P50, Quantile::P90, Quantile::P95, Quantile::P99] {
        let wanted = stalls.quantile(quantile.share()).as_secs_f64() * 1000.0;
        let found = response.at(quantile) as f64 / 1000.0;
        let off = found / wanted - 1.0;
        let line =
            format!("{}: {found:.1} ms, expected {wanted:.1} ms ({:+.1} %)", quantile.name(), off * 100.0);
        near &= check(off.abs() <= NEAR, &line);
    }
    // The figures of a generator with coordinated omission.
    let service = Histogram::decode(&report.service.histogram).unwrap_or_default();
    print_line(&format!(
        "    with coordinated omission, p50 would be {:.1} ms",
        service.at(Quantile::P50) as f64 / 1000.0
    ));
    Ok(conclude(near, &report))
}

async fn check_rate(rate: Rate, time: Duration) -> Result<SelfTestResult, Failure> {
    let generator_run = GeneratorRun {
        rate,
        time,
        warm_up: Duration::from_secs(1),
        users: ((rate.value() * 2.0) as u32).clamp(64, 2048),
        stalls: None,
        starved: false,
    };
    let report = run(generator_run).await?;
    let share = report.rate.delivered / rate.value();
    let line = format!(
        "{rate} requested, {:.1}/s delivered ({:.2} %): the run is {}",
        report.rate.delivered,
        share * 100.0,
        state(&report)
    );
    print_line(&line);
    Ok(conclude(check(share >= DELIVERED, "the rate was delivered"), &report))
}

/// Checks that a run whose runtime threads are blocked is reported as invalid.
async fn check_starved() -> Result<SelfTestResult, Failure> {
    let generator_run = GeneratorRun {
        rate: Rate::per_second(500.0).unwrap_or_default(),
        time: Duration::from_secs(3),
        warm_up: Duration::ZERO,
        users: 64,
        stalls: None,
        starved: true,
    };
    let report = run(generator_run).await?;
    print_line(&format!("blocked on purpose: the run is {}", state(&report)));
    let found =
        check(report.state == LoadState::Invalid && report.exit_code == 3, &report.findings.join("; "));
    Ok(if found && counts_agree(&report) { SelfTestResult::Passed } else { SelfTestResult::Failed })
}

/// The result of a check. An invalid run claims nothing. Dropped, open or failed operations show that the
/// server fell behind. The counts must agree in any case.
fn conclude(holds: bool, report: &LoadReport) -> SelfTestResult {
    let counted = counts_agree(report);
    let behind = report.ledger.dropped + report.ledger.open + report.ledger.failed > 0;
    match (counted, holds) {
        (true, true) => SelfTestResult::Passed,
        (true, false) if behind || report.state == LoadState::Invalid => SelfTestResult::Inconclusive,
        _ => SelfTestResult::Failed,
    }
}

async fn run(generator_run: GeneratorRun) -> Result<LoadReport, Failure> {
    let unexpected = |why: &dyn std::error::Error| {
        let what = format!("cannot start the server of the self-test: {why}");
        Failure::usage(what, "check the limits on open files and threads").incomplete()
    };
    let codes = Codes::new(&Spec::builtin(Version::Current));
    let service =
        Arc::new(StallingServer::start(generator_run.stalls).await.map_err(|why| unexpected(&why))?);
    let url = service.url().parse().map_err(|why: url::ParseError| unexpected(&why))?;
    let endpoint = Arc::new(ServerAddress::resolve(&url, None).await?);
    let collection_requests = CollectionRequests::new(&endpoint, "https://shop.example")
        .expect("the origin is a valid header value");
    let addresses = endpoint.addresses().to_vec();
    let scenario = EdgeRelay {
        endpoint,
        collection_requests,
        collections: CollectionSource::Opaque(OpaqueCollections::new(1)),
        replays: Share::default(),
        accepted: Mutex::default(),
        replayed: codes.find("replayed_bundle"),
        route: RouteId(0),
        service_times: None,
    };
    let stages = Stages::constant(generator_run.rate, generator_run.time)
        .ok_or_else(|| Failure::usage(format!("cannot run at {}", generator_run.rate), "give rates above 0"))?
        .warmed_up(generator_run.warm_up);
    let arrivals = Arrivals::new(&stages, generator_run.warm_up, Shard::WHOLE);
    let begins = Arc::clone(&service);
    let options = LoadRunOptions {
        scenarios: vec![scenario.scenario()],
        model: LoadModel::Open(arrivals.clone()),
        users: UserCount { users: generator_run.users, limit: UserLimit::Plan },
        seed: 1,
        codes: codes.clone(),
        routes: vec![collection_route().to_owned()],
        addresses,
        timeout: Duration::from_secs(30),
        drain: Duration::from_secs(5),
        start_at: None,
        on_start: Some(Box::new(move |started| {
            begins.begin(started);
            if generator_run.starved {
                block_threads();
            }
        })),
        live: None,
    };
    let data = LoadRun::new(options).play(std::future::pending()).await?;
    let inputs = ReportInputs {
        scenario: "self-test",
        open: true,
        target: embedded(),
        plan: PlannedLoad {
            warm_up_ms: generator_run.warm_up.as_millis() as u64,
            measured_ms: generator_run.time.as_millis() as u64,
            ..PlannedLoad::default()
        },
        shard: (0, 1),
        routes: &[collection_route().to_owned()],
        codes: &codes,
        arrivals: vec![&arrivals],
        thresholds: &[],
        arrived: vec![(RouteId(0), service.requests())],
        probes: Vec::new(),
        faults: Vec::new(),
        edge_samples: Vec::new(),
        unchecked: false,
        partial: Vec::new(),
    };
    Ok(build(inputs, &data))
}

/// Whether the counts agree with the server's, to the request.
fn counts_agree(report: &LoadReport) -> bool {
    let Some(counted) = report.reconciled.first() else { return check(false, "the server counted nothing") };
    let line = format!(
        "{} sent, {} unanswered, {} counted by the server; all accounted for",
        counted.sent, counted.unanswered, counted.arrived
    );
    check(report.ledger.balances() && counted.agrees, &line)
}

fn state(report: &LoadReport) -> String {
    format!("{:?}", report.state).to_lowercase()
}

fn check(holds: bool, line: &str) -> bool {
    print_line(&format!("  {} {line}", if holds { "✓" } else { "✗" }));
    holds
}

fn print_line(line: &str) {
    // A closed standard output is no error.
    let _ = writeln!(std::io::stdout(), "{line}");
}

/// Blocks the runtime's threads for longer than the check. The tasks end by themselves.
fn block_threads() {
    let end = Instant::now() + Duration::from_secs(5);
    for _ in 0..processors() * 2 {
        tokio::spawn(async move {
            while Instant::now() < end {
                let until = Instant::now() + Duration::from_millis(50);
                while Instant::now() < until {
                    std::hint::spin_loop();
                }
                tokio::task::yield_now().await;
            }
        });
    }
}
