use std::fmt::Write as _;
use std::time::Duration;

use edgeproof_fixtures::credentials::Redactor;
use edgeproof_reports::difference::{DifferenceKind, TimeRule};
use edgeproof_reports::escape::{one_line, visible};
use edgeproof_reports::{CaseLevel, CaseReport, EdgeNotes, Mismatch, Observation, Outcome};

use super::reproduction::{reproduce, transcript};
use crate::cases::{CaseFacts, CaseFindings};
use crate::judge::Check;

/// Number of expectations that a report lists.
const SHOWN: usize = 4;
/// Longest text from the target in a report, in characters.
const LONGEST: usize = 2000;

/// Report of a case that ran.
pub(in crate::run) fn after_run(
    case: &CaseFacts,
    found: &CaseFindings,
    took: Duration,
    notes: Option<EdgeNotes>,
    redactor: &Redactor,
) -> CaseReport {
    debug_assert!(
        found.observations.iter().all(|(point, _)| case.points.contains(point)),
        "{} observes other points than it says: {:?}",
        case.id,
        found.observations
    );
    let mut mismatches: Vec<Mismatch> =
        found.checks.iter().filter_map(Check::mismatch).map(|m| clean(&m, redactor)).collect();
    mismatches.sort_by_key(|mismatch| mismatch.level);
    let (outcome, because) = judge(case.level, found, &mismatches);
    let rendered = |text: fn(&Check) -> &String| render(found.checks.iter().map(text), redactor);
    let broken = matches!(outcome, Outcome::Fail | Outcome::Warn);
    CaseReport {
        outcome,
        because,
        expected: rendered(|check| &check.expected),
        actual: rendered(|check| &check.actual),
        mismatches,
        observations: found
            .observations
            .iter()
            .map(|(point, observed)| Observation {
                point: point.clone(),
                observed: cut(redactor.redact(&one_line(observed)).into_owned()),
                ..Observation::default()
            })
            .collect(),
        duration_us: u64::try_from(took.as_micros()).unwrap_or(u64::MAX),
        varied: found.varied as u64,
        reproduce: redactor.redact(&reproduce(found)).into_owned(),
        exchanges: transcript::exchanges(&found.sent, &found.arrivals, redactor),
        edge: notes.filter(|_| broken),
        ..blank(case)
    }
}

/// Outcome of a case of this level with these findings, and the reason.
pub fn outcome_of(level: CaseLevel, found: &CaseFindings) -> (Outcome, String) {
    let mut mismatches: Vec<Mismatch> = found.checks.iter().filter_map(Check::mismatch).collect();
    mismatches.sort_by_key(|mismatch| mismatch.level);
    judge(level, found, &mismatches)
}

/// Report of a case that did not run.
pub(in crate::run) fn without_run(case: &CaseFacts, outcome: Outcome, because: &str) -> CaseReport {
    CaseReport { outcome, because: because.into(), ..blank(case) }
}

/// The check of a case that exceeded its timeout.
pub(in crate::run) fn timeout_check(limit: Duration) -> Check {
    Check::judged(DifferenceKind::time(TimeRule::CaseTimeout, None, limit), false)
}

fn blank(case: &CaseFacts) -> CaseReport {
    CaseReport {
        id: case.id.clone(),
        title: case.title.clone(),
        section: case.section.clone(),
        level: case.level,
        basis: case.basis,
        standard: case.standard.clone(),
        rows: case.rows.clone(),
        since: case.since,
        ..CaseReport::default()
    }
}

