use std::sync::Arc;

/// Wrong behaviour of a collector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CollectorMutation {
    /// The module, which imports the reference collector from `./collector.js`.
    pub module: Arc<str>,
}
