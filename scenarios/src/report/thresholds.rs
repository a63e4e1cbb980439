use edgeproof_reports::load::{LoadReport, ThresholdResult, Timing};

use crate::measure::{Histogram, ThresholdInputs, judge};
use crate::plan::Threshold;

/// Judges thresholds on the figures of a report: of one run, or of a sum.
pub fn judge_report(report: &LoadReport, thresholds: &[(Threshold, bool)]) -> Vec<ThresholdResult> {
    let histogram = |timing: &Timing| Histogram::decode(&timing.histogram).ok();
    let of = |route: Option<&str>| {
        let verdict = report.time_to_verdict.as_ref().and_then(histogram);
        let Some(name) = route else {
            // The worse of both rates: the many polls of a session must not hide that the session failed.
            let (requests, operations) = (
                (report.errors(), report.response.figures.count),
                (report.ledger.wrong(), report.ledger.scheduled),
            );
            let part = |(wrong, all): (u64, u64)| if all == 0 { 0.0 } else { wrong as f64 / all as f64 };
            let (errors, count) = if part(operations) > part(requests) { operations } else { requests };
            return Some(ThresholdInputs {
                response: histogram(&report.response)?,
                count,
                errors,
                rate: report.rate.delivered,
                verdict,
                without_verdict: report.ledger.without_verdict,
            });
        };
        let route = report.routes.iter().find(|route| route.route == name)?;
        Some(ThresholdInputs {
            response: histogram(&route.response)?,
            count: route.response.figures.count,
            errors: route.errors,
            rate: route.answered_per_s,
            verdict,
            without_verdict: 0,
        })
    };
    judge(thresholds.iter().map(|(threshold, by_default)| (threshold, *by_default)), of)
}
