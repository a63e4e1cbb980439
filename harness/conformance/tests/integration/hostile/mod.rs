//! Runs with hostile edges, services and clients end in bounded time and memory, with
//! the right outcomes and exit code, whole and harmless reports, and no process left.

mod clients;
mod cut;
mod deaths;
mod edges;
mod ends;
pub(crate) mod harmless;
mod hostile_proxy;
mod hostility;
mod mock;
mod program;
mod relays;
mod services;
mod stops;
mod watched;
