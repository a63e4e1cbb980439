use edgeproof_reports::load::LoadReport;

use super::args::Merge;
use super::output::{self, ReportFiles};
use crate::merge::{MergeError, merge};
use edgeproof_cli::Failure;

/// The command `edgeproof-load merge`.
pub(super) fn main(args: &Merge) -> Result<u8, Failure> {
    let files = ReportFiles::open(&args.output)?;
    // No defaults: the shards may have expected errors, so their limits apply.
    let thresholds = output::thresholds(&args.threshold, args.thresholds.as_deref(), None)?;
    let reports: Result<Vec<LoadReport>, _> = args.files.iter().map(|path| LoadReport::load(path)).collect();
    let reports =
        reports.map_err(|why| Failure::of(&why, "give reports that a run wrote with --report json=PATH"))?;
    let sum = merge(&reports, &thresholds).map_err(|why| match why {
        MergeError::Missing { .. } => Failure::from(why).incomplete(),
        why => Failure::from(why),
    })?;
    Ok(files.finish(&args.output, &sum))
}
