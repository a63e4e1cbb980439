use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use edgeproof_cli::Failure;
use edgeproof_fixtures::credentials::SettingsFolder;
use edgeproof_fixtures::spec::{Profile, Spec};
use edgeproof_http::listen_address;

use super::args::MockArgs;
use crate::cli::inputs::profile;

/// Listen address for new settings.
const LISTEN: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8443);

/// What the arguments of a mock service name. All of it is valid.
pub(super) struct MockPlan {
    pub(super) spec: Arc<Spec>,
    pub(super) profile: Profile,
    /// Folder with existing settings. None: settings are minted for this run.
    pub(super) settings: Option<(PathBuf, SettingsFolder)>,
    pub(super) listen: SocketAddr,
    pub(super) seed: u64,
}

/// Validates the arguments.
pub(super) fn plan(args: &MockArgs, spec: Arc<Spec>) -> Result<MockPlan, Failure> {
    let profile = profile(&spec, args.profile.as_deref())?;
    for (option, address) in [("--plain", args.plain), ("--admin", args.admin), ("--page", args.page)] {
        check_loopback(option, address, args.open)?;
    }
    let settings = match &args.settings {
        Some(dir) => {
            let folder = SettingsFolder::load(dir, SystemTime::now())?;
            Some((absolute(dir)?, folder))
        }
        None => None,
    };
    let listen = match (args.listen, &settings) {
        (Some(address), _) => address,
        (None, Some((_, folder))) => listen_address(&folder.connection.service_url)
            .map_err(|why| Failure::of(&why, "set the listen address with --listen ADDR"))?,
        (None, None) => LISTEN,
    };
    // 32 bits, which every language reads as an exact number.
    let seed = args.seed.unwrap_or_else(|| rand::random::<u32>().into());
    Ok(MockPlan { spec, profile, settings, listen, seed })
}

/// The admin API gives control, HTTP shows credentials, and the page fetches verdicts: only this machine may reach them.
fn check_loopback(option: &str, address: Option<SocketAddr>, open: bool) -> Result<(), Failure> {
    match address {
        Some(address) if !open && !address.ip().is_loopback() => Err(Failure::usage(
            format!("cannot listen on {address} with {option}: other machines could reach this address"),
            "listen on 127.0.0.1, or add --open if other machines may reach it, for example in a container",
        )),
        _ => Ok(()),
    }
}

fn absolute(dir: &Path) -> Result<PathBuf, Failure> {
    dir.canonicalize().map_err(|why| {
        Failure::usage(
            format!("cannot find the settings in {}: {why}", dir.display()),
            "name an existing folder",
        )
    })
}
