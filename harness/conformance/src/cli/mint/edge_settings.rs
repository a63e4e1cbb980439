#![expect(clippy::doc_markdown, reason = "clap prints these doc comments as plain text")]

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use edgeproof_cli::{Failure, parse_origin};
use edgeproof_fixtures::credentials::{ALLOWED_ORIGIN, EdgeConnection, SettingsFolder};
use edgeproof_fixtures::spec::SpecChoice;

use crate::cli::inputs::{mint, service_url};
use crate::cli::spec_option::spec_option;

#[derive(Debug, Args)]
pub(super) struct EdgeSettingsArgs {
    /// Output folder: `edge/` is for the edge, `service/` for edgeproof
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Replace existing settings
    #[arg(long)]
    force: bool,
    /// Name or address of the mock service as the edge reaches it (repeatable); SERVICE_URL holds the first
    #[arg(long, value_name = "NAME")]
    service_host: Vec<String>,
    /// Port of the mock service
    #[arg(long, value_name = "PORT", default_value_t = 8443)]
    service_port: u16,
    /// The interface, which names the settings: current, pre-seal, a folder of tables, or an overlay file
    #[arg(long, value_name = "SPEC", default_value_t)]
    spec: SpecChoice,
    /// ALLOWED_ORIGIN of the edge
    #[arg(long, value_name = "ORIGIN", value_parser = parse_origin, default_value = ALLOWED_ORIGIN)]
    origin: String,
    /// Path of the folder `edge/` as the edge sees it, for an edge in a container
    #[arg(long, value_name = "DIR")]
    mounted_at: Option<PathBuf>,
}

/// Mints and writes the settings.
pub(super) fn run(args: &EdgeSettingsArgs) -> Result<(), Failure> {
    if !args.force && SettingsFolder::is_saved_in(&args.out) {
        return Err(Failure::usage(
            format!("cannot write settings into {}: it already contains credentials", args.out.display()),
            "add --force to replace them, or name another folder; nothing was written",
        ));
    }
    let credentials = mint(&args.service_host, None)?;
    let connection = EdgeConnection {
        service_url: service_url(&args.service_host, args.service_port),
        allowed_origin: args.origin.clone(),
        mounted_at: args.mounted_at.clone(),
    };
    SettingsFolder::save(&credentials, &args.out, &connection, &args.spec.load()?)?;
    print_next_steps(&args.out, &connection, &spec_option(&args.spec));
    Ok(())
}

/// Prints commands to copy. A closed pipe is no failure: the folder is written.
fn print_next_steps(out: &Path, connection: &EdgeConnection, spec: &str) {
    let env = SettingsFolder::env_file(out);
    let text = format!(
        "wrote {out}: edge/ is for the edge, service/ for edgeproof\n\
         \n\
         start the edge with these settings:\n  \
         set -a; . {env}; set +a; PORT=8080 node edge.mjs\n\
         then test it (the mock service listens for {url}):\n  \
         edgeproof conformance --url http://127.0.0.1:8080 --settings {out}{spec}\n",
        out = out.display(),
        env = env.display(),
        url = connection.service_url,
    );
    let _ = std::io::stdout().lock().write_all(text.as_bytes());
}
