use std::time::Duration;

use edgeproof_reports::load::{InjectedFault, KEPT_UP, LoadReport, LoadState, Rates, count, micros};

use super::validity::Validity;
use crate::engine::RunData;
use crate::measure::{LoadMeasurements, UserWaits};
use crate::plan::{Arrivals, UserCount, UserLimit};

/// A target without an answer for this long before the end counts as gone.
const GONE_AFTER: Duration = Duration::from_secs(1);

impl RunData {
    /// Planned, started and delivered operations per second.
    pub(super) fn rates(&self, arrivals: Option<&Arrivals>, measured_s: f64) -> Rates {
        let each = |count: u64, seconds: f64| if seconds > 0.0 { count as f64 / seconds } else { 0.0 };
        let LoadMeasurements { ledger, completions, .. } = &self.recorded;
        // An interrupted run asked for the operations until then.
        let end = self.interrupted.map(|_| self.took.saturating_sub(self.drained));
        let asked = arrivals.map(|arrivals| {
            let end = end.map_or(arrivals.end, |end| end.min(arrivals.end));
            let count = arrivals.before(end).saturating_sub(arrivals.before(arrivals.warm_up));
            each(count, end.saturating_sub(arrivals.warm_up).as_secs_f64())
        });
        // In the closed model no backlog can grow.
        let completed_s = arrivals
            .map_or(measured_s, |_| completions.time(Duration::from_secs_f64(measured_s)).as_secs_f64());
        Rates {
            asked,
            begun: each(ledger.scheduled - ledger.dropped, measured_s),
            // An unexpected answer is no throughput.
            delivered: each(ledger.answered - ledger.unexpected, completed_s),
        }
    }
}

/// Sets the state of a report, and adds the findings that explain it. `ended`: why the run ended early. `sessions`: number
/// of sessions that waited for a verdict.
pub(super) fn conclude(
    report: &mut LoadReport,
    data: &RunData,
    ended: Vec<String>,
    unchecked: bool,
    sessions: u64,
) {
    let gone = gone(data);
    let is_gone = gone.is_some() || !ended.is_empty();
    let partial = partial_reasons(ended, gone, data);
    let imbalance = imbalance(report, data);
    let invalid = Validity { report, data }.reasons();
    report.state = match (imbalance.is_empty(), invalid.is_empty()) {
        (false, _) => LoadState::Invalid,
        (true, false) if !unchecked => LoadState::Invalid,
        _ if !partial.is_empty() => LoadState::Partial,
        _ if unchecked => LoadState::Unchecked,
        _ => LoadState::Complete,
    };
    report.findings.extend(imbalance.into_iter().chain(invalid).chain(partial));
    report.findings.extend(data.self_monitor.contention.competing_target());
    if !is_gone {
        report.findings.extend(without_result(report, sessions));
    }
}

/// Injected faults with what they hit.
pub(super) fn faults(mut faults: Vec<InjectedFault>, data: &RunData) -> Vec<InjectedFault> {
    let counts = data.recorded.all_counts();
    let last_outage = data.recorded.last_outage.as_millis() as u64;
    let end = data.took.saturating_sub(data.drained).as_millis() as u64;
    for fault in &mut faults {
        if let Some(ended) = fault.ended_ms {
            fault.hit = counts.unrelayed + counts.unanswered;
            let recovered = last_outage + 250 < end && ended < end;
            fault.recovery_ms = recovered.then(|| last_outage.saturating_sub(ended));
        }
    }
    faults
}

/// How to count requests whose operations waited for a user: a target that does not keep up holds all users up.
pub(super) fn user_waits(rate: &Rates, data: &RunData) -> UserWaits {
    if rate.kept_up() || !ran_out(data.waited, data.released) {
        UserWaits::LeftOut
    } else {
        UserWaits::LowerBound
    }
}

/// Whether the service counted every answered request, and at most all requests.
pub(super) fn agrees(sent: u64, unanswered: u64, arrived: u64) -> bool {
    (sent - unanswered..=sent).contains(&arrived)
}

/// Since when the target was gone. It is not gone if nothing was due after its last answer.
fn gone(data: &RunData) -> Option<String> {
    let LoadMeasurements { last_answer, last_unanswered, .. } = &data.recorded;
    let end = data.took.saturating_sub(data.drained);
    let silent = end.checked_sub(*last_answer)?;
    let was_asked = data.recorded.all_counts().unanswered > 0 && last_unanswered >= last_answer;
    if data.interrupted.is_some() || !was_asked || silent < GONE_AFTER.min(end / 4) {
        return None;
    }
    if last_answer.is_zero() {
        return Some("the target never answered".to_owned());
    }
    let last = micros(last_answer.as_micros() as u64);
    Some(format!("the target was gone from {last} after the start to the end"))
}

