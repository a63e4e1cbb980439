//! Clocks of other machines, estimated from answers that name their time. No I/O.

mod answer_dates;
mod estimate;
mod window;

pub use answer_dates::{AnswerDates, HttpDate};
pub use estimate::{ClockEstimate, TimeRange, clock_figures, estimate, estimate_by_dates, wall_step};
pub use window::{ClockBound, ClockSample, ClockWindow};
