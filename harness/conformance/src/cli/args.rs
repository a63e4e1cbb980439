#![expect(clippy::doc_markdown, reason = "doc lines are what `--help` prints, and that is plain text")]

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use edgeproof_fixtures::spec::Version;

/// Proves that the parts of a browser verification service keep their interface.
#[derive(Debug, Parser)]
#[command(name = "edgeproof", version, max_term_width = 110)]
pub(super) struct Arguments {
    #[command(subcommand)]
    pub(super) command: Command,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Prove an edge (the embedded one, a program, or one that runs somewhere), a service, or a key set
    Conformance(Box<Conformance>),
    /// Show the interface as rows: every status, reason, body, limit and testable sentence
    Spec(Spec),
    /// Make credentials and collections: what connects an edge to the mock service, and everything that is refused
    Mint(Mint),
    /// Run the mock service, for tests of edges and backends
    Mock(Box<super::mock::Mock>),
    /// Run the reference edge, with its settings from the environment
    Edge(Edge),
}

/// Exit codes: 0 conforms; 1 a must is broken, a pinned point changed, a baseline line is stale, or with --strict a
/// should is broken; 2 the command or a file it names is wrong; 3 incomplete, so nothing is proven.
#[derive(Debug, Args)]
pub(super) struct Conformance {
    /// What to prove: `edge`, or the address of one; `service`; `keys`. Without it, and without --launch and --url, the
    /// embedded edge
    #[arg(value_name = "edge|service|keys|URL")]
    pub(super) target: Option<String>,

