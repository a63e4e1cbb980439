//! Merging the reports of shards.

mod run_description;
mod starts;
mod sum;

use std::path::PathBuf;
use std::time::Duration;

use edgeproof_cli::Failure;
use edgeproof_cli::exit_code::INCOMPLETE;
use edgeproof_reports::load::{LoadReport, LoadState, ShardFigures};

pub use self::run_description::RunDescription;
use self::starts::Starts;
use crate::plan::{Metric, Threshold};
use crate::report::{digest, finish};

/// A shard without a report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LostShard {
    /// Its index.
    pub index: u32,
    /// Why it has none, as a clause.
    pub why: String,
}

/// Merges the shards of a run and judges the sum once.
///
/// The given thresholds replace those of the shards, except for error rate and delivered share if no given
/// threshold covers them. An invalid shard makes the sum invalid, and so do shards that ran at different times, by clocks that
/// are corrected where they are known. The order of the files does not matter. Each is read twice, so that one report is in memory at a time.
pub fn merge(files: &[PathBuf], asked: &[(Threshold, bool)]) -> Result<LoadReport, Failure> {
    merge_without(&[], files, asked)
}

/// The same for a run whose other shards were lost. The sum is partial, and proves nothing (exit code 3).
pub fn merge_without(
    lost: &[LostShard],
    files: &[PathBuf],
    asked: &[(Threshold, bool)],
) -> Result<LoadReport, Failure> {
    let read = |file: &PathBuf| {
        let advice = "give reports that a run wrote with --report json=PATH";
        LoadReport::load(file).map_err(|why| Failure::of(&why, advice))
    };
    let shard = |file| {
        let shard = read(file)?.shards.into_iter().next();
        let empty = || changed(&format!("{} has no shard", file.display()));
        Ok((shard.ok_or_else(empty)?, file))
    };
    let mut files: Vec<_> = files.iter().map(shard).collect::<Result<_, Failure>>()?;
    files.sort_by_key(|(shard, _)| shard.index);
    let starts = Starts::of(files.iter().map(|(shard, _)| shard))?;
    let shifts = starts.shifts();
    let mut merged: Option<LoadReport> = None;
    let mut given: Vec<(Threshold, bool)> = Vec::new();
    for ((ShardFigures { index, .. }, file), shift) in files.iter().zip(shifts) {
        let mut report = read(file)?;
        check(merged.as_ref().unwrap_or(&report), &report)?;
        for result in &report.thresholds {
            let threshold = Threshold::of(result).map_err(|why| {
                let what = format!("shard {index} has the invalid threshold {:?}: {}", result.rule, why.why);
                failure(&what, "the report was changed after it was written, or the limit is below 1us: start the shards again with a higher limit")
            })?;
            // A threshold is a default only if no shard was given it.
            match given.iter_mut().find(|(known, _)| *known == threshold) {
                Some((_, by_default)) => *by_default &= result.by_default,
                None => given.push((threshold, result.by_default)),
            }
        }
        report.findings.iter_mut().for_each(|finding| *finding = format!("shard {index}: {finding}"));
        sum::shift_timeline(&mut report, shift)?;
        match &mut merged {
            None => merged = Some(report),
            Some(sum) => sum::add(sum, report)?,
        }
    }
    let mut sum = merged.ok_or_else(|| failure("none is given", "give the JSON report of each shard"))?;
    check_complete(&sum.shards, lost)?;
    sum.comparison = None;
    let planned = Duration::from_millis(sum.plan.warm_up_ms + sum.plan.measured_ms);
    let findings = starts.findings(planned);
    let sum = finish(sum, &thresholds(given, asked), |sum| {
        if !findings.is_empty() {
            sum.state = LoadState::Invalid;
        } else if !lost.is_empty() && sum.state != LoadState::Invalid {
            sum.state = LoadState::Partial;
        }
        let count = sum.shards.first().map_or(1, |shard| shard.count);
        let lost = lost.iter().map(|LostShard { index, why }| {
            format!(
                "shard {index} of {count} is missing, so the figures are those of a part of the run: {why}"
            )
        });
        sum.findings.splice(0..0, lost.chain(findings));
    });
    // A threshold over a part of the load proves nothing, broken or not.
    let exit_code = if lost.is_empty() { sum.exit_code } else { INCOMPLETE };
    Ok(LoadReport { exit_code, ..sum })
}

/// The thresholds for the sum: those that `merge` is given, otherwise those of the shards.
fn thresholds(given: Vec<(Threshold, bool)>, asked: &[(Threshold, bool)]) -> Vec<(Threshold, bool)> {
    if asked.is_empty() {
        return given;
    }
    // Without these, a run of nothing but errors would pass.
    let is_basic = |threshold: &Threshold| {
        threshold.route.is_none() && matches!(threshold.metric, Metric::ErrorRate | Metric::Delivered)
    };
    let judges =
        |metric| asked.iter().any(|(threshold, _)| threshold.route.is_none() && threshold.metric == metric);
    let kept = given.into_iter().filter(|(threshold, _)| is_basic(threshold) && !judges(threshold.metric));
    asked.iter().cloned().chain(kept).collect()
}

/// Why shards cannot be merged, and what to do.
fn failure(what: &str, advice: &str) -> Failure {
    Failure::usage(format!("cannot merge the shards: {what}"), advice)
}

/// The failure of a report with an invalid figure.
fn changed(what: &str) -> Failure {
    failure(what, "the report was changed after it was written")
}

/// Checks that a report is of the same run as others, unchanged.
fn check(others: &LoadReport, report: &LoadReport) -> Result<(), Failure> {
    let difference = RunDescription::of(others).difference(&RunDescription::of(report));
    for shard in &report.shards {
        let index = shard.index;
        if let Some(what) = &difference {
            return Err(failure(
                &format!("shard {index} is of another run: its {what} differs"),
                "start all shards with the same arguments and the same --seed",
            ));
        }
        if let Some(why) = edited(report) {
            return Err(failure(&why, "give the report as the shard wrote it, or run that shard again"));
        }
    }
    Ok(())
}

/// Why a report is not as its shard wrote it, if it is not.
pub fn edited(report: &LoadReport) -> Option<String> {
    let shard = report.shards.iter().find(|shard| shard.digest != digest(shard, &report.plan))?;
    Some(format!(
        "shard {} was edited: its index, number of shards, operations and seed do not match its digest",
        shard.index
    ))
}

/// Checks that each shard is there once. The shards are in order.
fn check_complete(shards: &[ShardFigures], lost: &[LostShard]) -> Result<(), Failure> {
    if let Some(pair) = shards.windows(2).find(|pair| pair[0].index == pair[1].index) {
        let what = format!("shard {} is given twice", pair[0].index);
        return Err(failure(&what, "give each report once"));
    }
    let count = shards.first().map_or(1, |shard| shard.count);
    let is_known = |index| {
        shards.iter().any(|shard| shard.index == index) || lost.iter().any(|shard| shard.index == index)
    };
    let missing = (0..count).filter(|index| !is_known(*index));
    let missing: Vec<String> = missing.map(|index| index.to_string()).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let what = format!("{} of {count} are missing: {}", missing.len(), missing.join(", "));
    let advice = "give the report of every shard; the sum is wrong if a shard is missing";
    Err(failure(&what, advice).incomplete())
}
