use std::net::{IpAddr, SocketAddr};

use http::HeaderMap;
use http::header::{HOST, ORIGIN};

use super::AdminError;

/// Refuses requests from foreign pages. A page from elsewhere can send requests to the admin port, and with DNS
/// rebinding it can read the answers. But its requests show its `Origin` or its host name.
#[derive(Debug, Clone)]
pub struct Guard {
    /// Accepts any IP address as host, because a network may translate addresses.
    open: bool,
    names: Vec<String>,
}

impl Guard {
    /// Guard of an admin port at this address. `names` are further host names that clients may use.
    pub fn new(addr: SocketAddr, names: &[String]) -> Self {
        let names = names.iter().map(|name| name.to_ascii_lowercase()).collect();
        Self { open: !addr.ip().is_loopback(), names }
    }

    /// Checks a request. `authority` is the one of its request target, if any.
    pub fn check(&self, authority: Option<&str>, headers: &HeaderMap) -> Result<(), AdminError> {
        let mut hosts = headers.get_all(HOST).iter();
        let host = match (hosts.next(), hosts.next()) {
            (Some(host), None) => host.to_str().map_err(|_| AdminError::ForeignHost)?,
            (None, _) => authority.ok_or(AdminError::ForeignHost)?,
            _ => return Err(AdminError::ForeignHost),
        };
        if authority.is_some_and(|authority| !authority.eq_ignore_ascii_case(host)) || !self.is_ours(host) {
            return Err(AdminError::ForeignHost);
        }
        let same = format!("http://{host}");
        if headers
            .get_all(ORIGIN)
            .iter()
            .any(|origin| !origin.as_bytes().eq_ignore_ascii_case(same.as_bytes()))
        {
            return Err(AdminError::ForeignOrigin);
        }
        // Browsers omit Origin on some requests and send Sec-Fetch-Site instead.
        let site = headers.get("sec-fetch-site").map(http::HeaderValue::as_bytes);
        match site {
            None | Some(b"same-origin" | b"none") => Ok(()),
            Some(_) => Err(AdminError::ForeignOrigin),
        }
    }

    fn is_ours(&self, host: &str) -> bool {
        let Some(name) = without_port(host) else { return false };
        if let Ok(ip) = name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>() {
            // DNS rebinding needs a host name, so an IP address is safe.
            return self.open || ip.is_loopback();
        }
        let name = name.to_ascii_lowercase();
        name == "localhost" || self.names.contains(&name)
    }
}

fn without_port(host: &str) -> Option<&str> {
    let end = match host.strip_prefix('[') {
        Some(rest) => rest.find(']')? + 2,
        None => host.find(':').unwrap_or(host.len()),
    };
    let (name, port) = host.split_at(end);
    let is_port = port.is_empty() || port.strip_prefix(':').is_some_and(|port| port.parse::<u16>().is_ok());
    (is_port && !name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use http::{HeaderName, HeaderValue};
    use rstest::rstest;

    use super::*;

    fn check(addr: &str, fields: &[(&'static str, &'static str)]) -> Result<(), AdminError> {
        let headers = fields
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(name, value);
        }
        Guard::new(addr.parse().unwrap(), &["admin.test".to_owned()]).check(None, &map)
    }

    #[rstest]
    #[case::name("localhost:7000")]
    #[case::without_port("localhost")]
    #[case::v4("127.0.0.1:7000")]
    #[case::v6("[::1]:7000")]
    #[case::allowed("Admin.Test:80")]
    fn own_host_is_accepted(#[case] host: &'static str) {
        assert_eq!(check("127.0.0.1:7000", &[("host", host)]), Ok(()));
        let origin: &'static str = Box::leak(format!("http://{host}").into_boxed_str());
        assert_eq!(check("127.0.0.1:7000", &[("host", host), ("origin", origin)]), Ok(()));
    }

    #[rstest]
    #[case::rebinding("attacker.example:7000")]
    #[case::similar_name("localhost.attacker.example")]
    #[case::other_address("10.0.0.1:7000")]
    #[case::no_port("localhost:port")]
    #[case::empty("")]
    #[case::unclosed_bracket("[::1")]
    fn foreign_host_is_refused(#[case] host: &'static str) {
        assert_eq!(check("127.0.0.1:7000", &[("host", host)]), Err(AdminError::ForeignHost));
    }

    #[test]
    fn missing_or_repeated_host_is_refused() {
        assert_eq!(check("127.0.0.1:7000", &[]), Err(AdminError::ForeignHost));
        let two = [("host", "localhost"), ("host", "localhost")];
        assert_eq!(check("127.0.0.1:7000", &two), Err(AdminError::ForeignHost));
    }

    #[rstest]
    #[case::page("origin", "https://attacker.example")]
    #[case::sandboxed("origin", "null")]
    #[case::local_page("origin", "http://localhost:3000")]
    #[case::form("sec-fetch-site", "cross-site")]
    #[case::sibling("sec-fetch-site", "same-site")]
    fn foreign_origin_is_refused(#[case] name: &'static str, #[case] value: &'static str) {
        let fields = [("host", "localhost:7000"), (name, value)];
        assert_eq!(check("127.0.0.1:7000", &fields), Err(AdminError::ForeignOrigin));
    }

    #[test]
    fn open_port_accepts_any_ip_address_and_no_foreign_name() {
        assert_eq!(check("0.0.0.0:7000", &[("host", "172.17.0.2:7000")]), Ok(()));
        assert_eq!(check("0.0.0.0:7000", &[("host", "attacker.example")]), Err(AdminError::ForeignHost));
    }
}
