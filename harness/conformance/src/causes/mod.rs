//! Probable causes of failures: the failures of a run are matched with those of mutants.

mod candidate;
mod case_name;
mod cover;
mod fingerprint;
mod matching;
mod probable;
mod symptom;

pub use fingerprint::{Failures, Fingerprint, Fingerprints};
pub use matching::Explanation;
pub use probable::{CauseSources, probable_causes};
pub use symptom::{Symptoms, symptoms};
