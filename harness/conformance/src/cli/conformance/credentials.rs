use edgeproof_cli::Failure;
use edgeproof_fixtures::credentials::{CredentialFiles, Credentials, MintOptions};

/// Mints the credentials of a run.
pub(super) fn mint() -> Result<Credentials, Failure> {
    Credentials::mint(&MintOptions::default())
        .map_err(|why| Failure::of(&why, "this is a bug in edgeproof: report it"))
}

/// Writes the credentials of a run to a temporary folder.
pub(super) fn write_credentials(credentials: &Credentials) -> Result<CredentialFiles, Failure> {
    CredentialFiles::write(credentials).map_err(|why| {
        Failure::usage(
            format!("write credentials to a temporary folder: {why}"),
            "check TMPDIR and the free space there",
        )
    })
}
