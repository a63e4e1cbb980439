//! The pacer, which releases operations on time, and its timer.

mod alarm;
mod pacer;

pub(super) use pacer::Pacer;
