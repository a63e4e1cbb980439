use std::io::Write;
use std::path::Path;

use edgeproof_fixtures::credentials::{Connection, SettingsFolder};

use super::args::{Mint, MintCommand};
use super::mint_certificates::fresh;
use edgeproof_cli::Failure;

/// `edgeproof mint`.
pub(super) fn main(args: &Mint) -> Result<u8, Failure> {
    match &args.command {
        MintCommand::EdgeSettings { out, service_host, service_port, origin, mounted_at } => {
            // The names of this machine stay in the certificate, for a mock service that is tried out from here.
            let first = service_host.first().cloned().unwrap_or_else(|| "localhost".into());
            let credentials = fresh(service_host)?;
            let host = if first.contains(':') { format!("[{first}]") } else { first };
            let connection = Connection {
                service_url: format!("https://{host}:{service_port}"),
                allowed_origin: origin.clone(),
                mounted_at: mounted_at.clone(),
            };
            SettingsFolder::save(&credentials, out, &connection)?;
            explain(out, &connection);
        }
        MintCommand::License(license) => license.run()?,
        MintCommand::ReadToken(token) => token.run()?,
        MintCommand::Certificates(certificates) => certificates.run()?,
        MintCommand::Collection(collection) => collection.run()?,
    }
    Ok(0)
}

/// What to do with it, ready to be copied. A closed pipe is no failure: the folder is written.
fn explain(out: &Path, connection: &Connection) {
    let env = SettingsFolder::env_file(out);
    let text = format!(
        "wrote {out}: edge/ is for the edge, service/ for edgeproof\n\
         \n\
         start the edge with these settings:\n  \
         set -a; . {env}; set +a; PORT=8080 node edge.mjs\n\
         then prove it (the mock service listens for {url}):\n  \
         edgeproof conformance --url http://127.0.0.1:8080 --settings {out}\n",
        out = out.display(),
        env = env.display(),
        url = connection.service_url,
    );
    let _ = std::io::stdout().lock().write_all(text.as_bytes());
}
