//! The load generator: a pacer, users with their own connections, recorders, and goose, which runs the users.
//!
//! Scenarios, transactions and weights are goose's. A transaction gets its user's connections with
//! [`LoadUser::of`], sends requests with [`LoadUser::call`], and is one operation. The workload draws by the
//! weights which transaction is due, and gives it to a goose user of its scenario.

mod alarm;
mod call;
mod call_times;
mod edge_cost;
mod error;
mod exchange_times;
mod goose_users;
mod idle_users;
mod load_run;
mod load_run_options;
mod outgoing_request;
mod pacer;
mod recorder;
mod request_timeout;
mod run_context;
mod run_data;
mod self_monitor;
mod user;
mod user_connection;
mod workload;

pub use call::{Call, Expectation, PollResult, classify, poll_result};
pub use edge_cost::EdgeCostProbe;
pub use error::EngineError;
pub use exchange_times::{ExchangeTimes, SetUpTimes};
pub use load_run::LoadRun;
pub use load_run_options::{LoadRunOptions, ProgressListener, RunProgress, StartTime};
pub use outgoing_request::{HeaderFields, OutgoingRequest};
pub use recorder::{LoadRecorder, LocalRecorder, OperationEnd, Release};
pub use request_timeout::RequestTimeout;
pub use run_data::RunData;
pub use self_monitor::{SelfMonitor, SelfMonitorReading, processors};
pub use user::{CallResult, LoadUser};
pub use user_connection::UserConnection;
pub use workload::{LoadModel, Operation, ScenarioWeights, Workload};
