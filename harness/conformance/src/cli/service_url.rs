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