/// Why a run is only a part of the planned one.
fn partial_reasons(ended: Vec<String>, gone: Option<String>, data: &RunData) -> Vec<String> {
    let interrupted = data.interrupted.map(|signal| format!("{signal} ended the run early"));
    if ended.is_empty() {
        return gone.into_iter().chain(interrupted).collect();
    }
    // A dead edge says more than that nothing answers.
    let gone = gone.map(|gone| format!(": {gone}")).unwrap_or_default();
    ended.into_iter().map(|why| format!("{why}{gone}")).chain(interrupted).collect()
}

/// Counts that do not add up.
fn imbalance(report: &LoadReport, data: &RunData) -> Vec<String> {
    let ledgers = [&data.recorded.ledger, &data.recorded.warm_up];
    let unbalanced = ledgers.iter().filter(|ledger| !ledger.balances()).map(|ledger| {
        let (scheduled, accounted) = (ledger.scheduled, ledger.accounted());
        format!("{scheduled} operations were scheduled, but {accounted} are accounted for")
    });
    let mut found: Vec<String> = unbalanced.collect();
    let scheduled: u64 = ledgers.iter().map(|ledger| ledger.scheduled).sum();
    if scheduled != data.released {
        found.push(format!(
            "the pacer released {} operations, but {scheduled} are accounted for",
            data.released
        ));
    }
    found.extend(report.reconciled.iter().filter(|counted| !counted.agrees).map(|counted| {
        format!(
            "{}: {} requests were sent, {} of them without an answer of the service, but the service counted {}",
            counted.route, counted.sent, counted.unanswered, counted.arrived
        )
    }));
    found
}

/// Whether too many operations waited for a user.
fn ran_out(waited: u64, released: u64) -> bool {
    waited as f64 > released as f64 * (1.0 - KEPT_UP)
}

/// The finding that the number of users limited the run, unless the plan had enough of them.
pub(super) fn limited_by_users(users: UserCount, waited: u64, released: u64) -> Option<String> {
    let (by, advice) = match users.limit {
        _ if !ran_out(waited, released) => return None,
        UserLimit::Plan => return None,
        UserLimit::Given => ("--users", "raise --users, or omit it"),
        UserLimit::EmbeddedEdge => {
            ("the connections of the embedded edge", "lower the rate, or use another edge")
        }
        UserLimit::OpenFiles => ("the limit on open files", "raise it (ulimit -n), or lower the rate"),
    };
    Some(format!(
        "limited by {by}: {waited} of {released} operations waited for one of {} users; {advice}",
        users.users
    ))
}

/// Operations and sessions without a result. If the target died, that explains them.
fn without_result(report: &LoadReport, sessions: u64) -> Vec<String> {
    let mut findings = Vec::new();
    let ledger = &report.ledger;
    if ledger.open + ledger.dropped > 0 {
        findings.push(format!(
            "{} operations never started, and {} were still running at the end: they count as slower than all answered ones",
            count(ledger.dropped),
            count(ledger.open)
        ));
    }
    if ledger.without_verdict > 0 {
        findings.push(format!(
            "{} of {} sessions got no verdict: they count as slower than all others",
            count(ledger.without_verdict),
            count(sessions)
        ));
    }
    findings
}

#[cfg(test)]
mod tests {
    use edgeproof_reports::load::Ledger;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::given(UserLimit::Given, 500, Some("limited by --users: 500 of 1000"))]
    #[case::embedded_edge(
        UserLimit::EmbeddedEdge,
        500,
        Some("limited by the connections of the embedded edge")
    )]
    #[case::open_files(UserLimit::OpenFiles, 500, Some("limited by the limit on open files"))]
    #[case::few_waited(UserLimit::Given, 10, None)]
    #[case::enough_users(UserLimit::Plan, 500, None)]
    fn own_number_of_users_is_not_the_targets_fault(
        #[case] limit: UserLimit,
        #[case] waited: u64,
        #[case] expected: Option<&str>,
    ) {
        let found = limited_by_users(UserCount { users: 8, limit }, waited, 1000);
        assert_eq!(found.is_some(), expected.is_some(), "{found:?}");
        assert!(found.unwrap_or_default().contains(expected.unwrap_or_default()));
    }

    #[rstest]
    #[case(10, 0, 10, true)]
    #[case(10, 0, 9, false)]
    #[case(10, 0, 11, false)]
    #[case(10, 2, 8, true)]
    #[case(10, 2, 7, false)]
    fn service_counts_every_answered_request(
        #[case] sent: u64,
        #[case] unanswered: u64,
        #[case] arrived: u64,
        #[case] expected: bool,
    ) {
        assert_eq!(agrees(sent, unanswered, arrived), expected);
    }

    #[rstest]
    #[case(Ledger { scheduled: 10, answered: 5, failed: 2, dropped: 2, open: 1, unexpected: 3, without_verdict: 0 }, true)]
    #[case(Ledger { scheduled: 10, answered: 10, failed: 1, ..Ledger::default() }, false)]
    #[case(Ledger { scheduled: 10, answered: 9, ..Ledger::default() }, false)]
    fn every_scheduled_operation_needs_an_end(#[case] ledger: Ledger, #[case] balances: bool) {
        assert_eq!(ledger.balances(), balances);
    }
}
