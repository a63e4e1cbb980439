use http::HeaderMap;
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_MAX_AGE, HeaderValue, VARY,
};

use super::rules::EdgeRules;

/// Grants the allowed origin, and no other, read access to an answer (Fetch, CORS check). Origins are compared byte for
/// byte, as browsers compare the grant.
pub(super) fn grant(rules: &EdgeRules, origin: Option<&HeaderValue>, headers: &mut HeaderMap) {
    let Some(allowed) = &rules.allowed_origin else { return };
    // Also on answers without the grant: a cache must not serve them to the allowed origin.
    headers.insert(VARY, HeaderValue::from_static("Origin"));
    if is_allowed(rules, origin) {
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, allowed.clone());
    }
}

/// Grants the allowed origin a cross-origin POST of JSON (Fetch, CORS preflight).
pub(super) fn grant_preflight(rules: &EdgeRules, origin: Option<&HeaderValue>, headers: &mut HeaderMap) {
    grant(rules, origin, headers);
    if is_allowed(rules, origin) {
        headers.insert(ACCESS_CONTROL_ALLOW_METHODS, rules.preflight.methods.clone());
        headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, rules.preflight.headers.clone());
        headers.insert(ACCESS_CONTROL_MAX_AGE, rules.preflight.max_age.clone());
    }
}

fn is_allowed(rules: &EdgeRules, origin: Option<&HeaderValue>) -> bool {
    // Every sandboxed page sends `null`: it identifies no origin.
    origin.is_some_and(|origin| rules.allowed_origin.as_ref() == Some(origin) && origin != "null")
}
