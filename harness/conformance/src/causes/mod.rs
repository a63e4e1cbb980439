//! Probable causes of failures: the failures of a run are matched with those of mutants.

mod case_name;
mod fingerprint;
mod matching;
mod probable;
mod symptom;

pub use fingerprint::{Failures, Fingerprint, Fingerprints};
pub use matching::Explanation;
pub use probable::{CauseSources, probable_causes};
pub use symptom::{Symptoms, symptoms};
