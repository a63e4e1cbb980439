use std::net::SocketAddr;

/// A target is a remote host without `--yes-load`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, miette::Diagnostic)]
#[error("cannot load {host}: it is a remote host")]
#[diagnostic(help("if you may load it, add --yes-load {host}"))]
pub struct RemoteHostError {
    /// Host of the URL.
    pub host: String,
}

/// Fails for a remote host that is not in `allowed`.
pub fn check_host(host: &str, addresses: &[SocketAddr], allowed: &[String]) -> Result<(), RemoteHostError> {
    let here =
        !addresses.is_empty() && addresses.iter().all(|address| address.ip().to_canonical().is_loopback());
    let bare = |text: &str| text.trim_matches(['[', ']']).trim_end_matches('.').to_ascii_lowercase();
    if here || allowed.iter().any(|allowed| bare(allowed) == bare(host)) {
        return Ok(());
    }
    Err(RemoteHostError { host: host.to_owned() })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("127.0.0.1", "127.0.0.1:80", &[], true)]
    #[case("localhost", "[::1]:80", &[], true)]
    #[case("localhost", "[::ffff:127.0.0.1]:80", &[], true)]
    #[case("edge.example", "192.0.2.1:443", &[], false)]
    #[case("localhost", "192.0.2.1:443", &[], false)]
    #[case("edge.example", "192.0.2.1:443", &["Edge.Example"], true)]
    #[case("edge.example", "192.0.2.1:443", &["other.example"], false)]
    fn remote_host_needs_permission(
        #[case] host: &str,
        #[case] address: &str,
        #[case] allowed: &[&str],
        #[case] passes: bool,
    ) {
        let allowed: Vec<String> = allowed.iter().map(ToString::to_string).collect();
        assert_eq!(check_host(host, &[address.parse().unwrap()], &allowed).is_ok(), passes);
    }

    #[test]
    fn host_without_address_is_remote() {
        assert!(check_host("localhost", &[], &[]).is_err());
    }
}
