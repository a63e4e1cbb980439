use bytes::Bytes;
use edgeproof_fixtures::key_set::KeySet;
use edgeproof_fixtures::spec::{Profile, Row, Spec, Stimulus, Table};
use http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use http::{HeaderMap, HeaderValue};

use super::PublishedKeySet;
use crate::decision::ServiceDecision;

/// Answer to a request for the key set: 304 if the client has it already (RFC 9110, 13.1.2).
pub(crate) fn decide_key_set(
    spec: &Spec,
    profile: &Profile,
    published: &PublishedKeySet,
    request: &HeaderMap,
) -> ServiceDecision {
    let max_age = spec
        .limit("limit.key-set-cache")
        .map_or(profile.keys_max_age, |limit| limit.min(profile.keys_max_age));
    let value = |text: &str| HeaderValue::from_str(text).expect("printable ASCII is a header's value");
    let mut headers = HeaderMap::from_iter([
        (ETAG, value(&published.etag)),
        (CACHE_CONTROL, value(&KeySet::cache_control(max_age))),
    ]);
    if client_has(request, &published.etag) {
        return ServiceDecision { status: 304, headers, body: Bytes::new(), stimulus: None };
    }
    headers.insert(CONTENT_TYPE, value(&profile.keys_content_type));
    let row = spec.by_stimulus(Table::Keys, Stimulus::KeySetFetched);
    let status = row.and_then(Row::status).unwrap_or(200);
    ServiceDecision { status, headers, body: published.body.clone(), stimulus: None }
}

/// True if `If-None-Match` lists this entity tag or `*`, by weak comparison.
fn client_has(request: &HeaderMap, etag: &str) -> bool {
    let lists = request.get_all(IF_NONE_MATCH).iter().filter_map(|list| list.to_str().ok());
    // An entity tag of the key set contains no comma.
    let mut tags = lists.flat_map(|list| list.split(',')).map(str::trim);
    tags.any(|tag| tag == "*" || tag.strip_prefix("W/").unwrap_or(tag) == etag)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use edgeproof_fixtures::spec::Version;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::absent(&[], 200)]
    #[case::same(&["\"t\""], 304)]
    #[case::weak(&["W/\"t\""], 304)]
    #[case::any(&["*"], 304)]
    #[case::list(&["\"x\", \"t\""], 304)]
    #[case::two_fields(&["\"x\"", "\"t\""], 304)]
    #[case::another(&["\"x\""], 200)]
    #[case::unquoted(&["t"], 200)]
    fn current_key_set_gives_304(#[case] fields: &[&'static str], #[case] status: u16) {
        let spec = Spec::builtin(Version::Current);
        let published = PublishedKeySet { body: Bytes::from_static(b"{}"), etag: "\"t\"".to_owned() };
        let mut request = HeaderMap::new();
        for field in fields {
            request.append(IF_NONE_MATCH, HeaderValue::from_static(field));
        }
        let mut profile = spec.profile().clone();
        profile.keys_max_age = Duration::from_secs(60);
        let decision = decide_key_set(&spec, &profile, &published, &request);
        assert_eq!((decision.status, decision.body.is_empty()), (status, status == 304));
        assert_eq!(decision.headers["cache-control"], "public, max-age=60");
        assert_eq!(decision.headers["etag"], "\"t\"");
        let content_type = decision.headers.get("content-type").map(|value| value.to_str().unwrap());
        assert_eq!(content_type, (status == 200).then_some("application/jwk-set+json"));
    }
}
