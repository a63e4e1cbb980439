use std::time::Duration;

use edgeproof_reports::load::{
    ContentionFigures, InjectedFault, Ledger, LoadReport, OutcomeFigures, Reconciled, RouteFigures, Seal,
    TimelineFigures, Timing,
};

use super::error::MergeError;
use crate::measure::{self, Histogram, HistogramError, TimelineBucket};
use crate::report::{timeline, timing};

/// Cost of sealing: the mean over the shards, and the sum of late collections.
pub(super) fn seal(reports: &[LoadReport]) -> Seal {
    let of = |report: &LoadReport| match report.plan.seal {
        Seal::Opaque => None,
        Seal::Real { cost_us, not_in_time } => Some((cost_us, not_in_time)),
    };
    let all: Vec<(f64, u64)> = reports.iter().filter_map(of).collect();
    if all.is_empty() {
        return Seal::Opaque;
    }
    Seal::Real {
        cost_us: all.iter().map(|(cost, _)| cost).sum::<f64>() / all.len() as f64,
        not_in_time: all.iter().map(|(_, late)| late).sum(),
    }
}

pub(super) fn ledgers<'a>(ledgers: impl Iterator<Item = &'a Ledger>) -> Ledger {
    let mut sum = Ledger::default();
    ledgers.for_each(|ledger| sum.add(ledger));
    sum
}

pub(super) fn timings<'a>(timings: impl Iterator<Item = &'a Timing>) -> Result<Timing, HistogramError> {
    let mut sum = Histogram::new();
    // A report of an older version lacks some figures.
    for timing in timings.filter(|timing| !timing.histogram.is_empty()) {
        sum.add(&Histogram::decode(&timing.histogram)?);
    }
    Ok(timing(&sum))
}

pub(super) fn optional<'a>(
    timings: impl Iterator<Item = &'a Timing>,
) -> Result<Option<Timing>, HistogramError> {
    let mut timings = timings.peekable();
    if timings.peek().is_none() { Ok(None) } else { self::timings(timings).map(Some) }
}

pub(super) fn routes(reports: &[LoadReport]) -> Result<Vec<RouteFigures>, HistogramError> {
    let mut sums: Vec<RouteFigures> = Vec::new();
    for name in reports.iter().flat_map(|report| report.routes.iter().map(|route| &route.route)) {
        if sums.iter().any(|sum| sum.route == *name) {
            continue;
        }
        let own =
            || reports.iter().filter_map(|report| report.routes.iter().find(|route| route.route == *name));
        let mut outcomes: Vec<OutcomeFigures> = Vec::new();
        for outcome in own().flat_map(|route| &route.outcomes) {
            let same = |other: &&OutcomeFigures| {
                other.outcome == outcome.outcome && other.expected == outcome.expected
            };
            if outcomes.iter().any(|known| same(&known)) {
                continue;
            }
            let all = || own().flat_map(|route| &route.outcomes).filter(same);
            outcomes.push(OutcomeFigures {
                count: all().map(|outcome| outcome.count).sum(),
                response: timings(all().map(|outcome| &outcome.response))?,
                service: timings(all().map(|outcome| &outcome.service))?,
                ..outcome.clone()
            });
        }
        outcomes
            .sort_by(|one, other| other.count.cmp(&one.count).then_with(|| one.outcome.cmp(&other.outcome)));
        sums.push(RouteFigures {
            route: name.clone(),
            sent: own().map(|route| route.sent).sum(),
            unanswered: own().map(|route| route.unanswered).sum(),
            errors: own().map(|route| route.errors).sum(),
            answered_per_s: own().map(|route| route.answered_per_s).sum(),
            response: timings(own().map(|route| &route.response))?,
            observed: timings(own().map(|route| &route.observed))?,
            service: timings(own().map(|route| &route.service))?,
            outcomes,
        });
    }
    Ok(sums)
}

/// Times of all generators. The share is that of the generator that waited most. Shards may load the same target on
/// one machine, so its times are in the report of each shard only.
pub(super) fn contention(reports: &[LoadReport]) -> ContentionFigures {
    let all = || reports.iter().map(|report| &report.generator.contention);
    let only = match reports {
        [one] => one.generator.contention,
        _ => ContentionFigures::default(),
    };
    ContentionFigures {
        wait_s: all().map(|contention| contention.wait_s).sum(),
        wait_share: all().map(|contention| contention.wait_share).fold(0.0, f64::max),
        others_s: all().map(|contention| contention.others_s).sum(),
        steal_s: all().map(|contention| contention.steal_s).sum(),
        throttled_s: all().map(|contention| contention.throttled_s).sum(),
        ..only
    }
}

pub(super) fn reconciled(reports: &[LoadReport]) -> Vec<Reconciled> {
    let mut sums: Vec<Reconciled> = Vec::new();
    for counted in reports.iter().flat_map(|report| &report.reconciled) {
        match sums.iter_mut().find(|sum| sum.route == counted.route) {
            None => sums.push(counted.clone()),
            Some(sum) => {
                sum.sent += counted.sent;
                sum.unanswered += counted.unanswered;
                sum.arrived += counted.arrived;
                sum.agrees &= counted.agrees;
            }
        }
    }
    sums
}

/// Injected faults of all shards. The slowest recovery counts; no recovery at all is the slowest.
pub(super) fn faults(reports: &[LoadReport]) -> Vec<InjectedFault> {
    let mut sums: Vec<InjectedFault> = Vec::new();
    for fault in reports.iter().flat_map(|report| &report.faults) {
        match sums.iter_mut().find(|sum| sum.fault == fault.fault) {
            None => sums.push(fault.clone()),
            Some(sum) => {
                sum.hit += fault.hit;
                sum.recovery_ms = sum.recovery_ms.zip(fault.recovery_ms).map(|(one, other)| one.max(other));
            }
        }
    }
    sums
}

pub(super) fn timelines(reports: &[LoadReport]) -> Result<TimelineFigures, MergeError> {
    let mut sum = measure::Timeline::default();
    let mut asked: Vec<(Duration, f64)> = Vec::new();
    for report in reports {
        let TimelineFigures { width_ms, moments } = &report.timeline;
        let restored = moments
            .iter()
            .map(|moment| TimelineBucket {
                due: moment.due,
                ended: moment.ended,
                errors: moment.errors,
                steps: moment.steps.clone(),
            })
            .collect();
        let width = Duration::from_millis(*width_ms);
        sum.add(&measure::Timeline::restore(width, restored).ok_or(MergeError::Timeline)?);
        asked.extend(moments.iter().enumerate().map(|(place, moment)| (width * place as u32, moment.asked)));
    }
    Ok(timeline(&sum, |from, to| {
        let within = |(at, _): &&(Duration, f64)| (from..to).contains(at);
        asked.iter().filter(within).map(|(_, asked)| asked).sum()
    }))
}
