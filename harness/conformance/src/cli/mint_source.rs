//! Whose credentials are used: of a settings folder, or of a mock service that runs.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use clap::Args;
use edgeproof_fixtures::credentials::{Credentials, SettingsFolder};
use edgeproof_fixtures::seal::SealPublicKey;
use serde::Deserialize;

use edgeproof_cli::Failure;

/// Who is to know what is minted.
#[derive(Debug, Args)]
pub(super) struct Source {
    /// For the service of these settings, as `edgeproof mint edge-settings` or `edgeproof mock` wrote them
    #[arg(long, value_name = "DIR", conflicts_with = "mock")]
    settings: Option<PathBuf>,
    /// For the mock service that printed this line with `edgeproof mock --json`: a file, or - for standard input
    #[arg(long, value_name = "FILE")]
    mock: Option<PathBuf>,
}

/// What is read of a mock service's line; it holds more.
#[derive(Deserialize)]
struct MockLine {
    settings: PathBuf,
    seal_key: serde_json::Value,
}

/// Advice where nobody is named.
const WHOSE: &str = "name the service that is to know it: --settings DIR of `edgeproof mint edge-settings`, or --mock FILE \
                     with the line of `edgeproof mock --json`";

impl Source {
    /// The credentials of the service that is named.
    pub(super) fn credentials(&self) -> Result<Credentials, Failure> {
        let credentials = self.credentials_if_named()?;
        credentials.ok_or_else(|| Failure::usage("mint what no service would know", WHOSE))
    }

    /// The same; none where no service is named.
    pub(super) fn credentials_if_named(&self) -> Result<Option<Credentials>, Failure> {
        let folder = match (&self.settings, &self.mock) {
            (Some(folder), _) => folder.clone(),
            (None, Some(file)) => mock_line(file)?.settings,
            (None, None) => return Ok(None),
        };
        Ok(Some(SettingsFolder::load(&folder, SystemTime::now())?.credentials))
    }

    /// The key that collections for the service are sealed to, and one that it has retired where that is known.
    pub(super) fn seal_keys(&self) -> Result<(SealPublicKey, Option<SealPublicKey>), Failure> {
        if let Some(file) = &self.mock {
            let line = mock_line(file)?;
            let key = SealPublicKey::from_jwk(&line.seal_key).ok_or_else(|| {
                bad_line(file, "its seal_key is no X25519 key with the id that it should have")
            })?;
            return Ok((key, None));
        }
        let credentials = self.credentials()?;
        let keys = credentials.seal_keys();
        Ok((keys.current().clone(), keys.retired().last().cloned()))
    }
}

/// Reads a key as the admin port shows it.
pub(super) fn seal_key_file(file: &Path) -> Result<SealPublicKey, Failure> {
    let text = read(file)?;
    let key = serde_json::from_str(&text).ok().and_then(|jwk| SealPublicKey::from_jwk(&jwk));
    key.ok_or_else(|| {
        Failure::usage(
            format!("read {}: it is no key that collections are sealed to", file.display()),
            "give it what `curl ADMIN/seal-key` prints: a JSON Web Key (OKP, X25519) with its kid",
        )
    })
}

fn mock_line(file: &Path) -> Result<MockLine, Failure> {
    let text = read(file)?;
    if text.trim().is_empty() {
        return Err(bad_line(file, "it is empty"));
    }
    // The text holds credentials: only the place of a mistake is told.
    serde_json::from_str(&text).map_err(|why| {
        bad_line(file, &format!("it is not such a line (at line {}, column {})", why.line(), why.column()))
    })
}

fn bad_line(file: &Path, why: &str) -> Failure {
    Failure::usage(
        format!("read {}: {why}", file.display()),
        "`edgeproof mock --json > FILE` prints one line when it is ready; wait for that",
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
        Failure::usage(format!("read {}: {why}", file.display()), "name a file that exists and can be read")
    })
}
