//! Load run: its report and its formats.

mod format;
mod model;

pub use format::{LoadFile, render, terminal};
pub use model::{
    ClockFigures, ClockOffset, Comparison, ConnectionFigures, ContentionFigures, Difference, Distortion,
    Drain, EdgeAdded, EdgeCost, EdgeMoment, Generator, InjectedFault, KEPT_UP, LOAD_SCHEMA, Ledger,
    LoadReport, LoadState, LoadTarget, Model, OutcomeFigures, Percentiles, PlanStage, PlannedLoad,
    ProbeFigures, Quantile, Rates, Reconciled, ReferenceClock, RouteFigures, Seal, ShardFigures,
    ThresholdResult, TimelineFigures, TimelineMoment, Timing, UnknownClock, bounded,
};

pub use crate::text::units::{clock, count, micros, percent, rate};
