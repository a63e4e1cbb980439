//! Runs cases on edges: a pool of edges with mock services behind them.

mod arrival_text;
mod call;
mod edge_answer;
mod foreign;
mod latency;
mod lease;
mod lease_error;
mod monitors;
mod pool;
mod pool_options;
mod runner;
mod sanity;
mod served_case;
mod shared_launch;
mod unmet;

pub use lease_error::LeaseError;
pub use pool::EdgePool;
pub use pool_options::{EdgePoolOptions, EdgeUpstream};
pub use runner::EdgeLease;
pub use served_case::ServedCase;
