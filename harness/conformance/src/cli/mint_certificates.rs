//! `edgeproof mint certificates`.

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use edgeproof_fixtures::credentials::{Credentials, MintOptions, Role};

use super::mint_output::{Item, Output};
use super::mint_source::Source;
use edgeproof_cli::Failure;

/// Certificates are ROLE.pem, with their chain; keys are ROLE.key, and authorities have none. Without --settings and
/// --mock they are new, and known to nobody but each other.
#[derive(Debug, Args)]
pub(super) struct Certificates {
    #[command(flatten)]
    source: Source,
    /// Which one (repeatable with --out); without it all of them
    #[arg(long, value_name = "ROLE", value_parser = roles())]
    role: Vec<Role>,
    /// Names and addresses of the service in new server certificates (repeatable), beside those of this machine
    #[arg(long, value_name = "NAME", conflicts_with_all = ["settings", "mock"])]
    service_host: Vec<String>,
    #[command(flatten)]
    output: Output,
}

impl Certificates {
    /// Mints and writes.
    pub(super) fn run(&self) -> Result<(), Failure> {
        let credentials = match self.source.credentials_if_named()? {
            Some(credentials) => credentials,
            None => fresh(&self.service_host)?,
        };
        let roles = if self.role.is_empty() { Role::ALL.to_vec() } else { self.role.clone() };
        let mut items = Vec::new();
        for role in roles {
            let certificate = credentials.certificate(role);
            let chain = certificate.chain_pem().to_owned();
            let key = if role.is_authority() { "" } else { certificate.key_pem() };
            if self.output.is_folder() {
                items.push(Item { name: format!("{role}.pem"), content: chain.into_bytes() });
                if !key.is_empty() {
                    items.push(Item { name: format!("{role}.key"), content: key.as_bytes().to_vec() });
                }
            } else {
                items.push(Item { name: format!("{role}.pem"), content: (chain + key).into_bytes() });
            }
        }
        self.output.write(&items)
    }
}

/// New credentials for a service of these names, and of this machine's.
pub(super) fn fresh(service_hosts: &[String]) -> Result<Credentials, Failure> {
    let mut options = MintOptions::default();
    options.service_hosts.extend(service_hosts.iter().cloned());
    options.service_hosts.dedup();
    Credentials::mint(&options)
        .map_err(|why| Failure::of(&why, "give --service-host a name or an address, without port"))
}

fn roles() -> impl TypedValueParser<Value = Role> {
    PossibleValuesParser::new(Role::ALL.map(Role::name)).map(|given: String| {
        let found = Role::ALL.into_iter().find(|role| role.name() == given);
        found.expect("the parser takes these names only")
    })
}
