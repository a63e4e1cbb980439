use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};

use url::{Host, Url};

/// A text is no listen address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, miette::Diagnostic)]
#[error("cannot listen on {given:?}: {why}")]
#[diagnostic(help("use PORT, IP:PORT, [IPV6]:PORT, HOST:PORT, or an http or https URL"))]
pub struct ListenAddressError {
    given: String,
    why: String,
}

impl ListenAddressError {
    /// What is wrong with the text.
    pub fn why(&self) -> &str {
        &self.why
    }
}

/// Address to listen on.
///
/// | Given | Listens on |
/// |---|---|
/// | `PORT` | `127.0.0.1` |
/// | `IP:PORT`, `[IPV6]:PORT` | this address |
/// | `HOST:PORT` | first address of the host, `127.0.0.1` for `localhost`; resolving may block |
/// | `http` or `https` URL with `localhost` or a loopback address | this loopback address |
/// | `http` or `https` URL with another host | all interfaces: clients reach this machine under a name or address that it may not have |
///
/// The port of a URL defaults to 80 or 443.
pub fn listen_address(given: &str) -> Result<SocketAddr, ListenAddressError> {
    let invalid = |why: &str| ListenAddressError { given: given.to_owned(), why: why.to_owned() };
    if let Ok(address) = given.parse() {
        return Ok(address);
    }
    if let Ok(port) = given.parse::<u16>() {
        return Ok(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    }
    if given.contains("://") {
        let url = Url::parse(given).map_err(|why| invalid(&why.to_string()))?;
        return of_url(&url).ok_or_else(|| invalid("the scheme is neither http nor https"));
    }
    let (host, port) = given.rsplit_once(':').ok_or_else(|| invalid("the port is missing"))?;
    let port: u16 = port.parse().map_err(|_| invalid("the port is not a number from 0 to 65535"))?;
    if host == "localhost" {
        return Ok(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    }
    let mut addresses = (host, port).to_socket_addrs().map_err(|_| invalid("the host does not resolve"))?;
    addresses.next().ok_or_else(|| invalid("the host does not resolve"))
}

fn of_url(url: &Url) -> Option<SocketAddr> {
    if !matches!(url.scheme(), "http" | "https") {
        return None;
    }
    let ip = match url.host()? {
        Host::Ipv4(ip) if ip.is_loopback() => IpAddr::from(ip),
        Host::Ipv6(ip) if ip.is_loopback() => IpAddr::from(ip),
        Host::Domain("localhost") => Ipv4Addr::LOCALHOST.into(),
        Host::Ipv6(_) => Ipv6Addr::UNSPECIFIED.into(),
        Host::Ipv4(_) | Host::Domain(_) => Ipv4Addr::UNSPECIFIED.into(),
    };
    Some(SocketAddr::from((ip, url.port_or_known_default()?)))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::ipv4("127.0.0.1:8443", "127.0.0.1:8443")]
    #[case::all_interfaces("0.0.0.0:8443", "0.0.0.0:8443")]
    #[case::free_port("127.0.0.1:0", "127.0.0.1:0")]
    #[case::port("8443", "127.0.0.1:8443")]
    #[case::ipv6("[::1]:8443", "[::1]:8443")]
    #[case::localhost("localhost:8443", "127.0.0.1:8443")]
    #[case::url_with_ipv6_loopback("https://[::1]:8443", "[::1]:8443")]
    #[case::url_with_ipv4_loopback("https://127.0.0.1:8443", "127.0.0.1:8443")]
    #[case::url_with_other_loopback("https://127.0.0.2:8443", "127.0.0.2:8443")]
    #[case::url_with_localhost("https://localhost:8443", "127.0.0.1:8443")]
    #[case::url_with_name("https://service.example:8443", "0.0.0.0:8443")]
    #[case::url_with_ipv4("https://192.0.2.7:8443", "0.0.0.0:8443")]
    #[case::url_with_ipv6("https://[2001:db8::7]:8443", "[::]:8443")]
    #[case::url_with_path("https://service.example:8443/base/", "0.0.0.0:8443")]
    #[case::https_default_port("https://localhost", "127.0.0.1:443")]
    #[case::http_default_port("http://localhost", "127.0.0.1:80")]
    fn address_resolves_to_its_listen_address(#[case] given: &str, #[case] address: &str) {
        assert_eq!(listen_address(given).unwrap().to_string(), address);
    }

    #[rstest]
    #[case::empty("", "the port is missing")]
    #[case::no_port("localhost", "the port is missing")]
    #[case::port_too_large("localhost:65536", "the port is not a number from 0 to 65535")]
    #[case::port_is_text("localhost:http", "the port is not a number from 0 to 65535")]
    #[case::other_scheme("ftp://localhost:21", "the scheme is neither http nor https")]
    #[case::url_without_host("https://:8443", "empty host")]
    #[case::unresolvable_host("no such host:8443", "the host does not resolve")]
    fn invalid_address_is_an_error(#[case] given: &str, #[case] why: &str) {
        let error = listen_address(given).unwrap_err();
        assert_eq!(error.to_string(), format!("cannot listen on {given:?}: {why}"));
    }
}
