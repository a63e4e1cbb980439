//! Mutants that are generated: when a condition holds, then an effect. The conditions come from registers, sizes, classes of
//! bytes and counts, not from the dimensions of our own cases, so they measure what the cases never exercise.

mod condition;
mod coverage;
mod draw;
mod effect;
mod excluded;
mod measure;
mod outcome;

pub use measure::{ConditionalOptions, ConditionalResult, Noticed, measure_conditions};
