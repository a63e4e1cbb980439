//! Documents about an interface: two versions compared, and what reports prove of one.

mod coverage;
mod coverage_text;
mod diff;
mod diff_text;

pub use coverage::{
    Coverage, CoveredReport, CoveredRow, CoveredSection, EvidenceCounts, MutantCounts, RowState,
};
pub use diff::{ChangedPart, ChangedRow, ChangedValue, Class, OwnerItems, SpecDiff, WireLine};
pub use diff_text::TextForm;
