#![expect(clippy::doc_markdown, reason = "clap prints these doc comments as plain text")]

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use edgeproof_cli::Failure;
use edgeproof_cli::args::{EdgeScheme, parse_duration};
use edgeproof_fixtures::spec::{Profile, Spec, SpecChoice};
use edgeproof_mock::ReplyShape;

use crate::cli::inputs::{parse_listen, profile};

/// The edge that a command starts or attaches to.
#[derive(Debug, Args)]
pub(crate) struct EdgeTargetArgs {
    /// Start this command, once for each configuration; {port} and {host} are replaced
    #[arg(long, value_name = "CMD ARG…", help_heading = "Edge", conflicts_with_all = ["url", "settings"])]
    pub(crate) launch: Option<String>,
    /// Base URL of a running edge
    #[arg(long, value_name = "URL", help_heading = "Edge")]
    pub(crate) url: Option<String>,
    /// Settings of the running edge, from `edgeproof mint edge-settings`
    #[arg(long, value_name = "DIR", help_heading = "Edge")]
    pub(crate) settings: Option<PathBuf>,
    /// Listen address of the mock service for the running edge (default: from SERVICE_URL in the settings)
    #[arg(long, value_name = "ADDR", value_parser = parse_listen, help_heading = "Edge", requires = "settings")]
    pub(crate) service_listen: Option<SocketAddr>,
    /// Environment variable that gives the launched edge its port
    #[arg(long, value_name = "NAME", default_value = "PORT", requires = "launch", help_heading = "Edge")]
    pub(crate) port_env: String,
    /// Startup timeout of the launched edge
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = parse_duration, requires = "launch", help_heading = "Edge")]
    pub(crate) ready_timeout: Duration,
    /// Scheme of the launched or embedded edge (default: http)
    #[arg(long, value_name = "SCHEME", value_enum, hide_possible_values = true, help_heading = "Edge")]
    pub(crate) edge_scheme: Option<EdgeScheme>,
    /// CA file for the edge's certificate, or this certificate itself (default: system roots)
    #[arg(long, value_name = "FILE", help_heading = "Edge")]
    pub(crate) edge_ca: Option<PathBuf>,
    /// Folder in which the launched edge runs (default: the current folder)
    #[arg(skip)]
    pub(crate) launch_folder: Option<PathBuf>,
}

/// The interface, and the mock service's behaviour.
#[derive(Debug, Args)]
pub(crate) struct InterfaceArgs {
    /// The interface: current, pre-seal, a folder of tables, or an overlay file
    #[arg(long, value_name = "SPEC", default_value_t, help_heading = "Interface")]
    pub(crate) spec: SpecChoice,
    /// Behaviour of the mock service at open points (default: the reference profile)
    #[arg(long, value_name = "FILE", help_heading = "Interface")]
    pub(crate) profile: Option<PathBuf>,
    /// JSON body of the mock service's refusals; {reason} and {status} are replaced
    #[arg(long, value_name = "FILE", help_heading = "Interface")]
    pub(crate) reply_shape: Option<PathBuf>,
}

impl InterfaceArgs {
    /// The tables, the profile, and the shape of the mock service's refusals.
    pub(crate) fn load(&self) -> Result<(Arc<Spec>, Profile, ReplyShape), Failure> {
        let spec = Arc::new(self.spec.load()?);
        let profile = profile(&spec, self.profile.as_deref())?;
        let shape = match &self.reply_shape {
            Some(path) => ReplyShape::load(path)?,
            None => ReplyShape::from_profile(&profile),
        };
        Ok((spec, profile, shape))
    }
}
