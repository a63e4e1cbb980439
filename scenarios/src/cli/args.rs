use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use edgeproof_cli::args::{ColorChoice, EdgeScheme, ReportArgument, parse_duration, parse_duration_or_zero};
use edgeproof_cli::{CompletionsArgs, parse_origin};
use edgeproof_fixtures::spec::SpecChoice;
use url::Url;

use super::self_test::Confined;
use crate::plan::{MAX_USERS, Rate, Shard, Share, Stages, Threshold};
use crate::scenario::PollOptions;
use crate::service::InjectedFaults;

/// Load test for an edge and a verdict endpoint
///
/// Response times count from the intended start of a request. A run is invalid if the generator could not keep up.
///
/// Exit codes: 0 all thresholds hold; 1 a threshold is broken; 2 the command or a file that it names is invalid; 3 the run
/// is invalid or incomplete; 130, 143 ended by a signal, with partial results.
#[derive(Debug, Parser)]
#[command(name = "edgeproof-load", version)]
pub(super) struct LoadArguments {
    #[command(subcommand)]
    pub(super) command: LoadCommand,
}

#[derive(Debug, Subcommand)]
pub(super) enum LoadCommand {
    /// Post unique collections to an edge
    EdgeRelay(Box<Load>),
    /// Poll a service for verdicts
    VerdictPolling(Box<Load>),
    /// Play whole sessions: post a collection, then poll for its verdict
    Journey(Box<Load>),
    /// Run the three scenarios above in parallel
    Mixed(Box<Load>),
    /// Run a load test of edgeproof.toml
    Run(ProjectRun),
    /// Merge the reports of shards and judge the sum
    Merge(Merge),
    /// Start the shards of a run together, take their reports, merge them and judge the sum
    ///
    /// Give all shards --gather URL. Gather schedules and restarts nothing: that is the work of the cluster. Its exit code is
    /// that of the run. If a shard is lost, or gather is ended by a signal, it reports the others as incomplete.
    Gather(Gather),
    /// Check the generator itself against servers that record the truth, also while it is starved of CPU
    SelfTest(SelfTest),
    /// Print the JSON Schema of load reports
    Schema,
    /// Print completions for a shell
    Completions(CompletionsArgs),
}

impl LoadCommand {
    /// Its options, if it loads.
    pub(super) fn load(&mut self) -> Option<&mut Load> {
        match self {
            Self::EdgeRelay(load) | Self::VerdictPolling(load) | Self::Journey(load) | Self::Mixed(load) => {
                Some(load)
            }
            _ => None,
        }
    }
}

#[derive(Debug, Args)]
pub(super) struct ProjectRun {
    /// Its name: that of the table [load.NAME] (default: the only one)
    #[arg(value_name = "NAME", allow_hyphen_values = true)]
    pub(super) name: Option<OsString>,
    /// Options of its scenario, which go before the file
    #[arg(value_name = "OPTION", trailing_var_arg = true, allow_hyphen_values = true)]
    pub(super) options: Vec<OsString>,
}

#[derive(Debug, Args)]
pub(super) struct Load {
    /// Folder in which the launched edge runs (default: the current folder)
    #[arg(skip)]
    pub(super) launch_folder: Option<PathBuf>,
    /// Folder in which the state hook runs (default: the current folder)
    #[arg(skip)]
    pub(super) state_folder: Option<PathBuf>,
    /// Operations per second, open model (default: 200, or closed model with --users)
    #[arg(long, value_name = "RATE", help_heading = "Load", conflicts_with = "stages")]
    pub(super) rate: Option<Rate>,
    /// Rates that change linearly, such as 10s:100,30s:500,10s:0
    #[arg(long, value_name = "STAGES", help_heading = "Load", conflicts_with = "duration")]
    pub(super) stages: Option<Stages>,
    /// Length of the measured period (default: 10s)
    #[arg(long, value_name = "TIME", help_heading = "Load", value_parser = parse_duration)]
    pub(super) duration: Option<Duration>,
    /// Users with their own connections (default: enough for 2 s of the highest rate). Without a rate: closed model
    #[arg(long, value_name = "N", help_heading = "Load", value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_USERS)))]
    pub(super) users: Option<u32>,
    /// Time before the measured period
    #[arg(long, value_name = "TIME", default_value = "2s", help_heading = "Load", value_parser = parse_duration_or_zero)]
    pub(super) warm_up: Duration,
    /// Longest wait at the end for running operations
    #[arg(long, value_name = "TIME", default_value = "10s", help_heading = "Load", value_parser = parse_duration_or_zero)]
    pub(super) drain: Duration,
    /// Request timeout
    #[arg(long, value_name = "TIME", default_value = "30s", help_heading = "Load", value_parser = parse_duration)]
    pub(super) timeout: Duration,
    /// Expected duration of an operation, used for the default number of users
    #[arg(long, value_name = "TIME", help_heading = "Load", value_parser = parse_duration)]
    pub(super) expect: Option<Duration>,
    /// Weights of edge-relay, verdict-polling and journey in a mixed run
    #[arg(long, value_name = "A,B,C", default_value = "6,3,1", help_heading = "Load")]
    pub(super) weights: String,
    /// Seed of session references (default: random, see the report)
    #[arg(long, value_name = "N", help_heading = "Load")]
    pub(super) seed: Option<u64>,

