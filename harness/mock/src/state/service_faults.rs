use std::time::Duration;

use crate::decision::{Outage, ReadOutage};

/// Faults and delays of the service itself, as a test sets them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ServiceFaults {
    /// Fault of license checks.
    pub(crate) outage: Option<Outage>,
    /// Fault of read token checks.
    pub(crate) read_outage: Option<ReadOutage>,
    /// Time between the acceptance of a collection and its verdict.
    pub(crate) verdict_delay: Duration,
}
