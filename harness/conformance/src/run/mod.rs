//! Conformance runs: plan the cases, run them on edges, on a service or on a collector, report the outcomes.

mod any_runner;
mod attempt;
mod collector;
mod confirm;
mod conformance_run;
mod death;
mod edge;
mod embedded;
mod enter;
mod execute;
mod last_exchange;
mod liveness;
mod options;
mod pace;
mod plan;
mod rate_limit;
mod reason_probe;
mod report;
mod runner;
mod runner_context;
mod service;

pub use collector::{CollectorRunner, CollectorRunnerOptions};
pub use conformance_run::{ConformanceRun, PlannedRunner};
pub use death::Death;
pub use edge::{EdgeLease, EdgePool, EdgePoolOptions, EdgeUpstream, LeaseError, ServedCase};
pub use embedded::run_embedded;
pub use liveness::{Attempt, CaseEnd};
pub use options::{RunOptions, RunPolicy};
pub use plan::{
    Baseline, BaselineError, CasePlan, PinError, Pins, PlannedCase, Selection, SelectionError, UnmetNeed,
};
pub(crate) use rate_limit::MOST_LIMITED;
pub use reason_probe::{hides_reason, reason_probes};
pub(crate) use report::exchanges;
pub use report::{RerunCommand, outcome_of};
pub use runner::{Leased, Limitation, Released, RunTarget, Runner, SanityResult};
pub use runner_context::RunnerContext;
pub use service::{
    ServiceLease, ServiceLocation, ServicePart, ServiceRunner, ServiceRunnerError, ServiceRunnerOptions,
};
