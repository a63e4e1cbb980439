use std::collections::BTreeSet;
use std::time::{Duration, SystemTime};

use edgeproof_reports::TargetKind;
use edgeproof_reports::load::{LoadReport, LoadTarget, Seal, ShardFigures};

use super::error::MergeError;
use crate::report::digest;

/// Largest difference between start times, as a share of the planned time.
const SKEW: f64 = 0.05;
/// Start times may always differ by this much: processes started together are not ready together.
const MIN_SKEW: Duration = Duration::from_secs(1);

pub(super) fn check(first: &LoadReport, reports: &[LoadReport]) -> Result<(), MergeError> {
    let count = first.shards.first().map_or(1, |shard| shard.count);
    let mut there = BTreeSet::new();
    for report in reports {
        for shard in &report.shards {
            let index = shard.index;
            let differs = [
                ("schema", report.schema != first.schema),
                ("version of edgeproof", report.tool != first.tool),
                ("scenario", report.scenario != first.scenario),
                ("model", report.model != first.model),
                ("number of shards", shard.count != count),
                ("seed", report.plan.seed != first.plan.seed),
                ("plan", plan(report) != plan(first)),
                ("target", target(report) != target(first)),
                ("faults", faults_asked(report) != faults_asked(first)),
            ];
            if let Some((what, _)) = differs.into_iter().find(|(_, differs)| *differs) {
                return Err(MergeError::OtherRun { index, what });
            }
            if shard.digest != digest(shard, &report.plan) {
                return Err(MergeError::Edited { index });
            }
            if !there.insert(index) {
                return Err(MergeError::Twice { index });
            }
        }
    }
    let missing: Vec<u32> = (0..count).filter(|index| !there.contains(index)).collect();
    if missing.is_empty() { Ok(()) } else { Err(MergeError::Missing { missing, count }) }
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
fn plan(report: &LoadReport) -> edgeproof_reports::load::PlannedLoad {
    let mut plan = report.plan.clone();
    plan.drain.took_ms = 0;
    plan.users = 0;
    if let Seal::Real { cost_us, not_in_time } = &mut plan.seal {
        (*cost_us, *not_in_time) = (0.0, 0);
    }
    plan
}

/// A finding if the shards did not start together. Their plans have the same length.
pub(super) fn skewed(shards: &[ShardFigures], planned: Duration) -> Result<Option<String>, MergeError> {
    let mut starts: Vec<(SystemTime, u32)> = Vec::new();
    for ShardFigures { index, started, .. } in shards {
        let at = humantime::parse_rfc3339(started)
            .map_err(|_| MergeError::Started { index: *index, started: started.clone() })?;
        starts.push((at, *index));
    }
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
