#![expect(clippy::doc_markdown, reason = "clap prints these doc comments as plain text")]

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use edgeproof_cli::parse_origin;
use edgeproof_fixtures::credentials::ALLOWED_ORIGIN;
use edgeproof_fixtures::spec::SpecChoice;
use url::Url;

use crate::cli::inputs::parse_listen;

/// Output and end of the command, shown in its help.
const OUTPUT: &str = "\
Standard output shows addresses and test credentials. Standard error gets a line of JSON for each request,
without secrets. The service runs until Ctrl-C or SIGTERM.";

/// Listen address of `--page` without a value.
const PAGE: &str = "127.0.0.1:8400";

#[derive(Debug, Args)]
#[command(after_help = OUTPUT)]
pub(crate) struct MockArgs {
    /// Listen address of the service, with TLS; port 0 is any free port (default: 127.0.0.1:8443, or from --settings)
    #[arg(long, value_name = "ADDR", value_parser = parse_listen, help_heading = "Addresses")]
    pub(super) listen: Option<SocketAddr>,
    /// Listen address of the service without TLS, for clients that cannot use a CA file
    #[arg(long, value_name = "ADDR", value_parser = parse_listen, help_heading = "Addresses")]
    pub(super) plain: Option<SocketAddr>,
    /// Listen address of a reference edge in front of the service, over HTTP
    #[arg(long, value_name = "ADDR", value_parser = parse_listen, help_heading = "Addresses")]
    pub(super) edge: Option<SocketAddr>,
    /// Listen address of the admin API: journal, scripts, faults, clock, keys, sessions, reset
    #[arg(long, value_name = "ADDR", value_parser = parse_listen, help_heading = "Addresses")]
    pub(super) admin: Option<SocketAddr>,
    /// Listen address of a demo page: the reference collector, with an edge of its own (without ADDR: 127.0.0.1:8400)
    #[arg(long, value_name = "ADDR", value_parser = parse_listen, num_args = 0..=1, default_missing_value = PAGE, help_heading = "Addresses", conflicts_with = "magic")]
    pub(super) page: Option<SocketAddr>,
    /// Allow --plain, --admin and --page on addresses that other machines can reach
    #[arg(long, help_heading = "Addresses")]
    pub(super) open: bool,
    /// Host name that clients of the admin API may use, besides addresses and localhost (repeatable)
    #[arg(long, value_name = "NAME", help_heading = "Addresses", requires = "admin")]
    pub(super) admin_host: Vec<String>,
    /// Name or address of the service in its certificate (repeatable); SERVICE_URL holds the first
    #[arg(long, value_name = "NAME", help_heading = "Addresses", conflicts_with = "settings")]
    pub(super) service_host: Vec<String>,

    /// Settings from `edgeproof mint edge-settings` (default: new ones, removed at the end)
    #[arg(long, value_name = "DIR", help_heading = "Behaviour")]
    pub(super) settings: Option<PathBuf>,
    /// ALLOWED_ORIGIN of the edge
    #[arg(long, value_name = "ORIGIN", value_parser = parse_origin, default_value = ALLOWED_ORIGIN, help_heading = "Behaviour", conflicts_with = "settings")]
    pub(super) origin: String,
    /// Seed of random faults, new tokens and ids (default: random, printed)
    #[arg(long, value_name = "N", help_heading = "Behaviour")]
    pub(super) seed: Option<u64>,
    /// The interface: current, pre-seal, a folder of tables, or an overlay file
    #[arg(long, value_name = "SPEC", default_value_t, help_heading = "Behaviour")]
    pub(super) spec: SpecChoice,
    /// Behaviour at open points (default: the reference profile)
    #[arg(long, value_name = "FILE", help_heading = "Behaviour")]
    pub(super) profile: Option<PathBuf>,

    /// Print one line of JSON when everything is ready
    #[arg(long, help_heading = "Output")]
    pub(super) json: bool,
    /// Print the magic values with their rows and exit
    #[arg(long, help_heading = "Output")]
    pub(super) magic: bool,
    /// Get this URL of a running mock service and exit: 0 if it is healthy, 1 if not
    #[arg(long, value_name = "URL", help_heading = "Output", exclusive = true)]
    pub(super) health: Option<Url>,
    /// Log no requests
    #[arg(long, short, help_heading = "Output")]
    pub(super) quiet: bool,
}
