use edgeproof_reports::load::{LoadReport, ThresholdResult, Timing};

use crate::measure::{JudgedTimes, ResponseTimes, ThresholdInputs, judge};
use crate::plan::Threshold;

/// Judges thresholds on the figures of a report: of one run, or of a sum.
pub fn judge_report(report: &LoadReport, thresholds: &[(Threshold, bool)]) -> Vec<ThresholdResult> {
    let times =
        |timing: &Timing| ResponseTimes::restore(&timing.histogram, &timing.unanswered_histogram).ok();
    let of = |route: Option<&str>| {
        let verdict = report.time_to_verdict.as_ref().and_then(times);
        let Some(name) = route else {
            // The worse of both rates: the many polls of a session must not hide that the session failed.
            let (requests, operations) = (
                (report.errors(), report.response.figures.count),
                (report.ledger.wrong(), report.ledger.scheduled),
            );
            let part = |(wrong, all): (u64, u64)| if all == 0 { 0.0 } else { wrong as f64 / all as f64 };
            let (errors, count) = if part(operations) > part(requests) { operations } else { requests };
            return Some(ThresholdInputs {
                response: JudgedTimes::restore(&report.response, &report.successes).ok()?,
                count,
                errors,
                rate: report.rate.delivered,
                rates: Some(report.rate),
                failed: part((report.ledger.unexpected + report.ledger.failed, report.ledger.scheduled)),
                open: part((report.ledger.open, report.ledger.scheduled)),
                verdict,
            });
        };
        let route = report.routes.iter().find(|route| route.route == name)?;
        Some(ThresholdInputs {
            response: JudgedTimes::restore(&route.response, &route.successes).ok()?,
            count: route.response.figures.count,
            errors: route.errors,
            rate: route.answered_per_s,
            rates: None,
            failed: 0.0,
            open: 0.0,
            verdict,
        })
    };
    judge(thresholds.iter().map(|(threshold, by_default)| (threshold, *by_default)), of)
}
