//! The load generator: a pacer, users with their own connections, and goose, which runs the users.
//!
//! Scenarios, transactions and weights are goose's. A transaction gets its user's connections with
//! [`LoadUser::of`], sends requests with [`LoadUser::call`], and is one operation. The workload draws by the
//! weights which transaction is due, and gives it to a goose user of its scenario.

mod call;
mod goose_users;
mod idle_users;
mod load_run;
mod machine;
mod more_users;
mod outgoing_request;
mod pacer;
mod request_timeout;
mod user;
mod user_connection;
mod workload;

pub use call::{Call, Expectation, classify};
pub use load_run::{EngineError, LoadRun, ProgressListener, RunData, RunProgress};
pub use machine::{SelfMonitor, SelfMonitorReading};
pub use outgoing_request::{HeaderFields, OutgoingRequest};
pub use request_timeout::RequestTimeout;
pub use user::{CallResult, LoadUser};
pub use user_connection::{ExchangeTimes, UserConnection};
pub use workload::{LoadModel, Operation, ScenarioWeights, Workload};
