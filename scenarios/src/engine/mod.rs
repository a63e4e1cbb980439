//! The load generator: a pacer, users with their own connections, recorders, and goose, which runs the users.
//!
//! Scenarios, transactions and weights are goose's. A transaction gets its user's connections with
//! [`LoadUser::of`], sends requests with [`LoadUser::call`], and is one operation. The workload draws by the
//! weights which transaction is due, and gives it to a goose user of its scenario.

mod call;
mod call_times;
mod connection;
mod error;
mod goose_users;
mod idle_users;
mod load_run;
mod load_run_options;
mod machine;
mod pacing;
mod recorder;
mod run_context;
mod run_data;
mod user;
mod workload;

pub use call::{Call, Expectation, PollResult, classify, poll_result};
pub use connection::{
    ExchangeTimes, HeaderFields, OutgoingRequest, RequestTimeout, SetUpTimes, UserConnection,
};
pub use error::EngineError;
pub use load_run::LoadRun;
pub use load_run_options::{LoadRunOptions, ProgressListener, RunProgress, StartTime};
pub use machine::{EdgeCostProbe, SelfMonitor, SelfMonitorReading, processors};
pub use recorder::{LoadRecorder, LocalRecorder, OperationEnd, Release};
pub use run_data::RunData;
pub use user::{CallResult, LoadUser};
pub use workload::{LoadModel, Operation, ScenarioWeights, Workload};
