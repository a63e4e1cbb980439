//! Inputs that several commands share: credentials, profile, URL of the mock service.

use std::net::SocketAddr;
use std::path::Path;

use edgeproof_cli::Failure;
use edgeproof_fixtures::credentials::{Credentials, MintOptions};
use edgeproof_fixtures::spec::{Profile, Spec};
use edgeproof_http::listen_address;

/// Parses a listen address of the command line.
pub(super) fn parse_listen(text: &str) -> Result<SocketAddr, String> {
    listen_address(text).map_err(|why| format!("{}; write PORT, IP:PORT or HOST:PORT", why.why()))
}

/// Mints credentials for a service with these names and those of this machine. Without a seed they are random.
pub(super) fn mint(service_hosts: &[String], seed: Option<u64>) -> Result<Credentials, Failure> {
    let mut options = MintOptions { seed, ..MintOptions::default() };
    options.service_hosts.extend(service_hosts.iter().cloned());
    Credentials::mint(&options)
        .map_err(|why| Failure::of(&why, "give --service-host a name or an address, without a port"))
}

/// The reference profile, changed by a file if one is given.
pub(super) fn profile(spec: &Spec, file: Option<&Path>) -> Result<Profile, Failure> {
    Ok(match file {
        Some(path) => spec.profile().with_file(path)?,
        None => spec.profile().clone(),
    })
}

/// `SERVICE_URL` of a mock service with these names, of which the first counts (default: localhost).
pub(super) fn service_url(names: &[String], port: u16) -> String {
    let host = names.first().map_or("localhost", String::as_str);
    let is_ipv6 = host.contains(':');
    if is_ipv6 { format!("https://[{host}]:{port}") } else { format!("https://{host}:{port}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn service_url_names_the_first_host() {
        assert_eq!(service_url(&[], 1), "https://localhost:1");
        assert_eq!(service_url(&["mock.test".into(), "other.test".into()], 1), "https://mock.test:1");
        assert_eq!(service_url(&["::1".into()], 1), "https://[::1]:1");
    }
}
