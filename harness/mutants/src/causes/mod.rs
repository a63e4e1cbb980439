//! Causes: fingerprints from the kill matrix, and how often a run names the right cause.

mod accuracy;
mod currency;
mod mutant_failures;
mod sample;

pub use accuracy::{Accuracy, Share};
pub(crate) use accuracy::{first_causes, left_out, measure};
pub(crate) use currency::{differing, outdated, renewed};
pub use mutant_failures::MutantFailures;
pub(crate) use mutant_failures::fingerprints;
