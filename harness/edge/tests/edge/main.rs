//! The reference edge over real sockets: against the mock service with TLS, and against wiremock, which knows nothing
//! of edgeproof.

#![expect(clippy::unwrap_used, reason = "what fails while a test is set up fails the test")]

mod fidelity;
mod magic;
mod recovery;
mod refusals;
mod serving;
mod settings;
mod standin;
mod support;
mod unreachable;
