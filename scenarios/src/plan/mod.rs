//! The plan of a run, parsed and validated: rates, stages, shards, thresholds and users. No I/O.

mod arrivals;
mod error;
mod quantile;
mod rate;
mod remote_host;
mod scenario_name;
mod shard;
mod share;
mod stages;
mod threshold;
mod threshold_file;
mod users;
mod weighted_draw;

pub use arrivals::{Arrivals, ScheduledOperation};
pub use error::PlanError;
pub use quantile::Quantile;
pub use rate::Rate;
pub use remote_host::{RemoteHostError, check_host};
pub use scenario_name::ScenarioName;
pub use shard::Shard;
pub use share::Share;
pub use stages::{Stage, Stages};
pub use threshold::{Limit, Metric, Threshold};
pub use threshold_file::parse_file;
pub use users::{MAX_USERS, UserCount, UserLimit, plan_users};
pub use weighted_draw::WeightedDraw;
