//! Load test for the edge relay, for verdict polling, and for the whole journey of a session; the program
//! `edgeproof-load`.
//!
//! Goose runs the users. Requests use connections of this crate and start when a pacer releases them. A
//! response time counts from the intended start, so a stalled target cannot hide its delay.
//!
//! Imports go one way: `plan` ← `measure` ← `engine` ← `scenario` ← `service` ← `report` ← `merge` ←
//! `gather` ← `cli`.

pub mod cli;
pub mod engine;
pub mod gather;
pub mod load_baseline;
pub mod measure;
pub mod merge;
pub mod plan;
pub mod report;
pub mod scenario;
pub mod service;