    /// Base URL of a running edge (default: the built-in edge)
    #[arg(long, value_name = "URL", help_heading = "Target", conflicts_with = "launch")]
    pub(super) edge_url: Option<String>,
    /// Base URL of a running service, for verdicts (default: the built-in mock)
    #[arg(long, value_name = "URL", help_heading = "Target")]
    pub(super) base_url: Option<String>,
    /// Command that starts the edge; {port} and {host} are replaced
    #[arg(long, value_name = "CMD ARG…", help_heading = "Target")]
    pub(super) launch: Option<String>,
    /// Variable with the port for the launched edge
    #[arg(long, value_name = "NAME", default_value = "PORT", help_heading = "Target")]
    pub(super) port_env: String,
    /// Startup timeout of the launched edge
    #[arg(long, value_name = "TIME", default_value = "10s", help_heading = "Target", value_parser = parse_duration)]
    pub(super) ready_timeout: Duration,
    /// Scheme of the launched edge
    #[arg(long, value_enum, default_value_t = EdgeScheme::Http, help_heading = "Target", requires_if("https", "launch"))]
    pub(super) edge_scheme: EdgeScheme,
    /// CA file for the edge's certificate (default: system roots)
    #[arg(long, value_name = "FILE", help_heading = "Target")]
    pub(super) edge_ca: Option<PathBuf>,
    /// CA file for the service's certificate (default: system roots)
    #[arg(long, value_name = "FILE", help_heading = "Target")]
    pub(super) service_ca: Option<PathBuf>,
    /// Client certificate (PEM)
    #[arg(long, value_name = "FILE", help_heading = "Target", requires = "client_key")]
    pub(super) client_cert: Option<PathBuf>,
    /// Key of the client certificate (PEM)
    #[arg(long, value_name = "FILE", help_heading = "Target", requires = "client_cert")]
    pub(super) client_key: Option<PathBuf>,
    /// File with the read token for --base-url (default: the variable `READ_TOKEN`)
    #[arg(long, value_name = "FILE", help_heading = "Target", requires = "base_url")]
    pub(super) read_token_file: Option<PathBuf>,
    /// Settings folder of a running `edgeproof mock`: read token and seal key
    #[arg(long, value_name = "DIR", help_heading = "Target")]
    pub(super) settings: Option<PathBuf>,
    /// The interface: current, pre-seal, a folder of tables, or an overlay file
    #[arg(long, value_name = "SPEC", default_value_t, help_heading = "Target")]
    pub(super) spec: SpecChoice,
    /// File with session references to poll at --base-url, one per line
    #[arg(long, value_name = "FILE", help_heading = "Target", requires = "base_url")]
    pub(super) references: Option<PathBuf>,
    /// State hook of the service at --base-url: a URL that makes its sessions (docs/services.md)
    #[arg(long, value_name = "URL", help_heading = "Target", requires = "base_url", conflicts_with_all = ["references", "state_command"])]
    pub(super) state_url: Option<String>,
    /// State hook of the service at --base-url: a program that makes its sessions
    #[arg(
        long,
        value_name = "CMD",
        help_heading = "Target",
        requires = "base_url",
        conflicts_with = "references"
    )]
    pub(super) state_command: Option<String>,
    /// Header of requests to --state-url, such as a credential
    #[arg(long, value_name = "NAME: VALUE|@FILE", help_heading = "Target", requires = "state_url")]
    pub(super) state_header: Option<String>,
    /// Origin header of collections
    #[arg(long, value_name = "ORIGIN", value_parser = parse_origin, default_value = edgeproof_fixtures::credentials::ALLOWED_ORIGIN, help_heading = "Target")]
    pub(super) origin: String,
    /// Remote host that may be loaded (repeatable)
    #[arg(long = "yes-load", value_name = "HOST", help_heading = "Target")]
    pub(super) allowed_hosts: Vec<String>,

    /// Share of replayed collections, which must be refused
    #[arg(long, value_name = "SHARE", default_value = "0%", help_heading = "Scenario")]
    pub(super) replay_share: Share,
    /// Encryption of collections
    #[arg(long, value_enum, default_value_t = SealKind::Opaque, help_heading = "Scenario")]
    pub(super) seal: SealKind,
    /// Seal key of a foreign service (JSON Web Key)
    #[arg(long, value_name = "FILE", help_heading = "Scenario")]
    pub(super) seal_key: Option<PathBuf>,
    #[command(flatten)]
    pub(super) polling: PollOptions,
    /// Time from a collection to its verdict in the mock service
    #[arg(long, value_name = "TIME", default_value = "300ms", help_heading = "Scenario", value_parser = parse_duration)]
    pub(super) verdict_after: Duration,

    #[command(flatten)]
    pub(super) faults: InjectedFaults,

    /// Limit such as p99<250ms (repeatable) (default: error-rate<=1% and delivered>=99%)
    ///
    /// delivered is the share of the planned rate that the target completed as expected; delivered>0% switches its
    /// default off. Percentiles include all requests; a request without an answer counts as slower than all others.
    #[arg(long, value_name = "RULE", help_heading = "Thresholds")]
    pub(super) threshold: Vec<Threshold>,
    /// TOML file with thresholds
    #[arg(long, value_name = "FILE", help_heading = "Thresholds")]
    pub(super) thresholds: Option<PathBuf>,
    /// Baseline report to compare with (JSON); it does not affect the exit code
    #[arg(long, value_name = "FILE", help_heading = "Thresholds")]
    pub(super) compare: Option<PathBuf>,
    /// Smallest difference from the baseline that counts
    #[arg(long, value_name = "SHARE", default_value = "10%", help_heading = "Thresholds")]
    pub(super) tolerance: Share,
    /// Do not check whether the generator kept up; the report says so
    #[arg(long, help_heading = "Thresholds")]
    pub(super) unchecked: bool,

    /// Part of the run for this process, from 0: 0/4, 1/4, 2/4, 3/4
    #[arg(long, value_name = "I/N", help_heading = "Shards", conflicts_with = "shards")]
    pub(super) shard: Option<Shard>,
    /// Number of shards in a Kubernetes Indexed Job; `JOB_COMPLETION_INDEX` selects the shard
    #[arg(long, value_name = "N", help_heading = "Shards", requires = "seed")]
    pub(super) shards: Option<u32>,
    /// URL of `edgeproof-load gather`, which starts all shards together and takes the report of this one
    #[arg(long, value_name = "URL", help_heading = "Shards", conflicts_with = "start_at", value_parser = parse_gather_url)]
    pub(super) gather: Option<Url>,
    /// File with the token of --gather (default: the variable `GATHER_TOKEN`)
    #[arg(long, value_name = "FILE", help_heading = "Shards", requires = "gather")]
    pub(super) gather_token_file: Option<PathBuf>,
    /// Common start time of all shards (RFC 3339)
    #[arg(long, value_name = "TIME", help_heading = "Shards", value_parser = humantime::parse_rfc3339_weak)]
    pub(super) start_at: Option<std::time::SystemTime>,

    #[command(flatten)]
    pub(super) output: OutputOptions,
    /// Serve Prometheus metrics on this address; port 0 selects a free port
    #[arg(long, value_name = "ADDR", help_heading = "Output")]
    pub(super) prometheus: Option<SocketAddr>,
}

