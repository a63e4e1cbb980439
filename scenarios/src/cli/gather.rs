use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use edgeproof_cli::signals::Interruption;
use edgeproof_cli::{Failure, runtime_of, signals};
use edgeproof_http::ServerAddress;
use edgeproof_reports::load::LoadReport;
use tokio::net::TcpListener;
use tokio::time::interval;

use super::args::{Gather, Load};
use super::output::{ReportFiles, read, thresholds};
use crate::gather::{
    GatherClient, GatherError, GatherEvent, GatherServer, GatherStep, Gathered, Refusal, Roster, RunToken,
};
use crate::merge::{LostShard, RunDescription, merge_without};
use crate::plan::Shard;

/// Time between two decisions.
const TICK: Duration = Duration::from_millis(100);

/// The command `edgeproof-load gather`.
pub(super) fn main(args: &Gather) -> Result<u8, Failure> {
    let files = ReportFiles::open(&args.output)?;
    let thresholds = thresholds(&args.threshold, args.thresholds.as_deref())?;
    let token = token(args.token_file.as_deref(), "gather")?;
    let runtime = runtime_of(1)?;
    let (server, end) = runtime.block_on(gather(args, token))?;
    let (lost, signal) = match end {
        GatherEnd::Reports(lost) => (lost, None),
        GatherEnd::Signal(lost, signal) => (lost, Some(signal)),
        GatherEnd::CalledOff(Refusal { what, advice, .. }) => {
            return Err(Failure::usage(what, advice).incomplete());
        }
    };
    let reports = server.files();
    if reports.is_empty() {
        let failure = no_report(&lost);
        return Err(match signal {
            Some(signal) => failure.ended_by(signal.exit_code()),
            None => failure.incomplete(),
        });
    }
    let sum = merge_without(&lost, &reports, &thresholds)?;
    let exit_code = signal.map_or(sum.exit_code, Interruption::exit_code);
    Ok(files.finish(&args.output, &LoadReport { exit_code, ..sum }))
}

/// How gather ended.
enum GatherEnd {
    /// No more reports will come. These shards have none.
    Reports(Vec<LostShard>),
    /// A signal, before the reports of these shards.
    Signal(Vec<LostShard>, Interruption),
    /// The run did not start.
    CalledOff(Refusal),
}

async fn gather(args: &Gather, token: RunToken) -> Result<(GatherServer, GatherEnd), Failure> {
    let signal = signals::catch()?;
    tokio::pin!(signal);
    let failed = |why: std::io::Error| {
        Failure::usage(
            format!("cannot listen on {}: {why}", args.listen),
            "give a free port of this machine to --listen",
        )
    };
    let listener = TcpListener::bind(args.listen).await.map_err(failed)?;
    let quiet = args.output.quiet;
    let tell = move |event: GatherEvent| {
        let is_trouble = matches!(event, GatherEvent::Refused(..) | GatherEvent::WrongToken(_));
        if is_trouble || !quiet {
            say(&event.to_string());
        }
    };
    let roster = Roster::new(args.shards, args.wait);
    let mut server = GatherServer::start(listener, args.shards, roster, token, tell).map_err(failed)?;
    if !quiet {
        let (shards, wait) = (args.shards, humantime::format_duration(args.wait));
        say(&format!("gather waits up to {wait} for {shards} shards: --gather http://{}", server.addr()));
    }
    let mut tick = interval(TICK);
    let end = loop {
        tokio::select! {
            _ = tick.tick() => match server.step() {
                GatherStep::Wait | GatherStep::Start => {}
                GatherStep::CallOff(refusal) => break GatherEnd::CalledOff(refusal),
                GatherStep::Merge(lost) => break GatherEnd::Reports(lost),
            },
            signal = &mut signal => {
                let why = format!("{signal} ended gather before its report came");
                break GatherEnd::Signal(server.interrupt(&why), signal);
            }
        }
    };
    server.stop().await;
    Ok((server, end))
}

fn no_report(lost: &[LostShard]) -> Failure {
    let each: Vec<String> =
        lost.iter().map(|shard| format!("shard {}: {}", shard.index, shard.why)).collect();
    Failure::usage(
        format!("no shard handed over a report: {}", each.join("; ")),
        "look at the logs of the shards",
    )
}

/// The part of a shard that `gather` starts. `None` without `--gather`.
pub(super) async fn client(args: &Load, shard: Shard) -> Result<Option<GatherClient>, Failure> {
    let Some(url) = &args.gather else { return Ok(None) };
    let token = token(args.gather_token_file.as_deref(), "--gather")?;
    let endpoint = ServerAddress::resolve(url, None).await?;
    Ok(Some(GatherClient::new(endpoint, token, shard.index())))
}

/// Waits for the start that gather gives.
pub(super) async fn join(client: GatherClient, run: RunDescription) -> Result<Gathered, Failure> {
    let task = format!("cannot take part in the run of gather at {}", client.url());
    client.join(run).await.map_err(|why| failure(&task, why))
}

/// Hands over the report of a shard. The exit code is then 0: gather judges the run.
pub(super) async fn hand_over(gathered: Gathered, report: &LoadReport) -> Result<(), Failure> {
    let task = format!("cannot hand over the report to gather at {}", gathered.url());
    gathered.hand_over(report).await.map_err(|why| failure(&task, why))
}

fn failure(task: &str, why: GatherError) -> Failure {
    match why {
        GatherError::Refused(Refusal { what, advice, wrong_command }) => {
            let failure = Failure::usage(format!("{task}: {what}"), advice);
            if wrong_command { failure } else { failure.incomplete() }
        }
        why => {
            let advice = "check that `edgeproof-load gather` runs there, and that this machine can reach it; with --report json=PATH a \
                          shard keeps its report for `edgeproof-load merge`";
            Failure::usage(format!("{task}: {why}"), advice).incomplete()
        }
    }
}

/// The token of a run. `user`: what needs it.
fn token(file: Option<&Path>, user: &str) -> Result<RunToken, Failure> {
    let text = match file {
        Some(path) => read(path)?,
        None => std::env::var("GATHER_TOKEN").unwrap_or_default(),
    };
    RunToken::new(&text).map_err(|why| {
        let source = file.map_or_else(|| "the variable GATHER_TOKEN".to_owned(), |path| path.display().to_string());
        Failure::usage(
            format!("cannot use {user} with the token in {source}: {why}"),
            "set GATHER_TOKEN, or give --gather-token-file FILE: one secret word, the same for gather and all shards",
        )
    })
}

/// Prints a line for the user. A closed standard error is no failure.
fn say(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "  {text}");
}

/// The exit code of a shard that handed over its report. `written`: the one after its own report files were written.
pub(super) fn exit_code(report: &LoadReport, written: u8) -> u8 {
    let is_unwritten = written != report.exit_code;
    // The signals' codes follow 128.
    if is_unwritten || report.exit_code > 128 { written } else { 0 }
}
