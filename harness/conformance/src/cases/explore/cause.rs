use edgeproof_fixtures::spec::Advice;

use super::minimize::Minimal;
use super::model::Model;
use super::trial::Trial;

/// The fewest values that still fail, and the exchanges of a case that they explain.
#[derive(Debug)]
pub(super) struct Cause {
    /// The plainest failed trial.
    pub(super) minimal: Minimal,
    /// Failed exchanges that it explains.
    pub(super) exchanges: usize,
    /// Rows that fail with these values.
    rows: Vec<usize>,
}

/// When a plain exchange passed that fails now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Passed {
    /// Earlier in the run, at the same edge.
    Earlier,
    /// Not seen, but the plain acceptance fails now as well, and passed earlier in the run.
    AcceptanceEarlier,
    /// At an edge that has just started.
    AfterStart,
}

/// Adds a cause. Causes with the same values become one.
pub(super) fn add(causes: &mut Vec<Cause>, minimal: Minimal) {
    let same = |known: &&mut Cause| !known.is_plain() && known.minimal.has_same_values(&minimal);
    match causes.iter_mut().find(same) {
        Some(known) => {
            known.exchanges += 1;
            known.minimal.any_row |= minimal.any_row;
            if !known.rows.contains(&minimal.trial.row) {
                known.rows.push(minimal.trial.row);
            }
        }
        None => causes.push(Cause { rows: vec![minimal.trial.row], minimal, exchanges: 1 }),
    }
}

impl Cause {
    /// No value is necessary.
    pub(super) fn is_plain(&self) -> bool {
        self.minimal.repeats && self.minimal.trial.changes.is_empty()
    }

    /// Whether a failed trial has these values, and a row that fails with them.
    pub(super) fn explains(&self, trial: &Trial) -> bool {
        // Values that fail with two rows fail with any row, as far as a case can tell.
        trial.includes(&self.minimal.trial, self.minimal.any_row || self.rows.len() > 1)
    }

