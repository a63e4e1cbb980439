//! Exploration: exchanges in which HTTP, clients, services and connections vary. The model of variation is data
//! (`fixtures/spec/variation.toml`). A covering array combines its values with the rows; the same pure judgement as
//! for plain conversations applies, and a failure is reduced to the fewest values that still fail.

mod cases;
mod cause;
mod change;
mod earlier;
mod exchange;
mod exploration;
mod family;
mod minimize;
mod model;
mod pairs;
mod play;
pub mod sequence;
mod trial;
mod twice;

pub(crate) use cases::add;
pub use earlier::EarlierReplies;
pub use exchange::Exchange;
pub use family::ExploredRow;
pub use model::Model;
pub use pairs::{all_pairs, allowed_pairs};
pub use trial::{ChangeIndex, Trial};
