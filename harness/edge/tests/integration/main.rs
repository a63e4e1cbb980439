//! The reference edge over sockets: in front of the mock service with TLS, and in front of wiremock, which is
//! independent of edgeproof.

#![expect(clippy::unwrap_used, reason = "clippy exempts only functions marked as tests")]

mod fidelity;
mod independent_service;
mod magic;
mod recovery;
mod refusals;
mod serving;
mod settings;
mod support;
mod unreachable;