    /// Start this program, once for each configuration that the cases need; {port} and {host} are filled in
    #[arg(long, value_name = "CMD ARG…", help_heading = "Target", conflicts_with_all = ["url", "settings", "no_service"])]
    pub(super) launch: Option<String>,
    /// Attach to an edge that runs already
    #[arg(long, value_name = "URL", help_heading = "Target")]
    pub(super) url: Option<String>,
    /// The settings that the attached edge was started with, as `edgeproof mint edge-settings` wrote them
    #[arg(long, value_name = "DIR", help_heading = "Target", conflicts_with = "no_service")]
    pub(super) settings: Option<PathBuf>,
    /// Where the mock service listens for the attached edge; else as SERVICE_URL in the settings says
    #[arg(long, value_name = "ADDR", help_heading = "Target", requires = "settings")]
    pub(super) service_listen: Option<SocketAddr>,
    /// Only what needs no mock service: for an edge in production
    #[arg(long, help_heading = "Target")]
    pub(super) no_service: bool,
    /// The origin that the edge allows, with --no-service
    #[arg(long, value_name = "ORIGIN", help_heading = "Target", requires = "no_service")]
    pub(super) origin: Option<String>,
    /// The variable that tells the program its port
    #[arg(long, value_name = "NAME", default_value = "PORT", requires = "launch", help_heading = "Target")]
    pub(super) port_env: String,
    /// How long the program may take until it answers
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration, requires = "launch", help_heading = "Target")]
    pub(super) ready_timeout: Duration,
    /// What an edge that edgeproof starts speaks; else http
    #[arg(long, value_enum, help_heading = "Target")]
    pub(super) edge_scheme: Option<Scheme>,
    /// PEM file with the authority of the edge's certificate; else those of the system
    #[arg(long, value_name = "FILE", help_heading = "Target")]
    pub(super) edge_ca: Option<PathBuf>,

    /// The service that gives verdicts, with `service`; with `keys`, the one whose verdicts are verified. Without it the
    /// mock service
    #[arg(long, value_name = "URL", help_heading = "Service and keys")]
    pub(super) base_url: Option<String>,
    /// The address that the key set is below, with `keys`. Without it the mock's
    #[arg(long, value_name = "URL", help_heading = "Service and keys")]
    pub(super) keys_url: Option<String>,
    /// PEM file with the authority of their certificates; else those of the system
    #[arg(long, value_name = "FILE", help_heading = "Service and keys")]
    pub(super) service_ca: Option<PathBuf>,
    /// A read token that is accepted; else the one in the environment variable READ_TOKEN
    #[arg(long, value_name = "TOKEN|@FILE", help_heading = "Service and keys")]
    pub(super) read_token: Option<String>,
    /// A read token whose end has passed
    #[arg(long, value_name = "TOKEN|@FILE", help_heading = "Service and keys")]
    pub(super) expired_token: Option<String>,
    /// A license, to see that it opens nothing
    #[arg(long, value_name = "TOKEN|@FILE", help_heading = "Service and keys")]
    pub(super) license: Option<String>,
    /// Reference of a session that finished less than two minutes ago
    #[arg(long, value_name = "REF", help_heading = "Service and keys")]
    pub(super) session_ref: Option<String>,

    /// Only cases whose id matches (repeatable)
    #[arg(long, value_name = "GLOB", help_heading = "Cases")]
    pub(super) filter: Vec<String>,
    /// No cases whose id matches (repeatable)
    #[arg(long, value_name = "GLOB", help_heading = "Cases")]
    pub(super) exclude: Vec<String>,
    /// Only what failed or could not run according to this JSON report
    #[arg(long, value_name = "REPORT", help_heading = "Cases")]
    pub(super) rerun_failed: Option<PathBuf>,
    /// List the cases, and run none
    #[arg(long, help_heading = "Cases")]
    pub(super) list: bool,
    /// Add a case with this many generated bodies
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Cases")]
    pub(super) fuzz: u32,
    /// Allow cases that need real time
    #[arg(long, help_heading = "Cases")]
    pub(super) waits: bool,

    /// Version of the interface: current or pre-seal
    #[arg(long, value_name = "VERSION", default_value = "current", help_heading = "Interface")]
    pub(super) spec: Version,
    /// How the mock service behaves at open points, in place of the reference profile
    #[arg(long, value_name = "FILE", help_heading = "Interface")]
    pub(super) profile: Option<PathBuf>,
    /// JSON that the mock service refuses with, {reason} and {status} are filled in
    #[arg(long, value_name = "FILE", help_heading = "Interface")]
    pub(super) reply_shape: Option<PathBuf>,
    /// Write down how the target behaves at open points
    #[arg(long, value_name = "FILE", help_heading = "Interface")]
    pub(super) record: Option<PathBuf>,
    /// Assert that it behaves there as recorded
    #[arg(long, value_name = "FILE", help_heading = "Interface")]
    pub(super) pin: Option<PathBuf>,

    /// Known failures: a glob of ids and a reason on each line
    #[arg(long, value_name = "FILE", help_heading = "Run")]
    pub(super) baseline: Option<PathBuf>,
    /// A broken should counts as well
    #[arg(long, help_heading = "Run")]
    pub(super) strict: bool,
    /// Cases at the same time
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=256), help_heading = "Run")]
    pub(super) jobs: u16,
    /// Longest time for a case
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration, help_heading = "Run")]
    pub(super) case_timeout: Duration,
    /// Seed of the order and of generated bodies; else a random one, which is printed
    #[arg(long, value_name = "N", help_heading = "Run")]
    pub(super) seed: Option<u64>,
    /// Play each case so often; the first time that is not right counts
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..), help_heading = "Run")]
    pub(super) repeat: u16,
    /// Begin the cases in a random order
    #[arg(long, help_heading = "Run")]
    pub(super) shuffle: bool,
    /// Stop before this case and print how to call the edge, so that a debugger can be attached
    #[arg(long, value_name = "ID", help_heading = "Run")]
    pub(super) hold: Option<String>,

    /// Write a report: json, junit, html or markdown (repeatable)
    #[arg(long, value_name = "FORMAT=PATH", help_heading = "Output")]
    pub(super) report: Vec<String>,
    /// Annotate the pull request, and write its summary where GITHUB_STEP_SUMMARY says
    #[arg(long, help_heading = "Output")]
    pub(super) github: bool,
    /// Colours
    #[arg(long, value_enum, default_value_t = Color::Auto, help_heading = "Output")]
    pub(super) color: Color,
    /// Only failures and the result
    #[arg(long, short, help_heading = "Output", conflicts_with = "verbose")]
    pub(super) quiet: bool,
    /// Also what was observed at open points, and what does not apply
    #[arg(long, short, help_heading = "Output")]
    pub(super) verbose: bool,
}

