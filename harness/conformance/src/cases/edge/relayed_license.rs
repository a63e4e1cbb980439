//! How an edge carries the license to the service: the interface does not show it.

use edgeproof_mock::{Arrival, presents_license};
use http::header::HeaderName;
use http::{HeaderMap, HeaderValue};

/// The path of a request at the service.
pub(super) fn relay_path(arrival: &Arrival) -> String {
    let target = &arrival.request.target;
    target.split('?').next().unwrap_or(target).to_owned()
}

/// The header fields that carry the license, or the other place that does. None: the request does not contain it.
pub(super) fn license_header(license: &str, arrival: &Arrival) -> Option<String> {
    let names: Vec<String> = carriers(license, arrival).map(|(name, _)| title_case(name)).collect();
    if !names.is_empty() {
        return Some(names.join(", "));
    }
    let is_in_target = presents_license(license, &arrival.request.target, &HeaderMap::new());
    is_in_target.then(|| "none: the license is in the request target".to_owned())
}

/// The scheme before the license in its header field. None: no header field carries it.
pub(super) fn license_scheme(license: &str, arrival: &Arrival) -> Option<String> {
    let (_, value) = carriers(license, arrival).next()?;
    let text = String::from_utf8_lossy(value.as_bytes());
    let before = match text.split_once(license) {
        Some((before, _)) => before,
        // In another encoding, as of `Basic`.
        None => text.split_once(' ').map_or("", |(scheme, _)| scheme),
    };
    Some(before.trim().to_owned())
}

fn carriers<'a>(
    license: &'a str,
    arrival: &'a Arrival,
) -> impl Iterator<Item = (&'a HeaderName, &'a HeaderValue)> {
    arrival.request.headers.iter().filter(|(name, value)| {
        let alone = HeaderMap::from_iter([((*name).clone(), (*value).clone())]);
        presents_license(license, "", &alone)
    })
}

/// `x-license` → `X-License`. Names of header fields have no case, and a record needs one.
fn title_case(name: &HeaderName) -> String {
    let word = |word: &str| {
        let mut letters = word.chars();
        letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect::<String>()
    };
    name.as_str().split('-').map(word).collect::<Vec<_>>().join("-")
}

#[cfg(test)]
mod tests {
    use edgeproof_http::Request;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::usual("authorization", "Bearer the-license", Some("Authorization"), Some("Bearer"))]
    #[case::bare("x-service-license", "the-license", Some("X-Service-License"), Some(""))]
    #[case::named("cookie", "license=the-license", Some("Cookie"), Some("license="))]
    #[case::basic("authorization", "Basic eDp0aGUtbGljZW5zZQ==", Some("Authorization"), Some("Basic"))]
    #[case::nowhere("authorization", "Bearer another", None, None)]
    fn license_is_found_in_its_header(
        #[case] name: &'static str,
        #[case] value: &'static str,
        #[case] header: Option<&str>,
        #[case] scheme: Option<&str>,
    ) {
        let arrival = arrival("/v1/relay", name, value);
        assert_eq!(license_header("the-license", &arrival).as_deref(), header);
        assert_eq!(license_scheme("the-license", &arrival).as_deref(), scheme);
    }

    #[test]
    fn license_in_the_path_is_in_no_header() {
        let arrival = arrival("/v1/relay?license=the-license", "accept", "*/*");
        assert_eq!(relay_path(&arrival), "/v1/relay");
        let header = license_header("the-license", &arrival);
        assert_eq!(header.as_deref(), Some("none: the license is in the request target"));
        assert_eq!(license_scheme("the-license", &arrival), None);
    }

    fn arrival(target: &str, name: &'static str, value: &'static str) -> Arrival {
        let request = Request {
            method: "POST".to_owned(),
            target: target.to_owned(),
            version: http::Version::HTTP_11,
            headers: HeaderMap::from_iter([(HeaderName::from_static(name), HeaderValue::from_static(value))]),
            body: bytes::Bytes::new(),
            complete: true,
        };
        Arrival::without_connection(0, request)
    }
}
