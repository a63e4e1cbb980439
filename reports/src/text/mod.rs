//! Text that several formats share.

pub(crate) mod case;
pub(crate) mod cause;
pub mod escape;
pub(crate) mod markdown;
pub(crate) mod open_points;
pub mod page;
pub(crate) mod styled;
pub(crate) mod units;
pub(crate) mod verdict;
