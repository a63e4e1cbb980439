//! The plan of a run, parsed and validated: rates, stages, shards, thresholds and users. No I/O.

mod amounts;
mod arrivals;
mod scenario_name;
mod stages;
mod threshold;
mod users;
mod weighted_draw;

pub use amounts::{PlanError, Rate, Share};
pub use arrivals::{Arrivals, ScheduledOperation, Shard};
pub use scenario_name::ScenarioName;
pub use stages::{Stage, Stages};
pub use threshold::{Limit, Metric, Threshold, parse_file};
pub use users::{MAX_USERS, UserCount, UserLimit, may_load, plan_users};
pub use weighted_draw::WeightedDraw;
