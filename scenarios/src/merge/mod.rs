//! Merging the reports of shards.

mod starts;
mod sum;

use std::path::PathBuf;
use std::time::Duration;

use edgeproof_cli::Failure;
use edgeproof_reports::TargetKind;
use edgeproof_reports::load::{LoadReport, LoadState, LoadTarget, PlannedLoad, Seal, ShardFigures};

use self::starts::Starts;
use crate::plan::{Metric, Threshold};
use crate::report::{digest, finish};

/// Merges the shards of a run and judges the sum once.
///
/// The given thresholds replace those of the shards, except for error rate and delivered share if no given
/// threshold covers them. An invalid shard makes the sum invalid, and so do shards that ran at different times, by clocks that
/// are corrected where they are known. The order of the files does not matter. Each is read twice, so that one report is in memory at a time.
pub fn merge(files: &[PathBuf], asked: &[(Threshold, bool)]) -> Result<LoadReport, Failure> {
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
    check_complete(&sum.shards)?;
    sum.comparison = None;
    let planned = Duration::from_millis(sum.plan.warm_up_ms + sum.plan.measured_ms);
    let findings = starts.findings(planned);
    Ok(finish(sum, &thresholds(given, asked), |sum| {
        if !findings.is_empty() {
            sum.state = LoadState::Invalid;
            sum.findings.splice(0..0, findings);
        }
    }))
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
    let count = |report: &LoadReport| report.shards.first().map_or(1, |shard| shard.count);
    for shard in &report.shards {
        let index = shard.index;
        let differs = [
            ("schema", report.schema != others.schema),
            ("version of edgeproof", report.tool != others.tool),
            ("scenario", report.scenario != others.scenario),
            ("model", report.model != others.model),
            ("number of shards", shard.count != count(others)),
            ("seed", report.plan.seed != others.plan.seed),
            ("plan", plan(report) != plan(others)),
            ("target", target(report) != target(others)),
            ("faults", faults_asked(report) != faults_asked(others)),
        ];
        if let Some((what, _)) = differs.into_iter().find(|(_, differs)| *differs) {
            return Err(failure(
                &format!("shard {index} is of another run: its {what} differs"),
                "start all shards with the same arguments and the same --seed",
            ));
        }
        if shard.digest != digest(shard, &report.plan) {
            return Err(failure(
                &format!(
                    "shard {index} was edited: its index, number of shards, operations and seed do not match its digest"
                ),
                "give the report as the shard wrote it, or run that shard again",
            ));
        }
    }
    Ok(())
}

/// Checks that each shard is there once. The shards are in order.
fn check_complete(shards: &[ShardFigures]) -> Result<(), Failure> {
    if let Some(pair) = shards.windows(2).find(|pair| pair[0].index == pair[1].index) {
        let what = format!("shard {} is given twice", pair[0].index);
        return Err(failure(&what, "give each report once"));
    }
    let count = shards.first().map_or(1, |shard| shard.count);
    let missing = (0..count).filter(|index| !shards.iter().any(|shard| shard.index == *index));
    let missing: Vec<String> = missing.map(|index| index.to_string()).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let what = format!("{} of {count} are missing: {}", missing.len(), missing.join(", "));
    let advice = "give the report of every shard; the sum is wrong if a shard is missing";
    Err(failure(&what, advice).incomplete())
}

/// The target, without the URL of an edge that each shard started itself.
fn target(report: &LoadReport) -> LoadTarget {
    let target = report.target.clone();
    let edge_url = target.edge_url.filter(|_| target.kind == TargetKind::Attached);
    LoadTarget { edge_url, ..target }
}

fn faults_asked(report: &LoadReport) -> Vec<&str> {
    report.faults.iter().map(|fault| fault.fault.as_str()).collect()
}

/// The plan, without what differs between shards.
fn plan(report: &LoadReport) -> PlannedLoad {
    let mut plan = report.plan.clone();
    plan.drain.took_ms = 0;
    plan.users = 0;
    if let Seal::Real { cost_us, not_in_time } = &mut plan.seal {
        (*cost_us, *not_in_time) = (0.0, 0);
    }
    plan
}
