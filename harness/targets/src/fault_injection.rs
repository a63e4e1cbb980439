use std::fmt;

use edgeproof_edge::EdgeOptions;
use edgeproof_mock::ServiceOptions;

/// Changes the embedded edges and mock services of one run, for mutation runs and for tests with conforming variants.
///
/// By default each method changes nothing.
pub trait FaultInjection: fmt::Debug + Send + Sync {
    /// Changes the options of an edge before it starts, mostly its [`hooks`](EdgeOptions::hooks).
    fn edge(&self, _options: &mut EdgeOptions) {}

    /// Changes the options of a mock service before it starts, mostly its [`hooks`](ServiceOptions::hooks).
    fn service(&self, _options: &mut ServiceOptions) {}

    /// Announces an exchange that explores variation: the marker of its body, and its values and its
    /// family, such as `framing=chunked-1` and `family=refusals`.
    fn announce(&self, _marker: &str, _values: &[String]) {}
}
