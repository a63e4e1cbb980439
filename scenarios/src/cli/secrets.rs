use std::path::Path;
use std::time::SystemTime;

use edgeproof_fixtures::credentials::{Credentials, ReadTokenForm, SettingsFolder};
use edgeproof_fixtures::seal::SealPublicKey;

use super::args::Load;
use super::input_file::read;
use crate::scenario::BadToken;
use edgeproof_cli::Failure;

/// The error of a missing seal key.
pub(super) fn no_seal_key() -> Failure {
    Failure::usage(
        "cannot seal collections: the key of this service is unknown",
        "give its JSON Web Key with --seal-key FILE; the admin API of `edgeproof mock` serves it at /seal-key. For a mock with \
         settings, give --settings DIR",
    )
}

pub(super) fn seal_key(file: &Path) -> Result<SealPublicKey, Failure> {
    let key = serde_json::from_str(&read(file)?).ok().and_then(|jwk| SealPublicKey::from_jwk(&jwk));
    key.ok_or_else(|| {
        Failure::usage(
            format!("cannot read {}: not a seal key", file.display()),
            "give a JSON Web Key (OKP, X25519) with a kid, as the admin API of `edgeproof mock` serves it at /seal-key",
        )
    })
}

pub(super) fn read_token(args: &Load) -> Result<String, Failure> {
    let token = match (&args.read_token_file, settings(args)?) {
        (Some(path), _) => read(path)?,
        (None, Some(credentials)) => credentials.read_token(ReadTokenForm::Valid),
        (None, None) => std::env::var("READ_TOKEN").unwrap_or_default(),
    };
    let token = token.trim();
    if token.is_empty() {
        return Err(Failure::usage(
            "cannot poll for verdicts: no read token is given",
            "set READ_TOKEN, or give --read-token-file FILE; for a mock with settings, give --settings DIR",
        ));
    }
    Ok(token.to_owned())
}

/// Invalid tokens for a foreign service, which may refuse them with any code of the tables.
pub(super) fn foreign_bad_tokens(credentials: &Credentials) -> Vec<BadToken> {
    use ReadTokenForm::{ForeignPrefix, KeyUnknown, Malformed, Missing};
    [Missing, ForeignPrefix, Malformed, KeyUnknown]
        .map(|form| BadToken { authorization: credentials.authorization(form), code: None })
        .into()
}

pub(super) fn settings(args: &Load) -> Result<Option<Credentials>, Failure> {
    let Some(folder) = &args.settings else { return Ok(None) };
    Ok(Some(SettingsFolder::load(folder, SystemTime::now())?.credentials))
}
