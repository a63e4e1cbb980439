use std::fmt;

use edgeproof_edge::EdgeOptions;
use edgeproof_mock::ServiceOptions;

/// Faults for the embedded edges and mock services of one run: the mutation tests inject a mutant with it. By default
/// each method changes nothing.
pub trait FaultInjection: fmt::Debug + Send + Sync {
    /// Changes the options of an edge before it starts, such as its [`hooks`](EdgeOptions::hooks).
    fn edge(&self, _options: &mut EdgeOptions) {}

    /// Changes the options of a mock service before it starts, such as its [`hooks`](ServiceOptions::hooks).
    fn service(&self, _options: &mut ServiceOptions) {}
}