#[derive(Debug, Args, Clone)]
pub(super) struct OutputOptions {
    /// Write a report: json, junit, html or markdown; - is standard output (repeatable)
    #[arg(long, value_name = "FORMAT=PATH", help_heading = "Output")]
    pub(super) report: Vec<ReportArgument>,
    /// Print only the result
    #[arg(long, short, help_heading = "Output")]
    pub(super) quiet: bool,
    /// Coloured output
    #[arg(long, value_enum, default_value_t = ColorChoice::Auto, help_heading = "Output")]
    pub(super) color: ColorChoice,
}

#[derive(Debug, Args)]
pub(super) struct Merge {
    /// JSON reports of all shards
    #[arg(value_name = "FILE", required = true)]
    pub(super) files: Vec<PathBuf>,
    /// Limit such as p99<250ms (repeatable) (default: the shards' thresholds)
    #[arg(long, value_name = "RULE", help_heading = "Thresholds")]
    pub(super) threshold: Vec<Threshold>,
    /// TOML file with thresholds
    #[arg(long, value_name = "FILE", help_heading = "Thresholds")]
    pub(super) thresholds: Option<PathBuf>,
    #[command(flatten)]
    pub(super) output: OutputOptions,
}

#[derive(Debug, Args)]
pub(super) struct Gather {
    /// Number of shards
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_SHARDS)))]
    pub(super) shards: u32,
    /// Address to listen on: PORT, IP:PORT or HOST:PORT; port 0 selects a free port
    #[arg(long, value_name = "ADDR", value_parser = parse_listen)]
    pub(super) listen: SocketAddr,
    /// File with the token that all shards give (default: the variable `GATHER_TOKEN`)
    #[arg(long = "gather-token-file", value_name = "FILE")]
    pub(super) token_file: Option<PathBuf>,
    /// How long to wait for all shards before the run
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = parse_duration)]
    pub(super) wait: Duration,
    /// Limit such as p99<250ms (repeatable) (default: the shards' thresholds)
    #[arg(long, value_name = "RULE", help_heading = "Thresholds")]
    pub(super) threshold: Vec<Threshold>,
    /// TOML file with thresholds
    #[arg(long, value_name = "FILE", help_heading = "Thresholds")]
    pub(super) thresholds: Option<PathBuf>,
    #[command(flatten)]
    pub(super) output: OutputOptions,
}

