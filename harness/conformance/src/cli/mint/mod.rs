//! `edgeproof mint`: credentials, settings and collections.

mod certificates;
mod collection;
mod edge_settings;
mod forms;
mod license;
mod output;
mod read_token;
mod source;

use clap::{Args, Subcommand};
use edgeproof_cli::Failure;

#[derive(Debug, Args)]
pub(super) struct MintArgs {
    #[command(subcommand)]
    command: MintCommand,
}

#[derive(Debug, Subcommand)]
enum MintCommand {
    /// Settings that connect an edge, also in a container, to the mock service
    EdgeSettings(edge_settings::EdgeSettingsArgs),
    /// License token, valid or invalid in one way of the interface
    License(license::LicenseArgs),
    /// Read token, valid or invalid in one way of the interface
    ReadToken(read_token::ReadTokenArgs),
    /// Certificates and keys of all roles, including roles that the service refuses
    Certificates(certificates::CertificatesArgs),
    /// Sealed collection, valid or invalid in one way of the interface
    Collection(collection::CollectionArgs),
}

/// `edgeproof mint`.
pub(super) fn main(args: &MintArgs) -> Result<u8, Failure> {
    match &args.command {
        MintCommand::EdgeSettings(args) => edge_settings::run(args)?,
        MintCommand::License(args) => license::run(args)?,
        MintCommand::ReadToken(args) => read_token::run(args)?,
        MintCommand::Certificates(args) => certificates::run(args)?,
        MintCommand::Collection(args) => collection::run(args)?,
    }
    Ok(0)
}
