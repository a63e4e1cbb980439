use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use url::{Host, Url};

use super::Failure;

/// Address on which a mock service listens for an edge that calls it at `service_url`: a loopback address of the URL, or
/// all addresses of this machine. `option`: the option that sets the address instead.
pub fn listen_address(service_url: &str, option: &str) -> Result<SocketAddr, Failure> {
    let url = Url::parse(service_url).ok();
    let place = url.as_ref().and_then(|url| Some((url.host()?, url.port_or_known_default()?)));
    let Some((host, port)) = place else {
        return Err(Failure::usage(
            format!(
                "find the listen address of the mock service: SERVICE_URL {service_url:?} is not a URL with a host"
            ),
            format!("give the address with {option} ADDR"),
        ));
    };
    let ip = match host {
        Host::Ipv4(ip) if ip.is_loopback() => IpAddr::V4(ip),
        Host::Ipv6(ip) if ip.is_loopback() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        Host::Domain("localhost") => IpAddr::V4(Ipv4Addr::LOCALHOST),
        _ => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
    };
    Ok(SocketAddr::new(ip, port))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("https://localhost:8443", "127.0.0.1:8443")]
    #[case("https://127.0.0.2:8443", "127.0.0.2:8443")]
    #[case("https://[::1]:8443", "[::1]:8443")]
    #[case("https://mock.test", "0.0.0.0:443")]
    #[case("https://192.0.2.1:1", "0.0.0.0:1")]
    fn listen_address_follows_the_service_url(#[case] url: &str, #[case] expected: &str) {
        assert_eq!(listen_address(url, "--listen").unwrap(), expected.parse().unwrap());
    }

    #[test]
    fn service_url_without_host_is_refused() {
        assert!(listen_address("localhost:8443", "--listen").is_err());
    }
}
