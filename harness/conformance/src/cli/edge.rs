use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use edgeproof_cli::{Failure, LogWriter, error_text, runtime, signals};
use edgeproof_edge::{LogSink, ProgramOptions, run_program};
use edgeproof_fixtures::spec::SpecChoice;
use miette::Diagnostic as _;

use super::inputs::{parse_listen, profile};

/// Environment of the edge, shown in its help.
const ENVIRONMENT: &str = "\
Environment:
  LICENSE, SERVICE_URL, SERVICE_CA_FILE, EDGE_CLIENT_CERT_FILE, EDGE_CLIENT_KEY_FILE, ALLOWED_ORIGIN
  HOST, PORT  listen address";

#[derive(Debug, Args)]
#[command(after_help = ENVIRONMENT)]
pub(super) struct EdgeArgs {
    /// Listen address (default: from HOST and PORT)
    #[arg(long, value_name = "ADDR", value_parser = parse_listen)]
    listen: Option<SocketAddr>,
    /// Serve HTTPS with this certificate chain (PEM)
    #[arg(long, value_name = "FILE", requires = "key")]
    cert: Option<PathBuf>,
    /// Private key of the certificate (PEM)
    #[arg(long, value_name = "FILE", requires = "cert")]
    key: Option<PathBuf>,
    /// The interface: current, pre-seal, a folder of tables, or an overlay file
    #[arg(long, value_name = "SPEC", default_value_t)]
    spec: SpecChoice,
    /// Behaviour at open points (default: the reference profile)
    #[arg(long, value_name = "FILE")]
    profile: Option<PathBuf>,
}

/// `edgeproof edge`.
pub(super) fn main(args: &EdgeArgs) -> Result<u8, Failure> {
    let spec = Arc::new(args.spec.load()?);
    let profile = profile(&spec, args.profile.as_deref())?;
    let options = ProgramOptions { listen: args.listen, cert: args.cert.clone(), key: args.key.clone() };
    runtime()?.block_on(async {
        let interrupted = signals::catch()?;
        let until = async {
            let _ = interrupted.await;
        };
        let (log, log_end) = LogWriter::start(io::stdout());
        let sink = LogSink::new(move |line| log.write(line));
        run_program(Arc::clone(&spec), profile, |name| std::env::var(name).ok(), options, sink, until)
            .await
            .map_err(|why| {
                let advice = why.help().map(|help| help.to_string()).unwrap_or_default();
                let what = format!("cannot start the edge: {}", error_text(&why));
                Failure::usage(spec.in_words(&what), spec.in_words(&advice))
            })?;
        log_end.wait();
        Ok(0)
    })
}
