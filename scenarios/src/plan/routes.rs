use std::sync::LazyLock;

use edgeproof_fixtures::spec::{Endpoint, verdict_path};

/// Route of a collection, as reports and thresholds name it: `POST /v1/signals`.
pub fn collection_route() -> &'static str {
    static ROUTE: LazyLock<String> = LazyLock::new(|| format!("POST {}", Endpoint::Signals.path()));
    &ROUTE
}

/// Route of a verdict, as reports and thresholds name it: `GET /v1/verdict/{ref}`.
pub fn verdict_route() -> &'static str {
    static ROUTE: LazyLock<String> = LazyLock::new(|| format!("GET {}", verdict_path().with("{ref}")));
    &ROUTE
}
