//! Merging the reports of shards.

mod sum;

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use edgeproof_cli::Failure;
use edgeproof_reports::TargetKind;
use edgeproof_reports::load::{LoadReport, LoadState, LoadTarget, PlannedLoad, Seal, ShardFigures};

use crate::plan::{Metric, Threshold};
use crate::report::{digest, finish};

/// Largest difference between start times, as a share of the planned time.
const SKEW: f64 = 0.05;
/// Start times may always differ by this much: processes started together are not ready together.
const MIN_SKEW: Duration = Duration::from_secs(1);

/// Merges the shards of a run and judges the sum once.
///
/// The given thresholds replace those of the shards, except for error rate and delivered share if no given
/// threshold covers them. An invalid shard makes the sum invalid, and so do shards that ran at different times. The order of the
/// files does not matter. Each is read twice, so that one report is in memory at a time.
pub fn merge(files: &[PathBuf], asked: &[(Threshold, bool)]) -> Result<LoadReport, Failure> {
    let read = |file: &PathBuf| {
        let advice = "give reports that a run wrote with --report json=PATH";
        LoadReport::load(file).map_err(|why| Failure::of(&why, advice))
    };
    let index = |report: LoadReport| report.shards.first().map(|shard| shard.index);
    let mut files: Vec<_> =
        files.iter().map(|file| Ok((index(read(file)?), file))).collect::<Result<_, Failure>>()?;
    files.sort_by_key(|(index, _)| *index);
    let mut merged: Option<LoadReport> = None;
    let mut given: Vec<(Threshold, bool)> = Vec::new();
    for (index, file) in files {
        let mut report = read(file)?;
        check(merged.as_ref().unwrap_or(&report), &report)?;
        let index = index.unwrap_or(0);
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
        match &mut merged {
            None => merged = Some(report),
            Some(sum) => sum::add(sum, report)?,
        }
    }
    let mut sum = merged.ok_or_else(|| failure("none is given", "give the JSON report of each shard"))?;
    check_complete(&sum.shards)?;
    sum.comparison = None;
    let planned = Duration::from_millis(sum.plan.warm_up_ms + sum.plan.measured_ms);
    let skewed = skewed(&sum.shards, planned)?;
    Ok(finish(sum, &thresholds(given, asked), |sum| {
        if let Some(skewed) = skewed {
            sum.state = LoadState::Invalid;
            sum.findings.insert(0, skewed);
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

/// A finding if the shards did not start together. Their plans have the same length.
fn skewed(shards: &[ShardFigures], planned: Duration) -> Result<Option<String>, Failure> {
    let start = |ShardFigures { index, started, .. }: &ShardFigures| {
        let invalid = |_| changed(&format!("shard {index} has the invalid start time {started:?}"));
        humantime::parse_rfc3339(started).map(|at| (at, *index)).map_err(invalid)
    };
    let starts: Vec<(SystemTime, u32)> = shards.iter().map(start).collect::<Result<_, _>>()?;
    let (Some((first, early)), Some((last, late))) = (starts.iter().min(), starts.iter().max()) else {
        return Ok(None);
    };
    let apart = last.duration_since(*first).unwrap_or_default();
    let allowed = planned.mul_f64(SKEW).max(MIN_SKEW);
    Ok((apart > allowed).then(|| {
        format!(
            "the shards did not run at the same time, so the target never had the whole rate: shard {late} began {:.1} s after \
             shard {early}, and the limit is {:.1} s; give all shards the same --start-at, late enough for each to be ready, or \
             run them as an Indexed Job with parallel pods",
            apart.as_secs_f64(),
            allowed.as_secs_f64()
        )
    }))
}
