//! What is measured: histograms, a time line, outcomes, the ledger; and what is concluded from them. No I/O.

mod cells;
mod compare;
mod health;
mod histogram;
mod judge;
mod ledger;
mod outcome;
mod service_times;
mod timeline;

pub use cells::{Cell, Cells, RouteId, Sample};
pub use compare::{Change, Measured, compare};
pub use health::{Health, HealthFacts, health};
pub use histogram::{Histogram, HistogramError};
pub use judge::{Observed, judge};
pub use ledger::{Imbalance, Ledger};
pub use outcome::{Code, Codes, Failure, Outcome};
pub use service_times::{SAMPLED, ServiceTimes};
pub use timeline::{Moment, Timeline};
