use edgeproof_reports::load::LoadReport;

use super::error::MergeError;
use crate::plan::{Metric, Threshold};

/// The thresholds for the sum.
pub(super) fn thresholds(
    reports: &[LoadReport],
    asked: &[(Threshold, bool)],
) -> Result<Vec<(Threshold, bool)>, MergeError> {
    let given = given(reports)?;
    if asked.is_empty() {
        return Ok(given);
    }
    // Without these, a run of nothing but errors would pass.
    let is_basic = |threshold: &Threshold| {
        threshold.route.is_none() && matches!(threshold.metric, Metric::ErrorRate | Metric::Delivered)
    };
    let judges =
        |metric| asked.iter().any(|(threshold, _)| threshold.route.is_none() && threshold.metric == metric);
    let kept = given.into_iter().filter(|(threshold, _)| is_basic(threshold) && !judges(threshold.metric));
    Ok(asked.iter().cloned().chain(kept).collect())
}

/// The thresholds of all shards, each once. A threshold is a default only if no shard was given it.
fn given(reports: &[LoadReport]) -> Result<Vec<(Threshold, bool)>, MergeError> {
    let mut all: Vec<(Threshold, bool)> = Vec::new();
    for report in reports {
        let index = report.shards.first().map_or(0, |shard| shard.index);
        for result in &report.thresholds {
            let threshold = Threshold::of(result).map_err(|why| MergeError::Rule {
                index,
                rule: result.rule.clone(),
                why,
            })?;
            match all.iter_mut().find(|(known, _)| *known == threshold) {
                Some((_, by_default)) => *by_default &= result.by_default,
                None => all.push((threshold, result.by_default)),
            }
        }
    }
    Ok(all)
}