fn judge(level: CaseLevel, found: &CaseFindings, mismatches: &[Mismatch]) -> (Outcome, String) {
    if let Some(why) = &found.not_run {
        return (Outcome::NotRun, why.clone());
    }
    if let Some(why) = &found.not_applicable {
        return (Outcome::NotApplicable, why.clone());
    }
    let because = |level: CaseLevel| {
        let mismatch = mismatches.iter().find(|mismatch| mismatch.level == level)?;
        Some(format!(
            "{}: expected {}, got {}",
            mismatch.what,
            one_line(&mismatch.expected),
            one_line(&mismatch.actual)
        ))
    };
    if let Some(because) = because(CaseLevel::Must) {
        return (Outcome::Fail, because);
    }
    if let Some(because) = because(CaseLevel::Should) {
        return (Outcome::Warn, because);
    }
    match (found.checks.is_empty(), found.observations.first()) {
        (true, None) if found.unstated => {
            (Outcome::NotApplicable, "this version of the interface does not show the answer".into())
        }
        (true, None) => (Outcome::NotRun, "the case checked nothing".into()),
        (true, Some((_, observed))) => (Outcome::Observed, one_line(observed).into_owned()),
        _ if level == CaseLevel::Open => {
            (Outcome::Observed, because(CaseLevel::Open).unwrap_or_else(|| "as expected".into()))
        }
        _ => (Outcome::Pass, String::new()),
    }
}

fn clean(mismatch: &Mismatch, redactor: &Redactor) -> Mismatch {
    let clean = |text: &str| cut(redactor.redact(&visible(text)).into_owned());
    Mismatch {
        what: clean(&mismatch.what),
        place: clean(&mismatch.place),
        expected: clean(&mismatch.expected),
        actual: clean(&mismatch.actual),
        hint: None,
        difference: mismatch.difference.as_ref().and_then(|difference| difference.map_texts(&clean)),
        level: mismatch.level,
        advice: mismatch.advice.iter().filter_map(|note| note.map_texts(&clean)).collect(),
    }
}

/// Distinct texts in one line, redacted.
fn render<'c>(texts: impl Iterator<Item = &'c String>, redactor: &Redactor) -> String {
    let mut distinct: Vec<&str> = Vec::new();
    for text in texts {
        if !distinct.contains(&text.as_str()) {
            distinct.push(text);
        }
    }
    let more = if distinct.len() > SHOWN { "; …" } else { "" };
    distinct.truncate(SHOWN);
    let line = distinct.join("; ") + more;
    cut(redactor.redact(&one_line(&line)).into_owned())
}

/// Shortens a text. Only after redaction: the redactor does not recognise half a secret.
fn cut(mut text: String) -> String {
    if let Some((end, _)) = text.char_indices().nth(LONGEST) {
        let length = text.len();
        text.truncate(end);
        _ = write!(text, "… ({length} bytes)");
    }
    text
}

#[cfg(test)]
mod tests {
    use edgeproof_reports::difference::Counted;
    use rstest::rstest;

    use super::*;

    fn found(checks: &[(CaseLevel, bool)], observed: bool) -> CaseFindings {
        let checks = checks
            .iter()
            .map(|(level, ok)| Check::counted(Counted::Copies, 0, usize::from(!ok)).at(*level))
            .collect();
        let observations = if observed { vec![("point".into(), "observed".into())] } else { Vec::new() };
        CaseFindings { checks, observations, ..CaseFindings::default() }
    }

    #[rstest]
    #[case::pass(&[(CaseLevel::Must, true)], false, Outcome::Pass)]
    #[case::must(&[(CaseLevel::Must, true), (CaseLevel::Must, false)], false, Outcome::Fail)]
    #[case::should(&[(CaseLevel::Must, true), (CaseLevel::Should, false)], true, Outcome::Warn)]
    #[case::must_before_should(&[(CaseLevel::Should, false), (CaseLevel::Must, false)], false, Outcome::Fail)]
    #[case::open(&[(CaseLevel::Open, false)], true, Outcome::Pass)]
    #[case::observed(&[], true, Outcome::Observed)]
    #[case::no_check(&[], false, Outcome::NotRun)]
    fn outcome_follows_the_worst_mismatch(
        #[case] checks: &[(CaseLevel, bool)],
        #[case] observed: bool,
        #[case] expected: Outcome,
    ) {
        let found = found(checks, observed);
        let mismatches: Vec<_> = found.checks.iter().filter_map(Check::mismatch).collect();
        assert_eq!(judge(CaseLevel::Must, &found, &mismatches).0, expected);
    }
}
