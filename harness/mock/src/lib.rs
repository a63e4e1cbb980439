//! Mock of a browser verification service.

pub mod admin;
mod clock;
mod collections;
mod decision;
mod fault_hooks;
mod http;
mod journal;
mod keys;
mod listener;
pub mod magic;
mod options;
mod route;
mod scripts;
mod service;
mod state;
mod verdicts;

pub use clock::Clock;
pub use decision::{
    CollectionFacts, Outage, ReadOutage, Replay, ReplyShape, ReplyShapeError, ServiceDecision, SessionFact,
    VerdictFacts, decide, decide_verdict, presented_licenses,
};
pub use fault_hooks::{NoFaults, ServiceAction, ServiceFaultHooks, ServiceRequest, ServiceTwist};
pub use journal::{Arrival, ArrivalAnswer, Observer, RECORDED};
pub use listener::{Listen, ListenerMode};
pub use options::ServiceOptions;
pub use route::ServiceEndpoint;
pub use scripts::{Action, Match, Reply, Script, Scripted, When};
pub use service::MockService;
pub use state::{NewSession, Ready};
