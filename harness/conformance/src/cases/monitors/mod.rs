//! The monitors of each part: invariants that a whole run has to keep. `crate::monitor` judges them.

mod collector;
mod edge;
mod service;

pub use collector::CollectorMonitor;
pub use edge::EdgeMonitor;
pub use service::ServiceMonitor;
