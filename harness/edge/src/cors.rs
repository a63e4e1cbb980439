use http::HeaderMap;
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_MAX_AGE, HeaderValue, VARY,
};

use super::rules::Rules;

/// Lets the allowed origin, and no other, read an answer (Fetch, CORS check). Origins are compared whole and byte for
/// byte, as a browser does with what comes back.
pub(super) fn grant(rules: &Rules, origin: Option<&HeaderValue>, headers: &mut HeaderMap) {
    let Some(allowed) = &rules.origin else { return };
    // Also on answers without the grant: a cache must not hand them to the allowed origin.
    headers.insert(VARY, HeaderValue::from_static("Origin"));
    if may_read(rules, origin) {
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, allowed.clone());
    }
}

/// Answers what a browser asks before it posts JSON from another origin.
pub(super) fn grant_preflight(rules: &Rules, origin: Option<&HeaderValue>, headers: &mut HeaderMap) {
    grant(rules, origin, headers);
    if may_read(rules, origin) {
        headers.insert(ACCESS_CONTROL_ALLOW_METHODS, rules.preflight.methods.clone());
        headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, rules.preflight.headers.clone());
        headers.insert(ACCESS_CONTROL_MAX_AGE, rules.preflight.max_age.clone());
    }
}

fn may_read(rules: &Rules, origin: Option<&HeaderValue>) -> bool {
    // `null` is what every sandboxed page sends: it is nobody's origin.
    origin.is_some_and(|origin| rules.origin.as_ref() == Some(origin) && origin != "null")
}
