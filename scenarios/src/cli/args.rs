use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::plan::{Rate, Shard, Share, Stages, Threshold, parse_duration};
use crate::service::Downtime;

/// Loads an edge relay and a verdict endpoint, and measures what the truth would be: response times count from the
/// intended start, nothing is lost from the count, and a run that the generator could not keep up with is called invalid.
///
/// Exit codes: 0 every threshold holds; 1 one is broken; 2 the command or a file it names is wrong; 3 invalid or incomplete,
/// so nothing is proven; 130 and 143 ended by a signal, with partial results.
#[derive(Debug, Parser)]
#[command(name = "edgeproof-load", version)]
pub(super) struct Arguments {
    #[command(subcommand)]
    pub(super) command: Command,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Unique collections through an edge
    EdgeRelay(Box<Load>),
    /// A backend asks for verdicts until they are there
    VerdictPolling(Box<Load>),
    /// Whole sessions: a collection in, its verdict out
    Journey(Box<Load>),
    /// All three side by side, each with its part of the rate
    Mixed(Box<Load>),
    /// Add the reports of shards up, and judge the sum
    Merge(Merge),
    /// Prove the generator: percentiles against arithmetic, rates, counts, and that a starved run is called invalid
    SelfTest(SelfTest),
    /// Print the JSON Schema of reports
    Schema,
}

#[derive(Debug, Args)]
pub(super) struct Load {
    /// Operations begun each second, whatever the target does [default without --users: 200]
    #[arg(long, value_name = "RATE", help_heading = "Load", conflicts_with = "stages")]
    pub(super) rate: Option<Rate>,
    /// Rates that change evenly, such as 10s:100,30s:500,10s:0
    #[arg(long, value_name = "STAGES", help_heading = "Load", conflicts_with = "duration")]
    pub(super) stages: Option<Stages>,
    /// How long it is measured [default: 10s]
    #[arg(long, value_name = "TIME", help_heading = "Load", value_parser = parse_duration)]
    pub(super) duration: Option<Duration>,
    /// Users, each with its own connections; without --rate and --stages each begins when its last operation has ended
    #[arg(long, value_name = "N", help_heading = "Load", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(super) users: Option<u32>,
    /// What runs before and is not measured
    #[arg(long, value_name = "TIME", default_value = "2s", help_heading = "Load", value_parser = humantime::parse_duration)]
    pub(super) warm_up: Duration,
    /// Longest wait at the end for what is under way
    #[arg(long, value_name = "TIME", default_value = "10s", help_heading = "Load", value_parser = humantime::parse_duration)]
    pub(super) drain: Duration,
    /// Longest time for a request
    #[arg(long, value_name = "TIME", default_value = "30s", help_heading = "Load", value_parser = parse_duration)]
    pub(super) timeout: Duration,
    /// What an operation is expected to take; else it is tried out before
    #[arg(long, value_name = "TIME", help_heading = "Load", value_parser = parse_duration)]
    pub(super) expect: Option<Duration>,
    /// Parts of edge-relay, verdict-polling and journey in a mixed run
    #[arg(long, value_name = "A,B,C", default_value = "6,3,1", help_heading = "Load")]
    pub(super) weights: String,
    /// What references are made from; else a random number, which the report holds
    #[arg(long, value_name = "N", help_heading = "Load")]
    pub(super) seed: Option<u64>,