    /// Which values suffice, and what they explain. `passed`: when the plain exchange passed.
    pub(super) fn advice(&self, model: &Model, passed: Option<Passed>) -> Vec<Advice> {
        let Minimal { trial, any_row, repeats, .. } = &self.minimal;
        let rows = || match (any_row, self.rows.as_slice()) {
            (true, _) => Advice::WithAnyRow,
            (false, [_]) => Advice::WithThisRow,
            (false, rows) => {
                Advice::WithRows { rows: rows.iter().map(|row| model.rows[*row].id.clone()).collect() }
            }
        };
        let mut advice = match (trial.changes.len(), repeats) {
            (0, false) => vec![Advice::FailedOnce],
            (_, false) => vec![Advice::ValuesFailedOnce],
            (0, true) => vec![Advice::FailsPlainly],
            (1, true) => vec![Advice::ValueSuffices, rows()],
            (_, true) if self.rows.len() > 1 => vec![Advice::ValuesSuffice, rows()],
            (_, true) => vec![Advice::ValuesSuffice],
        };
        if self.is_plain() {
            advice.extend(passed.map(|passed| match passed {
                Passed::Earlier => Advice::PassedEarlier,
                Passed::AcceptanceEarlier => Advice::AcceptancePassedEarlier,
                Passed::AfterStart => Advice::PassesAfterStart,
            }));
        }
        advice.push(Advice::ExplainsExchanges { count: self.exchanges as u64 });
        advice
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use bytes::Bytes;
    use edgeproof_fixtures::spec::{Spec, Version};
    use edgeproof_http::{ConnectionUse, Draft, NoAnswer, Request, Sent};
    use edgeproof_mock::ReplyShape;
    use edgeproof_reports::CaseLevel;
    use http::HeaderMap;
    use rstest::rstest;

    use super::*;
    use crate::cases::Catalog;
    use crate::cases::explore::play::Played;
    use crate::cases::explore::trial::ChangeIndex;

    fn model() -> Model {
        let spec = Spec::builtin(Version::Current);
        let shape = ReplyShape::from_profile(spec.profile());
        Model::new(&Catalog::new(&spec, &shape, false))
    }

    /// A failed trial with values of these dimensions.
    fn minimal(row: usize, dimensions: &[usize], any_row: bool, repeats: bool) -> Minimal {
        let request = Request {
            method: "POST".into(),
            target: "/".into(),
            version: http::Version::HTTP_11,
            headers: HeaderMap::new(),
            body: Bytes::new(),
            complete: true,
        };
        let sent = Sent {
            place: ConnectionUse::first(),
            request,
            violations: Vec::new(),
            reply: Err(NoAnswer::Closed),
            at: Instant::now(),
            took: Duration::ZERO,
        };
        let played = Played {
            marker: "q0000001".into(),
            before: Vec::new(),
            draft: Draft::new("POST", "/"),
            sent,
            arrivals: Vec::new(),
            in_turn: true,
            checks: Vec::new(),
            level: CaseLevel::Must,
        };
        let changes = dimensions.iter().map(|dimension| ChangeIndex { dimension: *dimension, value: 0 });
        Minimal { trial: Trial { row, changes: changes.collect() }, played, any_row, repeats }
    }

    fn advice(minimal: Vec<Minimal>, passed: Option<Passed>) -> Vec<Vec<Advice>> {
        let mut causes = Vec::new();
        for minimal in minimal {
            add(&mut causes, minimal);
        }
        causes.iter().map(|cause| cause.advice(&model(), passed)).collect()
    }

    fn explains(count: u64) -> Advice {
        Advice::ExplainsExchanges { count }
    }

    #[rstest]
    #[case::fails_always(None, None)]
    #[case::passed_earlier(Some(Passed::Earlier), Some(Advice::PassedEarlier))]
    #[case::acceptance(Some(Passed::AcceptanceEarlier), Some(Advice::AcceptancePassedEarlier))]
    #[case::after_start(Some(Passed::AfterStart), Some(Advice::PassesAfterStart))]
    fn plain_exchange_that_passed_depends_on_the_past(
        #[case] passed: Option<Passed>,
        #[case] expected: Option<Advice>,
    ) {
        let all: Vec<Advice> =
            [Advice::FailsPlainly].into_iter().chain(expected).chain([explains(1)]).collect();
        assert_eq!(advice(vec![minimal(0, &[], true, true)], passed), [all]);
    }

    #[test]
    fn causes_with_the_same_values_become_one() {
        let model = model();
        let both = vec![minimal(1, &[3, 4], false, true), minimal(2, &[3, 4], false, true)];
        let rows = [1, 2].map(|row: usize| model.rows[row].id.clone()).to_vec();
        let expected = [Advice::ValuesSuffice, Advice::WithRows { rows }, explains(2)];
        assert_eq!(advice(both, None), [expected]);
    }

    #[test]
    fn causes_with_other_values_or_without_values_stay_apart() {
        let values = vec![minimal(1, &[3], false, true), minimal(1, &[4], false, true)];
        let alone = vec![Advice::ValueSuffices, Advice::WithThisRow, explains(1)];
        assert_eq!(advice(values, None), vec![alone; 2]);
        let plain = vec![minimal(1, &[], false, true), minimal(2, &[], false, true)];
        assert_eq!(advice(plain, None).len(), 2);
        let once = vec![minimal(1, &[3], false, false), minimal(1, &[3], false, true)];
        assert_eq!(advice(once, None).len(), 2);
    }

    #[rstest]
    #[case::same_row(&[1], 1, true)]
    #[case::other_row(&[1], 2, false)]
    #[case::two_rows(&[1, 2], 3, true)]
    fn values_that_fail_with_two_rows_explain_any_row(
        #[case] rows: &[usize],
        #[case] row: usize,
        #[case] explains: bool,
    ) {
        let mut causes = Vec::new();
        for row in rows {
            add(&mut causes, minimal(*row, &[3], false, true));
        }
        assert_eq!(causes[0].explains(&minimal(row, &[3, 4], false, true).trial), explains);
    }
}
