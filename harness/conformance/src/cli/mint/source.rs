use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use clap::Args;
use edgeproof_cli::Failure;
use edgeproof_fixtures::credentials::{Credentials, SettingsFolder};
use edgeproof_fixtures::seal::SealPublicKey;
use serde::Deserialize;

/// The service that accepts the minted items.
#[derive(Debug, Args)]
pub(super) struct ServiceSource {
    /// Mint for the service of these settings, from `edgeproof mint edge-settings` or `edgeproof mock`
    #[arg(long, value_name = "DIR", conflicts_with = "mock")]
    settings: Option<PathBuf>,
    /// Mint for the mock service that printed this line of `edgeproof mock --json` (`-`: standard input)
    #[arg(long, value_name = "FILE")]
    mock: Option<PathBuf>,
}

/// The fields of a mock service's line that are used here.
#[derive(Deserialize)]
struct MockLine {
    settings: PathBuf,
    seal_key: serde_json::Value,
}

/// Advice if no service is named.
const NAME_A_SERVICE: &str = "name the service: --settings DIR from `edgeproof mint edge-settings`, or --mock FILE with \
                              the line of `edgeproof mock --json`";

impl ServiceSource {
    /// Credentials of the named service.
    pub(super) fn credentials(&self) -> Result<Credentials, Failure> {
        let credentials = self.credentials_if_named()?;
        credentials.ok_or_else(|| Failure::usage("cannot mint: no service is named", NAME_A_SERVICE))
    }

    /// Credentials of the named service, if one is named.
    pub(super) fn credentials_if_named(&self) -> Result<Option<Credentials>, Failure> {
        let folder = match (&self.settings, &self.mock) {
            (Some(folder), _) => folder.clone(),
            (None, Some(file)) => mock_line(file)?.settings,
            (None, None) => return Ok(None),
        };
        Ok(Some(SettingsFolder::load(&folder, SystemTime::now())?.credentials))
    }

    /// Current seal key of the service, and a retired one if it is known.
    pub(super) fn seal_keys(&self) -> Result<(SealPublicKey, Option<SealPublicKey>), Failure> {
        if let Some(file) = &self.mock {
            let line = mock_line(file)?;
            let key = SealPublicKey::from_jwk(&line.seal_key)
                .ok_or_else(|| bad_line(file, "its seal_key is not an X25519 key with a matching id"))?;
            return Ok((key, None));
        }
        let credentials = self.credentials()?;
        let keys = credentials.seal_keys();
        Ok((keys.current().clone(), keys.retired().last().cloned()))
    }
}

/// Reads a seal key from the admin API.
pub(super) fn seal_key_file(file: &Path) -> Result<SealPublicKey, Failure> {
    let text = read(file)?;
    let key = serde_json::from_str(&text).ok().and_then(|jwk| SealPublicKey::from_jwk(&jwk));
    key.ok_or_else(|| {
        Failure::usage(
            format!("cannot read {}: it is not a seal key", file.display()),
            "give the output of `curl ADMIN/seal-key`: a JSON Web Key (OKP, X25519) with its kid",
        )
    })
}

fn mock_line(file: &Path) -> Result<MockLine, Failure> {
    let text = read(file)?;
    if text.trim().is_empty() {
        return Err(bad_line(file, "it is empty"));
    }
    // The text holds credentials: an error names only the position.
    serde_json::from_str(&text).map_err(|why| {
        bad_line(
            file,
            &format!(
                "it is not a line of `edgeproof mock --json` (line {}, column {})",
                why.line(),
                why.column()
            ),
        )
    })
}

fn bad_line(file: &Path, why: &str) -> Failure {
    Failure::usage(
        format!("cannot read {}: {why}", file.display()),
        "run `edgeproof mock --json > FILE` and wait for its line",
    )
}

fn read(file: &Path) -> Result<String, Failure> {
    let text = if file == Path::new("-") {
        let mut text = String::new();
        io::stdin().lock().read_to_string(&mut text).map(|_| text)
    } else {
        std::fs::read_to_string(file)
    };
    text.map_err(|why| {
        Failure::usage(format!("cannot read {}: {why}", file.display()), "name a readable file")
    })
}
