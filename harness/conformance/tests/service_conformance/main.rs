//! `edgeproof conformance service` and `keys`: our mock, a service of strangers that keeps the interface, and the same
//! broken in one way at a time.
#![expect(clippy::unwrap_used, reason = "helpers of tests, which the lints do not know as such")]

mod arguments;
mod broken_keys;
mod broken_service;
mod mock;
mod program;
mod stranger;
mod strangers;
mod tls;