    /// An edge that runs already
    #[arg(long, value_name = "URL", help_heading = "Target", conflicts_with = "launch")]
    pub(super) edge_url: Option<String>,
    /// A service that runs already, for verdicts
    #[arg(long, value_name = "URL", help_heading = "Target")]
    pub(super) base_url: Option<String>,
    /// Start this program as the edge; {port} and {host} are filled in
    #[arg(long, value_name = "CMD ARG…", help_heading = "Target")]
    pub(super) launch: Option<String>,
    /// The variable that tells the program its port
    #[arg(long, value_name = "NAME", default_value = "PORT", help_heading = "Target")]
    pub(super) port_env: String,
    /// How long the program may take until it answers
    #[arg(long, value_name = "TIME", default_value = "10s", help_heading = "Target", value_parser = parse_duration)]
    pub(super) ready_timeout: Duration,
    /// What the edge that is started speaks
    #[arg(long, value_enum, default_value_t = EdgeScheme::Http, help_heading = "Target")]
    pub(super) edge_scheme: EdgeScheme,
    /// PEM file with the authority of the edge's certificate; else those of the system
    #[arg(long, value_name = "FILE", help_heading = "Target")]
    pub(super) edge_ca: Option<PathBuf>,
    /// PEM file with the authority of the service's certificate; else those of the system
    #[arg(long, value_name = "FILE", help_heading = "Target")]
    pub(super) service_ca: Option<PathBuf>,
    /// Client certificate to present, PEM
    #[arg(long, value_name = "FILE", help_heading = "Target", requires = "client_key")]
    pub(super) client_cert: Option<PathBuf>,
    /// Its key, PEM
    #[arg(long, value_name = "FILE", help_heading = "Target", requires = "client_cert")]
    pub(super) client_key: Option<PathBuf>,
    /// File that holds the read token for --base-url; else the variable `READ_TOKEN`
    #[arg(long, value_name = "FILE", help_heading = "Target", requires = "base_url")]
    pub(super) read_token_file: Option<PathBuf>,
    /// Settings that `edgeproof mint edge-settings` wrote, where the service that runs already is `edgeproof mock` with
    /// them: its read token and the key to seal to
    #[arg(long, value_name = "DIR", help_heading = "Target")]
    pub(super) settings: Option<PathBuf>,
    /// File with the references to ask for at --base-url, one a line
    #[arg(long, value_name = "FILE", help_heading = "Target", requires = "base_url")]
    pub(super) references: Option<PathBuf>,
    /// Origin of the page that posts
    #[arg(long, value_name = "ORIGIN", default_value = edgeproof::target::ALLOWED_ORIGIN, help_heading = "Target")]
    pub(super) origin: String,
    /// A host that is not this machine and may be loaded (repeatable)
    #[arg(long = "yes-load", value_name = "HOST", help_heading = "Target")]
    pub(super) allowed_hosts: Vec<String>,

    /// AnyScenario of the collections that are copies, which are to be refused
    #[arg(long, value_name = "SHARE", default_value = "0%", help_heading = "Scenario")]
    pub(super) replay_share: Share,
    /// How collections are made
    #[arg(long, value_enum, default_value_t = SealKind::Opaque, help_heading = "Scenario")]
    pub(super) seal: SealKind,
    /// The key to seal to for a service that is not ours: a JSON Web Key
    #[arg(long, value_name = "FILE", help_heading = "Scenario")]
    pub(super) seal_key: Option<PathBuf>,
    /// From one answer to the next question for a verdict
    #[arg(long, value_name = "TIME", default_value = "200ms", help_heading = "Scenario", value_parser = parse_duration)]
    pub(super) poll_interval: Duration,
    /// waitMs of those who let the service wait
    #[arg(long, value_name = "TIME", default_value = "1s", help_heading = "Scenario", value_parser = parse_duration)]
    pub(super) wait: Duration,
    /// AnyScenario of the sessions that are asked for with waitMs
    #[arg(long, value_name = "SHARE", default_value = "50%", help_heading = "Scenario")]
    pub(super) wait_share: Share,
    /// After this time a session is given up
    #[arg(long, value_name = "TIME", default_value = "10s", help_heading = "Scenario", value_parser = parse_duration)]
    pub(super) give_up: Duration,
    /// AnyScenario of the references that are wrong, too old or another license's
    #[arg(long, value_name = "SHARE", default_value = "5%", help_heading = "Scenario")]
    pub(super) wrong_share: Share,
    /// AnyScenario of the questions with a token that is to be refused
    #[arg(long, value_name = "SHARE", default_value = "2%", help_heading = "Scenario")]
    pub(super) bad_token_share: Share,
    /// From a collection until the embedded service has its verdict
    #[arg(long, value_name = "TIME", default_value = "300ms", help_heading = "Scenario", value_parser = parse_duration)]
    pub(super) verdict_after: Duration,

    /// The embedded service takes so much longer
    #[arg(long, value_name = "TIME", help_heading = "InjectedFaults of the service", value_parser = parse_duration)]
    pub(super) service_slow: Option<Duration>,
    /// The embedded service fails so many collections
    #[arg(long, value_name = "SHARE", help_heading = "InjectedFaults of the service")]
    pub(super) service_failing: Option<Share>,
    /// The embedded service is gone at a time for a time
    #[arg(long, value_name = "AT:FOR", help_heading = "InjectedFaults of the service")]
    pub(super) service_down_at: Option<Downtime>,

    /// What must hold, such as p99<250ms (repeatable)
    #[arg(long, value_name = "RULE", help_heading = "Judgement")]
    pub(super) threshold: Vec<Threshold>,
    /// File with thresholds, TOML
    #[arg(long, value_name = "FILE", help_heading = "Judgement")]
    pub(super) thresholds: Option<PathBuf>,
    /// An earlier report of the same load to compare with, JSON; it informs, thresholds judge
    #[arg(long, value_name = "FILE", help_heading = "Judgement")]
    pub(super) compare: Option<PathBuf>,
    /// What counts as a difference there
    #[arg(long, value_name = "SHARE", default_value = "10%", help_heading = "Judgement")]
    pub(super) tolerance: Share,
    /// How late the generator may be before the run is invalid
    #[arg(long, value_name = "TIME", default_value = "10ms", help_heading = "Judgement", value_parser = parse_duration)]
    pub(super) max_lateness: Duration,
    /// Do not judge whether the generator kept up, for benches; the report says so
    #[arg(long, help_heading = "Judgement")]
    pub(super) unchecked: bool,

