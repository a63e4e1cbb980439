use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use edgeproof_cli::Failure;
use edgeproof_fixtures::credentials::Role;

use super::output::{Item, MintOutput};
use super::source::ServiceSource;
use crate::cli::inputs::mint;

/// Files that the command writes, shown in its help.
const FILES: &str = "\
Files with --out:
  ROLE.pem  certificate chain
  ROLE.key  private key, except for CAs
Without --settings and --mock the command mints new, unrelated credentials.";

#[derive(Debug, Args)]
#[command(after_help = FILES)]
pub(super) struct CertificatesArgs {
    #[command(flatten)]
    source: ServiceSource,
    /// Role of the certificate (repeatable with --out) (default: all roles)
    #[arg(long, value_name = "ROLE", value_parser = roles())]
    role: Vec<Role>,
    /// Name or address of the service in new server certificates (repeatable), besides those of this machine
    #[arg(long, value_name = "NAME", conflicts_with_all = ["settings", "mock"])]
    service_host: Vec<String>,
    #[command(flatten)]
    output: MintOutput,
}

/// Mints and writes the certificates and keys.
pub(super) fn run(args: &CertificatesArgs) -> Result<(), Failure> {
    let credentials = match args.source.credentials_if_named()? {
        Some(credentials) => credentials,
        None => mint(&args.service_host, None)?,
    };
    let roles = if args.role.is_empty() { Role::ALL.to_vec() } else { args.role.clone() };
    let mut items = Vec::new();
    for role in roles {
        let certificate = credentials.certificate(role);
        let chain = certificate.chain_pem().to_owned();
        let key = if role.is_authority() { "" } else { certificate.key_pem() };
        if args.output.is_folder() {
            items.push(Item { name: format!("{role}.pem"), content: chain.into_bytes() });
            if !key.is_empty() {
                items.push(Item { name: format!("{role}.key"), content: key.as_bytes().to_vec() });
            }
        } else {
            items.push(Item { name: format!("{role}.pem"), content: (chain + key).into_bytes() });
        }
    }
    args.output.write(&items)
}

fn roles() -> impl TypedValueParser<Value = Role> {
    PossibleValuesParser::new(Role::ALL.map(Role::name)).map(|given: String| {
        let found = Role::ALL.into_iter().find(|role| role.name() == given);
        found.expect("the parser accepts only these names")
    })
}
