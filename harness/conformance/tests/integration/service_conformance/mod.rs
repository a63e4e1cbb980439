//! `edgeproof conformance service` and `keys`: the built-in mock, a correct service of another implementation, and the same
//! service with one fault at a time.

mod arguments;
mod broken_keys;
mod broken_service;
mod fake_service;
mod mock;
mod other_service;
mod program;
mod states;
mod tls;
