//! Conformance runs: plan the cases, run them on edges, on a service or on a collector, report the outcomes.

mod any_runner;
mod attempt;
mod baseline;
mod case_plan;
mod case_report;
#[cfg(test)]
mod case_report_tests;
mod collector;
mod conformance_run;
mod death;
mod edge;
mod embedded;
mod enter;
mod execute;
mod hints;
mod last_exchange;
mod liveness;
mod options;
mod pins;
mod reason_probe;
mod report_collector;
mod reproduction;
mod runner;
mod runner_context;
mod selection;
mod service;

pub use baseline::{Baseline, BaselineError};
pub use case_plan::{CasePlan, PlannedCase, UnmetNeed};
pub use case_report::outcome_of;
pub use collector::{CollectorRunner, CollectorRunnerOptions};
pub use conformance_run::{ConformanceRun, PlannedRunner};
pub use death::Death;
pub use edge::{Capabilities, EdgeLease, EdgePool, EdgePoolOptions, EdgeUpstream, LeaseError, ServedCase};
pub use embedded::{EmbeddedRunError, run_embedded};
pub use liveness::{Attempt, CaseEnd};
pub use options::{RunOptions, RunPolicy};
pub use pins::{PinError, Pins};
pub use reason_probe::{hides_reason, reason_probes};
pub use report_collector::ConformanceResult;
pub use reproduction::RerunCommand;
pub use runner::{Leased, Limitation, Released, RunTarget, Runner, SanityResult};
pub use runner_context::RunnerContext;
pub use selection::{Selection, SelectionError};
pub use service::{
    ServiceLease, ServiceLocation, ServicePart, ServiceRunner, ServiceRunnerError, ServiceRunnerOptions,
};
