use std::fmt::Write as _;
use std::time::Duration;

use edgeproof_fixtures::credentials::Redactor;
use edgeproof_reports::escape::{one_line, visible};
use edgeproof_reports::{CaseLevel as Level, CaseReport, EdgeNotes, Mismatch, Observation, Outcome};

use super::transcript;
use crate::cases::{Case, CaseFindings};
use crate::judge::Check;

/// Expectations that are told in one line.
const TOLD: usize = 4;
/// Characters of one text that an edge had a part in; what is longer is cut.
const LONGEST: usize = 2000;

/// What became of a case: from what it found to what every report shows.
pub(super) fn report(
    case: &Case,
    found: &CaseFindings,
    took: Duration,
    notes: Option<EdgeNotes>,
    redactor: &Redactor,
) -> CaseReport {
    let mut mismatches: Vec<Mismatch> =
        found.checks.iter().filter_map(Check::mismatch).map(|m| clean(m, redactor)).collect();
    mismatches.sort_by_key(|mismatch| mismatch.level);
    let (outcome, because) = judge(case.level, found, &mismatches);
    let told = |of: fn(&Check) -> &String| told(found.checks.iter().map(of), redactor);
    // The first request is what the case is about; where no curl can send it, a later one would show nothing.
    let reproduce = found.sent.first().and_then(|asked| asked.curl.clone()).unwrap_or_default();
    let broken = matches!(outcome, Outcome::Fail | Outcome::Warn);
    CaseReport {
        outcome,
        because,
        expected: told(|check| &check.expected),
        actual: told(|check| &check.actual),
        mismatches,
        observations: found
            .observations
            .iter()
            .map(|(point, saw)| Observation {
                point: point.clone(),
                saw: cut(redactor.redact(&one_line(saw)).into_owned()),
            })
            .collect(),
        duration_us: u64::try_from(took.as_micros()).unwrap_or(u64::MAX),
        reproduce: redactor.redact(&reproduce).into_owned(),
        exchanges: transcript::exchanges(&found.sent, &found.arrivals, redactor),
        edge: notes.filter(|_| broken),
        ..blank(case)
    }
}

/// How a case of this level ended that found this, and why.
pub fn ended(level: Level, found: &CaseFindings) -> (Outcome, String) {
    let mut mismatches: Vec<Mismatch> = found.checks.iter().filter_map(Check::mismatch).collect();
    mismatches.sort_by_key(|mismatch| mismatch.level);
    judge(level, found, &mismatches)
}

/// A case that was not played.
pub(super) fn unplayed(case: &Case, outcome: Outcome, because: &str) -> CaseReport {
    CaseReport { outcome, because: because.into(), ..blank(case) }
}

fn blank(case: &Case) -> CaseReport {
    CaseReport {
        id: case.id.clone(),
        title: case.title.clone(),
        section: case.section.clone(),
        level: case.level,
        basis: case.basis,
        standard: case.standard.clone(),
        rows: case.rows.clone(),
        outcome: Outcome::NotRun,
        because: String::new(),
        expected: String::new(),
        actual: String::new(),
        mismatches: Vec::new(),
        observations: Vec::new(),
        duration_us: 0,
        reproduce: String::new(),
        exchanges: Vec::new(),
        edge: None,
    }
}

fn judge(level: Level, found: &CaseFindings, mismatches: &[Mismatch]) -> (Outcome, String) {
    if let Some(why) = &found.not_run {
        return (Outcome::NotRun, why.clone());
    }
    if let Some(why) = &found.not_applicable {
        return (Outcome::NotApplicable, why.clone());
    }
    let because = |level: Level| {
        let mismatch = mismatches.iter().find(|mismatch| mismatch.level == level)?;
        Some(format!(
            "{}: expected {}, got {}",
            mismatch.what,
            one_line(&mismatch.expected),
            one_line(&mismatch.actual)
        ))
    };
    if let Some(because) = because(Level::Must) {
        return (Outcome::Fail, because);
    }
    if let Some(because) = because(Level::Should) {
        return (Outcome::Warn, because);
    }
    match (found.checks.is_empty(), found.observations.first()) {
        (true, None) => (Outcome::NotRun, "nothing was looked at".into()),
        (true, Some((_, saw))) => (Outcome::Observed, one_line(saw).into_owned()),
        _ if level == Level::Open => {
            (Outcome::Observed, because(Level::Open).unwrap_or_else(|| "as usual".into()))
        }
        _ => (Outcome::Pass, String::new()),
    }
}

fn clean(mismatch: Mismatch, redactor: &Redactor) -> Mismatch {
    let clean = |text: &str| cut(redactor.redact(&visible(text)).into_owned());
    Mismatch {
        expected: clean(&mismatch.expected),
        actual: clean(&mismatch.actual),
        hint: mismatch.hint.as_deref().map(clean),
        ..mismatch
    }
}

fn told<'c>(texts: impl Iterator<Item = &'c String>, redactor: &Redactor) -> String {
    let mut told: Vec<&str> = Vec::new();
    for text in texts {
        if !told.contains(&text.as_str()) {
            told.push(text);
        }
    }
    let more = told.len().saturating_sub(TOLD);
    told.truncate(TOLD);
    let mut line = told.join("; ");
    if more > 0 {
        line.push_str("; …");
    }
    cut(redactor.redact(&one_line(&line)).into_owned())
}

/// After the secrets were taken out: half a secret is not recognised.
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
    use rstest::rstest;

    use super::*;

    fn found(checks: &[(Level, bool)], observed: bool) -> CaseFindings {
        let checks = checks.iter().map(|(level, ok)| Check::new("x", "1", "2", *ok).at(*level)).collect();
        let observations = if observed { vec![("point".into(), "saw".into())] } else { Vec::new() };
        CaseFindings { checks, observations, ..CaseFindings::default() }
    }

    #[rstest]
    #[case::right(&[(Level::Must, true)], false, Outcome::Pass)]
    #[case::wrong(&[(Level::Must, true), (Level::Must, false)], false, Outcome::Fail)]
    #[case::should(&[(Level::Must, true), (Level::Should, false)], true, Outcome::Warn)]
    #[case::must_before_should(&[(Level::Should, false), (Level::Must, false)], false, Outcome::Fail)]
    #[case::open(&[(Level::Open, false)], true, Outcome::Pass)]
    #[case::observed(&[], true, Outcome::Observed)]
    #[case::nothing(&[], false, Outcome::NotRun)]
    fn weighs(#[case] checks: &[(Level, bool)], #[case] observed: bool, #[case] expected: Outcome) {
        let found = found(checks, observed);
        let mismatches: Vec<_> = found.checks.iter().filter_map(Check::mismatch).collect();
        assert_eq!(judge(Level::Must, &found, &mismatches).0, expected);
    }
}
