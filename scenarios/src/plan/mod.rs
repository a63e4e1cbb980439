//! What is asked for, parsed once: rates, stages, shards, thresholds, users. No I/O.

mod arrivals;
mod rate;
mod remote_host;
mod shard;
mod stages;
mod threshold;
mod threshold_file;
mod users;

pub use arrivals::{Arrivals, ScheduledOperation};
pub use rate::{Rate, Share};
pub use remote_host::{RemoteHostError, check_host};
pub use shard::Shard;
pub use stages::{Stage, Stages};
pub use threshold::{Limit, Metric, Quantile, Threshold};
pub use threshold_file::parse_file;
pub use users::{TooFewUsers, plan_users, users_for};

/// A text on the command line, or a line of a file, that makes no sense; with what would.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, miette::Diagnostic)]
#[error("read {what} {given:?}: {why}")]
#[diagnostic(help("{advice}"))]
pub struct PlanError {
    /// What was to be read, such as `the stages`.
    pub what: &'static str,
    /// As it was given.
    pub given: String,
    /// What is wrong with it.
    pub why: String,
    /// What to write instead.
    pub advice: &'static str,
}

/// A length of time such as `500ms`, `10s`, `2m`. Nothing at all is refused.
pub fn parse_time(text: &str) -> Result<std::time::Duration, String> {
    let time = humantime::parse_duration(text.trim())
        .map_err(|why| format!("{why}; write it as 500ms, 10s or 2m"))?;
    if time.is_zero() { Err("it has to be more than nothing".into()) } else { Ok(time) }
}
