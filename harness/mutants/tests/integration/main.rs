//! Mutants and the cases that detect them.

#![expect(clippy::unwrap_used, reason = "a panic is how a test reports")]

mod agreement;
mod causes;
mod collector;
mod inert;
mod rows;
mod sample;
mod settings;
mod support;
