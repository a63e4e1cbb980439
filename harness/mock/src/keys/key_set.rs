use std::time::Duration;

use bytes::Bytes;
use edgeproof_fixtures::key_set::KeySet;
use edgeproof_fixtures::spec::Profile;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use http::{HeaderMap, HeaderValue};

use super::PublishedKeySet;
use crate::decision::ServiceDecision;

/// The answer to whoever asks for the key set: 304 where they have it already (RFC 9110, 13.1.2).
pub(crate) fn decide_key_set(
    profile: &Profile,
    longest: Option<Duration>,
    published: &PublishedKeySet,
    request: &HeaderMap,
) -> ServiceDecision {
    let max_age = longest.map_or(profile.keys_max_age, |longest| longest.min(profile.keys_max_age));
    let value = |text: &str| HeaderValue::from_str(text).expect("printable ASCII is a header's value");
    let mut headers = HeaderMap::from_iter([
        (ETAG, value(&published.etag)),
        (CACHE_CONTROL, value(&KeySet::cache_control(max_age))),
    ]);
    if has_it(request, &published.etag) {
        return ServiceDecision { status: 304, headers, body: Bytes::new(), stimulus: None };
    }
    headers.insert(CONTENT_TYPE, value(&profile.keys_content_type));
    ServiceDecision { status: 200, headers, body: published.body.clone(), stimulus: None }
}

/// `If-None-Match` names this entity tag, or any; compared weakly.
fn has_it(request: &HeaderMap, etag: &str) -> bool {
    let lists = request.get_all(IF_NONE_MATCH).iter().filter_map(|list| list.to_str().ok());
    // Our tags hold no comma.
    let mut tags = lists.flat_map(|list| list.split(',')).map(str::trim);
    tags.any(|tag| tag == "*" || tag.strip_prefix("W/").unwrap_or(tag) == etag)
}

#[cfg(test)]
mod tests {
    use edgeproof_fixtures::spec::{Spec, Version};
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::nothing(&[], 200)]
    #[case::the_tag(&["\"t\""], 304)]
    #[case::weak(&["W/\"t\""], 304)]
    #[case::any(&["*"], 304)]
    #[case::list(&["\"x\", \"t\""], 304)]
    #[case::two_fields(&["\"x\"", "\"t\""], 304)]
    #[case::another(&["\"x\""], 200)]
    #[case::unquoted(&["t"], 200)]
    fn who_has_it_gets_nothing(#[case] fields: &[&'static str], #[case] status: u16) {
        let spec = Spec::builtin(Version::Current);
        let published = PublishedKeySet { body: Bytes::from_static(b"{}"), etag: "\"t\"".to_owned() };
        let mut request = HeaderMap::new();
        for field in fields {
            request.append(IF_NONE_MATCH, HeaderValue::from_static(field));
        }
        let longest = Some(Duration::from_secs(60));
        let decision = decide_key_set(spec.profile(), longest, &published, &request);
        assert_eq!((decision.status, decision.body.is_empty()), (status, status == 304));
        assert_eq!(decision.headers["cache-control"], "public, max-age=60");
        assert_eq!(decision.headers["etag"], "\"t\"");
        let content_type = decision.headers.get("content-type").map(|value| value.to_str().unwrap());
        assert_eq!(content_type, (status == 200).then_some("application/jwk-set+json"));
    }
}
