#![expect(clippy::doc_markdown, reason = "clap prints these doc comments as plain text")]

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use edgeproof_cli::args::{ColorChoice, ReportArgument, parse_duration};
use edgeproof_cli::parse_origin;

use crate::cli::config::ConfigArgs;
use crate::cli::edges::{EdgeTargetArgs, InterfaceArgs};

/// Exit codes, shown in the help.
const EXIT_CODES: &str = "\
Exit codes:
  0         the target conforms
  1         a must is violated, a pinned point changed, or a baseline line is stale;
            with --strict also if a should is violated
  2         the command or a file that it names is invalid; nothing ran
  3         incomplete: a planned case could not run, so nothing is proven, or an unfiltered
            run did not observe a pinned point; with --require-all also if cases lack an input
  130, 143  stopped by SIGINT, SIGTERM";

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct ConformanceArgs {
    /// `edge`, the URL of an edge, `service`, `keys` or `collector` (default: the target of edgeproof.toml, or else
    /// the embedded reference edge)
    #[arg(value_name = "edge|service|keys|collector|URL")]
    pub(super) target: Option<String>,
    #[command(flatten)]
    pub(super) edge: EdgeTargetArgs,
    /// Run only cases that need no mock service, for an edge in production
    #[arg(long, help_heading = "Edge", conflicts_with_all = ["launch", "settings"])]
    pub(super) no_service: bool,
    /// Origin that the edge allows, with --no-service
    #[arg(long, value_name = "ORIGIN", value_parser = parse_origin, help_heading = "Edge")]
    pub(super) origin: Option<String>,

    /// Service base URL; with `keys`, the service whose verdicts are verified (default: the built-in mock)
    #[arg(long, value_name = "URL", help_heading = "Service and key set")]
    pub(super) base_url: Option<String>,
    /// Key set base URL, with `keys` (default: the built-in mock)
    #[arg(long, value_name = "URL", help_heading = "Service and key set")]
    pub(super) keys_url: Option<String>,
    /// CA file for the certificates of service and key set, or such a certificate itself (default: system roots)
    #[arg(long, value_name = "FILE", help_heading = "Service and key set")]
    pub(super) service_ca: Option<PathBuf>,
    /// Valid read token (default: READ_TOKEN from the environment)
    #[arg(long, value_name = "TOKEN|@FILE", help_heading = "Service and key set")]
    pub(super) read_token: Option<String>,
    /// Expired read token (default: READ_TOKEN_EXPIRED from the environment)
    #[arg(long, value_name = "TOKEN|@FILE", help_heading = "Service and key set")]
    pub(super) expired_token: Option<String>,
    /// License, to check that the service refuses it as a read token
    #[arg(long, value_name = "TOKEN|@FILE", help_heading = "Service and key set")]
    pub(super) license: Option<String>,
    /// Reference of a session that finished less than 2 minutes ago
    #[arg(long, value_name = "REF", help_heading = "Service and key set")]
    pub(super) session_ref: Option<String>,
    /// State hook of a test system: a URL that takes states as JSON (docs/services.md)
    #[arg(long, value_name = "URL", help_heading = "Service and key set", conflicts_with = "state_command")]
    pub(super) state_url: Option<String>,
    /// State hook of a test system: a program that reads a state as JSON
    #[arg(long, value_name = "CMD", help_heading = "Service and key set")]
    pub(super) state_command: Option<String>,
    /// Header of requests to --state-url, such as a credential
    #[arg(
        long,
        value_name = "NAME: VALUE|@FILE",
        help_heading = "Service and key set",
        requires = "state_url"
    )]
    pub(super) state_header: Option<String>,

    /// ES module that exports create(options), by path or URL (default: the reference collector)
    #[arg(long, value_name = "FILE|URL", help_heading = "Collector")]
    pub(super) module: Option<String>,
    /// Name of the collector's maker in its error texts (default: service)
    #[arg(long, value_name = "NAME", help_heading = "Collector")]
    pub(super) name: Option<String>,
    /// Command that opens a collection in the collector's own format (docs/collector.md)
    #[arg(long, value_name = "CMD", help_heading = "Collector")]
    pub(super) open_with: Option<String>,
    /// Chromium or Chrome (default: CHROME from the environment, then the usual places)
    #[arg(long, value_name = "FILE", help_heading = "Collector")]
    pub(super) chromium: Option<PathBuf>,

    /// Run only cases with a matching id (repeatable)
    #[arg(long, value_name = "GLOB", help_heading = "Cases")]
    pub(super) filter: Vec<String>,
    /// Exclude cases with a matching id (repeatable)
    #[arg(long, value_name = "GLOB", help_heading = "Cases")]
    pub(super) exclude: Vec<String>,
    /// Run only cases that failed or could not run in this JSON report
    #[arg(long, value_name = "REPORT", help_heading = "Cases")]
    pub(super) rerun_failed: Option<PathBuf>,
    /// Run only cases that failed or could not run in the last run in this project; all cases if none did
    #[arg(long, help_heading = "Cases", conflicts_with = "rerun_failed")]
    pub(super) failed: bool,
    /// Run only the cases that this version of edgeproof had
    #[arg(long, value_name = "VERSION", help_heading = "Cases")]
    pub(super) cases_of: Option<String>,
    /// List the cases and run none
    #[arg(long, help_heading = "Cases")]
    pub(super) list: bool,
    /// Number of generated bodies to send, as one more case
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Cases")]
    pub(super) fuzz: u32,
    /// Number of random sequences of steps to play, as one more case
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Cases")]
    pub(super) explore: u32,
    /// Folder for the shrunk sequences that fail, with --explore
    #[arg(long, value_name = "DIR", help_heading = "Cases")]
    pub(super) save: Option<PathBuf>,
    /// Play a saved sequence, as one more case (repeatable)
    #[arg(long, value_name = "FILE", help_heading = "Cases")]
    pub(super) replay: Vec<PathBuf>,
    /// Leave out the cases that explore variation
    #[arg(long, help_heading = "Cases")]
    pub(super) quick: bool,
    /// Also play what is too slow for a default run: late replies, idle connections, long series. Takes about 35 s
    #[arg(long, help_heading = "Cases")]
    pub(super) thorough: bool,
    /// Allow cases that take minutes of real time
    #[arg(long, help_heading = "Cases")]
    pub(super) waits: bool,

    #[command(flatten)]
    pub(super) interface: InterfaceArgs,
    /// Record the target's behaviour at open points
    #[arg(long, value_name = "FILE", help_heading = "Interface")]
    pub(super) record: Option<PathBuf>,
    /// Fail if the target's behaviour at open points differs from this record
    #[arg(long, value_name = "FILE", help_heading = "Interface")]
    pub(super) pin: Option<PathBuf>,

    /// Known failures: a glob of case ids and a reason on each line
    #[arg(long, value_name = "FILE", help_heading = "Run")]
    pub(super) baseline: Option<PathBuf>,
    /// Write a baseline of the failures of this run to a new file, each with its cause as a reason to complete
    #[arg(long, value_name = "FILE", help_heading = "Run")]
    pub(super) write_baseline: Option<PathBuf>,
    /// Treat violated should requirements as failures
    #[arg(long, help_heading = "Run")]
    pub(super) strict: bool,
    /// Exit 3 if cases lack an input, such as a read token
    #[arg(long, help_heading = "Run")]
    pub(super) require_all: bool,
    /// Number of cases that run at the same time, 1 to 256. On targets that already run, cases without a wait run one at
    /// a time
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=256), help_heading = "Run")]
    pub(super) jobs: u16,
    /// Timeout of a case
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = parse_duration, help_heading = "Run")]
    pub(super) case_timeout: Duration,
    /// Seed of the order, of generated bodies and of sequences (default: random, printed)
    #[arg(long, value_name = "N", help_heading = "Run")]
    pub(super) seed: Option<u64>,
    /// Run each case N times and report the first failure
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..), help_heading = "Run")]
    pub(super) repeat: u16,
    /// Run the cases in random order
    #[arg(long, help_heading = "Run")]
    pub(super) shuffle: bool,
    /// Stop before this case and print how to call the edge, to attach a debugger
    #[arg(long, value_name = "ID", help_heading = "Run")]
    pub(super) hold: Option<String>,

    /// Write a report: json, junit, html or markdown; - is standard output (repeatable)
    #[arg(long, value_name = "FORMAT=PATH", help_heading = "Output")]
    pub(super) report: Vec<ReportArgument>,
    /// Annotate the pull request and write a summary to GITHUB_STEP_SUMMARY
    #[arg(long, help_heading = "Output")]
    pub(super) github: bool,
    /// Colour: auto, always or never
    #[arg(long, value_name = "WHEN", value_enum, hide_possible_values = true, default_value_t = ColorChoice::Auto, help_heading = "Output")]
    pub(super) color: ColorChoice,
    /// Show all failures and warnings in full
    #[arg(long, help_heading = "Output")]
    pub(super) details: bool,
    /// Show only failures, the result, and what limits it: missing inputs, unchecked pins, open points that often
    /// are a mistake
    #[arg(long, short, help_heading = "Output", conflicts_with = "verbose")]
    pub(super) quiet: bool,
    /// Also show observations and the ids of cases that do not apply
    #[arg(long, short, help_heading = "Output")]
    pub(super) verbose: bool,

    #[command(flatten)]
    pub(super) config: ConfigArgs,
    /// Test the built-in part, and ignore edgeproof.toml
    #[arg(long, help_heading = "Configuration", conflicts_with_all = ["config_target", "launch", "url", "settings", "base_url", "keys_url", "module"])]
    pub(super) embedded: bool,
    /// Folder in which the state hook runs (default: the current folder)
    #[arg(skip)]
    pub(super) state_folder: Option<PathBuf>,
    /// Folder in which the command of --open-with runs (default: the current folder)
    #[arg(skip)]
    pub(super) open_folder: Option<PathBuf>,
    /// Folder of `edgeproof.toml`, which keeps the last run (default: the current folder)
    #[arg(skip)]
    pub(super) project: Option<PathBuf>,
}
