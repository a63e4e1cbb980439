//! States of a service that cases ask for, and what its hook supports (`docs/services.md`).

mod need;
mod supported;
mod trial;

pub use need::StateNeed;
pub use supported::States;
pub use trial::TrialTokens;
