#![doc = include_str!("../README.md")]
//!
//! Tests in other languages use the [admin port](admin) and [magic values](magic).
//!
//! # Code map
//!
//! Imports go one way: a line imports only from lines above it.
//!
//! | Module | Contents |
//! |---|---|
//! | `route`, `clock`, `listener` | endpoint of a request; time; sockets and TLS |
//! | `decision` | the pure decisions: tables, profile and facts of a request in, answer out |
//! | `journal`, `scripts`, `keys`, [`magic`] | recorded requests; scripted replies; verdict keys and seal keys; magic values |
//! | `fault_hooks`, `options`, `state` | hooks for mutants; settings; the state that requests share |
//! | `collections`, `verdicts` | handlers: `POST` of a relayed collection; `GET` of a verdict |
//! | `http` | reads and records a request, selects script or handler, sends the answer |
//! | `service`, [`states`], [`admin`] | [`MockService`]; states that tests ask for; its admin port |
//! | `stimuli` | what causes each stimulus of the tables |

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
pub mod states;
mod stimuli;
mod verdicts;

pub use clock::Clock;
pub use decision::{
    CollectionFacts, Outage, ReadOutage, Replay, ReplyShape, ReplyShapeError, ServiceDecision, SessionFact,
    VerdictFacts, decide, decide_verdict, presented_licenses, presents_license,
};
pub use fault_hooks::{NoServiceFaults, ServiceAction, ServiceFaultHooks, ServiceRequest};
pub use journal::{Arrival, ArrivalAnswer, Observer, RECORDED};
pub use listener::{Listen, ListenerMode};
pub use options::ServiceOptions;
pub use route::ServiceEndpoint;
pub use scripts::{Action, AnswerFraming, AnswerPackets, Match, Reply, Script, Scripted, ShapedAnswer, When};
pub use service::MockService;
pub use state::{NewSession, Ready};
pub use stimuli::{RelayStimulus, prepare_verdict};
