//! Report model of a load run: what every format shows.

mod clock;
mod cost;
mod judgement;
mod plan;
mod report;
mod timing;
mod traffic;

pub use clock::{ClockFigures, ClockOffset, ReferenceClock, UnknownClock};
pub use cost::{ContentionFigures, EdgeCost, EdgeMoment, Generator};
pub use judgement::{Comparison, Difference, Distortion, InjectedFault, ThresholdResult};
pub use plan::{Drain, LoadTarget, Model, PlanStage, PlannedLoad, Seal, ShardFigures};
pub use report::{LOAD_SCHEMA, LoadReport, LoadState};
pub use timing::{EdgeAdded, Percentiles, Quantile, TimelineFigures, TimelineMoment, Timing, bounded};
pub use traffic::{
    ConnectionFigures, KEPT_UP, Ledger, OutcomeFigures, ProbeFigures, Rates, Reconciled, RouteFigures,
};
