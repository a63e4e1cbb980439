//! Mutants and the cases that detect them.

mod agreement;
mod causes;
mod collector;
mod inert;
mod rows;
mod sample;
mod settings;
mod support;
