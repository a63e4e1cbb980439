//! Load for the edge relay, for verdict polling, and for the whole journey of a session; the program `edgeproof-load`.
//!
//! Goose runs the users. Requests go over connections of our own, and begin when a pacer says: a response time counts from
//! the intended start, so that a target that stalls cannot hide it.

pub mod cli;
pub mod engine;
pub mod load_baseline;
pub mod measure;
pub mod merge;
pub mod plan;
pub mod report;
pub mod scenario;
pub mod service;