#[derive(Debug, Args)]
pub(super) struct Spec {
    #[command(subcommand)]
    pub(super) command: SpecCommand,
}

#[derive(Debug, Subcommand)]
pub(super) enum SpecCommand {
    /// List all rows
    List {
        /// As JSON, with the stimuli and the cases of each row
        #[arg(long)]
        json: bool,
        /// Version of the interface: current or pre-seal
        #[arg(long, value_name = "VERSION", default_value = "current")]
        spec: Version,
    },
    /// Show one row, or one open point of the reference profile
    Show {
        /// Its id, such as relay.401.bad-signature
        id: String,
        /// Version of the interface: current or pre-seal
        #[arg(long, value_name = "VERSION", default_value = "current")]
        spec: Version,
    },
}

#[derive(Debug, Args)]
pub(super) struct Mint {
    #[command(subcommand)]
    pub(super) command: MintCommand,
}

#[derive(Debug, Subcommand)]
pub(super) enum MintCommand {
    /// Settings that connect an edge, also one in a container, to the mock service
    EdgeSettings {
        /// Folder to write: `edge/` is for the edge, `service/` for edgeproof
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
        /// Names and addresses by which the edge reaches the mock service (repeatable); the first one is in SERVICE_URL
        #[arg(long, value_name = "NAME")]
        service_host: Vec<String>,
        /// Port of the mock service
        #[arg(long, value_name = "PORT", default_value_t = 8443)]
        service_port: u16,
        /// ALLOWED_ORIGIN
        #[arg(long, value_name = "ORIGIN", default_value = crate::target::ALLOWED_ORIGIN)]
        origin: String,
        /// Where the edge sees the folder `edge/`, for one in a container
        #[arg(long, value_name = "DIR")]
        mounted_at: Option<PathBuf>,
    },
    /// A license token, valid or wrong in one of the ways that the interface names
    License(super::mint_tokens::License),
    /// A read token, valid or wrong in one of the ways that the interface names
    ReadToken(super::mint_tokens::ReadToken),
    /// Certificates and keys of every part, also those that are refused
    Certificates(super::mint_certificates::Certificates),
    /// A sealed collection, valid or wrong in one of the ways that the interface names
    Collection(super::mint_collection::Collection),
}

/// Settings come from the environment: LICENSE, SERVICE_URL, SERVICE_CA_FILE, EDGE_CLIENT_CERT_FILE,
/// EDGE_CLIENT_KEY_FILE, ALLOWED_ORIGIN; HOST and PORT say where it listens.
#[derive(Debug, Args)]
pub(super) struct Edge {
    /// Where it listens, in place of HOST and PORT
    #[arg(long, value_name = "ADDR")]
    pub(super) listen: Option<SocketAddr>,
    /// Serve HTTPS with this certificate chain (PEM)
    #[arg(long, value_name = "FILE", requires = "key")]
    pub(super) cert: Option<PathBuf>,
    /// Key of the certificate (PEM)
    #[arg(long, value_name = "FILE", requires = "cert")]
    pub(super) key: Option<PathBuf>,
    /// How it behaves at open points, in place of the reference profile
    #[arg(long, value_name = "FILE")]
    pub(super) profile: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Scheme {
    Http,
    Https,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Color {
    Auto,
    Always,
    Never,
}

fn duration(text: &str) -> Result<Duration, String> {
    let time =
        humantime::parse_duration(text).map_err(|why| format!("{why}; write it as 500ms, 10s or 2m"))?;
    if time.is_zero() { Err("it has to be more than nothing".into()) } else { Ok(time) }
}
