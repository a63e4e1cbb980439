use edgeproof_fixtures::spec::{Endpoint, Spec};

/// Methods other than `POST` and `OPTIONS` that cases send to the path of collections.
pub(super) const OF_COLLECTIONS: [&str; 6] = ["GET", "HEAD", "PUT", "PATCH", "DELETE", "TRACE"];

/// Methods other than `GET` that cases send to the path of a verdict.
pub(super) const OF_VERDICTS: [&str; 7] = ["HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"];

/// Methods other than `GET` and `HEAD` that cases send to the path of the key set.
pub(super) const OF_KEY_SETS: [&str; 4] = ["POST", "PUT", "DELETE", "OPTIONS"];

/// Whether a version that lists this method too has a case that sends it and expects what the usual method gets.
pub(crate) fn plays_listed(endpoint: Endpoint, method: &str) -> bool {
    match endpoint {
        // The body of a request with one of these methods has no meaning.
        Endpoint::Signals => OF_COLLECTIONS.contains(&method) && !["GET", "HEAD", "TRACE"].contains(&method),
        Endpoint::Health => false,
        Endpoint::Verdict => OF_VERDICTS.contains(&method),
        Endpoint::KeySet => method == "HEAD" || OF_KEY_SETS.contains(&method),
    }
}

/// A method that the edge refuses in this version: `usual`, unless the version lists it.
pub(super) fn refused(spec: &Spec, usual: &'static str) -> &'static str {
    let mut known = [usual, "PUT", "GET", "DELETE", "PATCH"].into_iter();
    known.find(|method| !spec.takes(Endpoint::Signals, method)).unwrap_or("PURGE")
}