    /// The part of this process, I/N, counted from 0
    #[arg(long, value_name = "I/N", help_heading = "Shards", conflicts_with = "shards")]
    pub(super) shard: Option<Shard>,
    /// How many processes there are; which one this is says `JOB_COMPLETION_INDEX`
    #[arg(long, value_name = "N", help_heading = "Shards", requires = "seed")]
    pub(super) shards: Option<u32>,
    /// When to start, RFC 3339: the same for all shards
    #[arg(long, value_name = "TIME", help_heading = "Shards", value_parser = humantime::parse_rfc3339_weak)]
    pub(super) start_at: Option<std::time::SystemTime>,

    #[command(flatten)]
    pub(super) output: Output,
    /// Goose's own report: html, md or json by its ending
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(super) goose_report: Option<PathBuf>,
    /// Serve the running figures here, for Prometheus; port 0 lets the system choose
    #[arg(long, value_name = "ADDR", help_heading = "Output")]
    pub(super) prometheus: Option<SocketAddr>,
}

#[derive(Debug, Args, Clone)]
pub(super) struct Output {
    /// Write a report: json, junit, html or markdown (repeatable)
    #[arg(long, value_name = "FORMAT=PATH", help_heading = "Output")]
    pub(super) report: Vec<String>,
    /// Only the result
    #[arg(long, short, help_heading = "Output")]
    pub(super) quiet: bool,
    /// Colours
    #[arg(long, value_enum, default_value_t = Color::Auto, help_heading = "Output")]
    pub(super) color: Color,
}

#[derive(Debug, Args)]
pub(super) struct Merge {
    /// Reports of all shards, JSON
    #[arg(value_name = "FILE", required = true)]
    pub(super) files: Vec<PathBuf>,
    /// What must hold of the sum (repeatable); else what any shard was given, and for the error rate unless it is given here
    #[arg(long, value_name = "RULE", help_heading = "Judgement")]
    pub(super) threshold: Vec<Threshold>,
    /// File with thresholds, TOML
    #[arg(long, value_name = "FILE", help_heading = "Judgement")]
    pub(super) thresholds: Option<PathBuf>,
    #[command(flatten)]
    pub(super) output: Output,
}

#[derive(Debug, Args)]
pub(super) struct SelfTest {
    /// Rates that are driven
    #[arg(long, value_name = "RATE,…", default_value = "100,1000,10000", value_delimiter = ',')]
    pub(super) rates: Vec<Rate>,
    /// How long each takes
    #[arg(long, value_name = "TIME", default_value = "3s", value_parser = parse_duration)]
    pub(super) duration: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum EdgeScheme {
    Http,
    Https,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum SealKind {
    /// Unique and cheap; the embedded service takes them unopened
    Opaque,
    /// Sealed as a collector seals, ahead of time; the embedded service opens and judges them
    Real,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Color {
    Auto,
    Always,
    Never,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_arguments_are_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn the_manifests_give_arguments_that_there_are() {
        let at = "2025-01-01T00:00:00Z";
        let job = include_str!("../../deploy/load-job.yaml");
        let words = job.lines().skip_while(|line| line.trim() != "args:").skip(1);
        let words = words.map_while(|line| line.trim().strip_prefix("- "));
        let words: Vec<String> = words.map(|word| word.replace("START_AT", at)).collect();
        assert!(words.len() > 5, "{words:?}");
        Arguments::try_parse_from(["edgeproof-load".to_owned()].into_iter().chain(words)).unwrap();

        let matrix = include_str!("../../deploy/ci-matrix.yaml");
        let commands: Vec<&str> = matrix.split("--package edgeproof-load -- ").skip(1).collect();
        assert_eq!(commands.len(), 2, "a shard and the sum");
        for command in commands {
            let command = command.split("\n        env:").next().unwrap().split("\n      - ").next().unwrap();
            let command = command.replace("${{ matrix.index }}", "1").replace("${{ github.run_id }}", "7");
            let command = command.replace("${{ needs.start.outputs.at }}", at);
            let words = command.split_whitespace().map(|word| word.replace(['\'', '"'], ""));
            Arguments::try_parse_from(["edgeproof-load".to_owned()].into_iter().chain(words)).unwrap();
        }
    }
}
