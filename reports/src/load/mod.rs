//! A run of load: what was asked, what came of it, and the documents that show it.

mod chart;
mod document;
mod file;
mod heatmap;
mod html;
mod json;
mod junit;
mod markdown;
mod text;

pub use document::{
    Added, Comparison, Difference, Drain, EdgeCost, EdgeMoment, Fault, Figures, Generator, Ledger,
    LoadReport, LoadState, LoadTarget, Model, OutcomeFigures, Plan, PlanStage, Rates, Reconciled,
    RouteFigures, Seal, ShardOf, ThresholdResult, Timeline, TimelineMoment, Timing,
};
pub use file::LoadFile;
pub use json::{LOAD_SCHEMA, load_schema};
pub use text::{clock, count, micros, rate, render as terminal};

use crate::{Format, ReportError};

/// The document that a format makes of a run.
pub fn render(format: Format, report: &LoadReport) -> Result<String, ReportError> {
    match format {
        Format::Json => {
            report.to_json().map_err(|source| ReportError::Render { format, source: source.into() })
        }
        Format::Junit => {
            junit::render(report).map_err(|source| ReportError::Render { format, source: source.into() })
        }
        Format::Html => Ok(html::render(report)),
        Format::Markdown => Ok(markdown::render(report)),
    }
}