/// Largest number of shards of one gather.
const MAX_SHARDS: u32 = 1000;

/// A URL is shown, so it must not have a secret.
fn parse_gather_url(text: &str) -> Result<Url, String> {
    let example = "write it as gather prints it, such as http://gather:7117";
    let url = Url::parse(text).map_err(|why| format!("{why}; {example}"))?;
    let is_plain = url.username().is_empty() && url.password().is_none() && url.query().is_none();
    if matches!(url.scheme(), "http" | "https") && is_plain {
        Ok(url)
    } else {
        Err(format!("it is no plain http or https URL; {example}"))
    }
}

fn parse_listen(text: &str) -> Result<SocketAddr, String> {
    edgeproof_http::listen_address(text)
        .map_err(|why| format!("{}; write PORT, IP:PORT or HOST:PORT", why.why()))
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
pub(super) struct SelfTest {
    /// Rates to check
    #[arg(long, value_name = "RATE,…", default_value = "1,100,1000,10000,20000", value_delimiter = ',')]
    pub(super) rates: Vec<Rate>,
    /// Length of each check of a rate or of a starved generator
    #[arg(long, value_name = "TIME", default_value = "2s", value_parser = parse_duration)]
    pub(super) duration: Duration,
    /// Run only checks whose name contains this text (repeatable)
    #[arg(long, value_name = "TEXT")]
    pub(super) filter: Vec<String>,
    /// List the checks and run none
    #[arg(long)]
    pub(super) list: bool,
    #[command(subcommand)]
    pub(super) part: Option<SelfTestPart>,
}

/// Processes that the self-test starts.
#[derive(Debug, Subcommand)]
pub(super) enum SelfTestPart {
    /// Serve with this behaviour (JSON) until standard input ends, then print the record
    #[command(hide = true)]
    Serve {
        /// The behaviour
        behaviour: String,
    },
    /// Use a CPU until standard input ends
    #[command(hide = true)]
    Busy,
    /// Run this program with the given arguments and limits
    #[command(hide = true)]
    Confined(Confined),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum SealKind {
    /// Unique, unencrypted and cheap; the mock accepts them unopened
    Opaque,
    /// Sealed in advance as a collector seals; the mock opens and verifies them
    Real,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_consistent() {
        edgeproof_cli::command::<LoadArguments>().debug_assert();
    }

    #[test]
    fn manifests_use_existing_arguments() {
        let at = "2025-01-01T00:00:00Z";
        let job = include_str!("../../deploy/load-job.yaml");
        let args = job.lines().skip_while(|line| line.trim() != "args:").skip(1);
        let args = args.map_while(|line| line.trim().strip_prefix("- "));
        let args: Vec<String> = args.map(|word| word.replace("START_AT", at)).collect();
        assert!(args.len() > 5, "{args:?}");
        LoadArguments::try_parse_from(["edgeproof-load".to_owned()].into_iter().chain(args)).unwrap();

        let matrix = include_str!("../../deploy/ci-matrix.yaml");
        let commands: Vec<&str> = matrix.split("--package edgeproof-load -- ").skip(1).collect();
        assert_eq!(commands.len(), 2, "one command for shards, one for merge");
        for command in commands {
            let command = command.split("\n        env:").next().unwrap().split("\n      - ").next().unwrap();
            let command = command.replace("${{ matrix.index }}", "1").replace("${{ github.run_id }}", "7");
            let command = command.replace("${{ needs.start.outputs.at }}", at);
            let args = shell_words::split(&command).unwrap();
            LoadArguments::try_parse_from(["edgeproof-load".to_owned()].into_iter().chain(args)).unwrap();
        }
    }
}
