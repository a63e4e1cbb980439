//! The causes of a run's failures and warnings. `ConformanceRun` (`run/conformance_run.rs`) passes them to the report.

use std::collections::{BTreeMap, BTreeSet};

use edgeproof_fixtures::spec::{KnownCause, Language, Spec};
use edgeproof_reports::difference::{Counted, DifferenceKind};
use edgeproof_reports::{CaseReport, Cause, Confirmation, FrameworkFix, Mismatch, Outcome};

use super::fingerprint::{Failures, Fingerprints};
use super::matching::Explanation;
use super::symptom::symptoms;
use crate::run::MOST_LIMITED;

/// Id of the cause of failures that need what happened before.
const STATE_KEPT: &str = "state-kept";
/// Id of the cause of requests that a limit of the target refused.
const RATE_LIMITED: &str = "rate-limited";

/// What causes are made from, beside the results of the run.
pub struct CauseSources<'a> {
    /// Tables with the texts of causes.
    pub spec: &'a Spec,
    /// Fingerprints of mutants.
    pub known: &'a Fingerprints,
    /// Command that starts the target; empty if edgeproof does not start it.
    pub command: &'a str,
    /// Makes the command that runs a case again.
    pub rerun: &'a dyn Fn(&str) -> String,
    /// Makes the command that explains a row.
    pub explain: &'a dyn Fn(&str) -> String,
}

/// Causes of the failed cases, the one that explains most first. What no known cause explains is grouped by row and kind
/// of difference.
pub fn probable_causes(cases: &[CaseReport], sources: &CauseSources<'_>) -> Vec<Cause> {
    let failed: BTreeMap<&str, &CaseReport> = cases
        .iter()
        .filter(|case| matches!(case.outcome, Outcome::Fail | Outcome::Warn))
        .map(|case| (case.id.as_str(), case))
        .collect();
    let limited = limited(&failed);
    // What stops every session is one mistake. It looks like many others, and the browser names it.
    let judged =
        failed.iter().filter(|(id, case)| stopped(case).is_none() && !limited.iter().any(|one| one == *id));
    let failures: Failures =
        judged.map(|(id, case)| ((*id).to_owned(), symptoms(&case.mismatches))).collect();
    let ran: BTreeSet<&str> = cases
        .iter()
        .filter(|case| !matches!(case.outcome, Outcome::NotRun | Outcome::NotApplicable))
        .map(|case| case.id.as_str())
        .collect();
    let explanations = by_evidence(sources.known.explain(&failures, &ran), &failed);
    let mut open: Vec<&CaseReport> = failed.values().copied().collect();
    let mut causes = Vec::new();
    let limited = (!limited.is_empty()).then(|| Explanation {
        cause: RATE_LIMITED.to_owned(),
        cases: limited,
        passed: Vec::new(),
    });
    for explanation in limited.iter().chain(&explanations) {
        if let Some(cause) = known_cause(explanation, &failed, sources) {
            open.retain(|case| !explanation.cases.contains(&case.id));
            causes.push(cause);
        }
    }
    causes.extend(unknown_causes(&open, sources));
    causes
}

/// The explanations with what was seen when examples were played again: one that fails only after other cases shows what the
/// target keeps of them, whatever the failure looks like.
fn by_evidence(explanations: Vec<Explanation>, failed: &BTreeMap<&str, &CaseReport>) -> Vec<Explanation> {
    let is_shown = |id: &String| failed.get(id.as_str()).is_some_and(|case| needs_history(case));
    let explained: BTreeSet<String> = explanations.iter().flat_map(|one| one.cases.clone()).collect();
    let shows = |one: &Explanation| one.cause == STATE_KEPT || one.cases.iter().any(is_shown);
    let (shown, mut others): (Vec<Explanation>, Vec<Explanation>) = explanations.into_iter().partition(shows);
    let mut kept = Explanation { cause: STATE_KEPT.to_owned(), cases: Vec::new(), passed: Vec::new() };
    for one in shown {
        let new: Vec<String> = one.cases.into_iter().filter(|id| !kept.cases.contains(id)).collect();
        kept.cases.extend(new);
        kept.passed.extend(if one.cause == STATE_KEPT { one.passed } else { Vec::new() });
    }
    let unexplained = failed.keys().map(|id| (*id).to_owned());
    kept.cases.extend(unexplained.filter(|id| !explained.contains(id) && is_shown(id)));
    if !kept.cases.is_empty() {
        others.push(kept);
        others.sort_by_key(|one| std::cmp::Reverse(one.cases.len()));
    }
    others
}

/// Whether a case failed again only after others.
fn needs_history(case: &CaseReport) -> bool {
    matches!(case.confirmed, Some(Confirmation::OnlyAfter(_)))
}

/// Cases whose requests the target refused by itself, if they are as many as end a run.
fn limited(failed: &BTreeMap<&str, &CaseReport>) -> Vec<String> {
    let is_limited = |mismatch: &Mismatch| matches!(mismatch.kind(), Some(DifferenceKind::Count(count)) if count.counted == Counted::LimitedRequests);
    let cases = failed.values().filter(|case| case.mismatches.iter().any(is_limited));
    let cases: Vec<String> = cases.map(|case| case.id.clone()).collect();
    if cases.len() < MOST_LIMITED { Vec::new() } else { cases }
}

fn known_cause(
    explanation: &Explanation,
    failed: &BTreeMap<&str, &CaseReport>,
    sources: &CauseSources<'_>,
) -> Option<Cause> {
    let CauseSources { spec, known, command, rerun, .. } = *sources;
    let facts = spec.cause(&explanation.cause)?;
    let mut cases: Vec<&CaseReport> =
        explanation.cases.iter().filter_map(|id| failed.get(id.as_str()).copied()).collect();
    // The typical cases of the cause come first.
    let usual = known.cases_of_cause(&explanation.cause);
    let rank = |case: &CaseReport| usual.iter().position(|id| *id == case.id).unwrap_or(usual.len());
    let row = most_frequent_row(&cases);
    cases.sort_by_cached_key(|case| {
        (!needs_history(case), plainness(case), case.rows.first() != row.as_ref(), rank(case))
    });
    let best = cases.first()?;
    let typical = |mismatch: &Mismatch| {
        let counts = symptoms(std::slice::from_ref(mismatch));
        counts.iter().map(|symptom| known.frequency(&explanation.cause, symptom)).max().unwrap_or_default()
    };
    let mismatch = (0..best.mismatches.len()).rev().max_by_key(|index| typical(&best.mismatches[*index]));
    let (explained, passed) = (cases.len() as f64, explanation.passed.len() as f64);
    Some(Cause {
        id: facts.id.clone(),
        title: facts.title.clone(),
        row: best.rows.first().cloned().unwrap_or_default(),
        level: cases.iter().map(|case| case.worst_level()).min().unwrap_or(best.level),
        confidence: explained / (explained + passed),
        cases: cases.iter().map(|case| case.id.clone()).collect(),
        passed: explanation.passed.clone(),
        mismatch: mismatch.unwrap_or_default(),
        explanation: facts.explanation.clone(),
        fix: facts.fix.clone(),
        frameworks: frameworks(facts, spec.language(command)),
        rerun: rerun(&best.id),
    })
}

/// The row that most of the cases prove first. Cases of many exchanges count only if there are no others.
fn most_frequent_row(cases: &[&CaseReport]) -> Option<String> {
    let mut counts: BTreeMap<&String, usize> = BTreeMap::new();
    let plain: Vec<&CaseReport> = cases.iter().copied().filter(|case| !has_many_exchanges(case)).collect();
    let cases = if plain.is_empty() { cases } else { &plain };
    for row in cases.iter().filter_map(|case| case.rows.first()) {
        *counts.entry(row).or_default() += 1;
    }
    counts.into_iter().max_by_key(|(_, count)| *count).map(|(row, _)| row.clone())
}

/// The fix in the frameworks of the target's language, or in all if the language is unknown.
fn frameworks(cause: &KnownCause, language: Option<&Language>) -> Vec<FrameworkFix> {
    let fits = |name: &String| language.is_none_or(|language| language.frameworks.contains(name));
    let fixes = cause.frameworks.iter().filter(|one| fits(&one.name));
    fixes.map(|one| FrameworkFix { name: one.name.clone(), fix: one.fix.clone() }).collect()
}

/// Groups of failures without a known cause: one for each row and kind of difference.
fn unknown_causes(open: &[&CaseReport], sources: &CauseSources<'_>) -> Vec<Cause> {
    let mut groups: BTreeMap<(String, String), Vec<&CaseReport>> = BTreeMap::new();
    for case in open {
        if let Some(reason) = stopped(case) {
            groups.entry((String::new(), reason.to_owned())).or_default().push(case);
            continue;
        }
        let row = case.rows.first().cloned().unwrap_or_default();
        // Of the first difference, which the report shows.
        let mut kinds = case.mismatches.iter().flat_map(|found| symptoms(std::slice::from_ref(found)));
        let kind = kinds.next().unwrap_or_else(|| "other".to_owned());
        groups.entry((row, kind)).or_default().push(case);
    }
    let mut causes: Vec<Cause> = groups
        .into_iter()
        .map(|((row, kind), mut cases)| {
            cases.sort_by_key(|case| plainness(case));
            let best = cases[0];
            let hint = best.mismatches.iter().find_map(|mismatch| mismatch.hint.clone());
            let (row, kind, title) = if stopped(best).is_some() {
                (best.rows.first().cloned().unwrap_or_default(), "stopped".into(), STOPPED_TITLE.into())
            } else {
                let title = format!("{} ({kind})", best.title);
                (row, kind, title)
            };
            Cause {
                id: format!("{row}/{}", slug(&kind)),
                title,
                level: cases.iter().map(|case| case.worst_level()).min().unwrap_or(best.level),
                cases: cases.iter().map(|case| case.id.clone()).collect(),
                fix: hint.unwrap_or_else(|| {
                    format!("no known mistake fails so; read `{}`", (sources.explain)(&row))
                }),
                rerun: (sources.rerun)(&best.id),
                row,
                ..Cause::default()
            }
        })
        .collect();
    causes.sort_by_key(|cause| std::cmp::Reverse(cause.cases.len()));
    causes
}

const STOPPED_TITLE: &str = "no session reaches a correct edge";

/// Why the browser stopped the sessions of a case at a collector.
fn stopped(case: &CaseReport) -> Option<&str> {
    let difference = case.mismatches.first()?.difference.as_ref()?;
    difference.stopped.as_ref().map(|reason| reason.text.as_str())
}

/// Order of examples: failures before warnings, a single exchange before a case of many, and values that one can tell apart.
fn plainness(case: &CaseReport) -> (bool, bool, bool, bool) {
    (
        case.outcome != Outcome::Fail,
        has_many_exchanges(case),
        // Bytes that are no text look the same in any form.
        case.mismatches.iter().all(|found| found.kind().is_some_and(DifferenceKind::is_binary)),
        case.exchanges.is_empty(),
    )
}

fn has_many_exchanges(case: &CaseReport) -> bool {
    matches!(case.id.split('.').next(), Some("monitor" | "vary" | "explore" | "replay" | "series"))
}

fn slug(text: &str) -> String {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-").to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use edgeproof_fixtures::spec::Version;
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    /// A failed case with one changed body: its id, its row, and both bodies.
    fn failed([id, row, sent, arrived]: [&str; 4]) -> CaseReport {
        let text = |text: &str| json!({"text": text, "bytes": text.len()});
        let change = if sent == "{}" { "wrapped" } else { "written-again" };
        let difference = json!({"field": "/service/body", "kind": "relayed-body", "sent": text(sent),
            "arrived": text(arrived), "change": change});
        let mismatch =
            json!({"what": "", "expected": "", "actual": "", "level": "must", "difference": difference});
        serde_json::from_value(json!({
            "id": id, "title": "title", "section": "2", "level": "must", "basis": "interface", "rows": [row],
            "outcome": "fail", "because": "", "expected": "", "actual": "", "mismatches": [mismatch],
            "observations": [], "duration_us": 0, "reproduce": "", "exchanges": [],
        }))
        .unwrap()
    }

    fn causes(cases: &[[&str; 4]], command: &str) -> Vec<Cause> {
        of_reports(&cases.iter().copied().map(failed).collect::<Vec<_>>(), command)
    }

    fn of_reports(cases: &[CaseReport], command: &str) -> Vec<Cause> {
        let (spec, known) = (Spec::builtin(Version::Current), Fingerprints::builtin());
        let (rerun, explain) = (
            |id: &str| format!("again {id}"),
            |row: &str| format!("edgeproof explain {row} --spec next.toml"),
        );
        let sources = CauseSources { spec: &spec, known, command, rerun: &rerun, explain: &explain };
        probable_causes(cases, &sources)
    }

    #[test]
    fn failure_that_needs_other_cases_shows_kept_state() {
        let mut cases: Vec<CaseReport> = PARSED.map(failed).to_vec();
        cases[1].confirmed = Some(Confirmation::OnlyAfter(vec!["refusal.401.expired".into()]));
        let [cause] = &of_reports(&cases, "")[..] else { panic!("several causes") };
        assert_eq!((cause.id.as_str(), cause.cases[0].as_str()), (STATE_KEPT, "relay.body.key-order"));
        assert_eq!(cause.cases.len(), PARSED.len());
    }

    const PARSED: [[&str; 4]; 3] = [
        [
            "relay.body.large-numbers",
            "statement.body-unchanged",
            r#"{"n":9007199254740993}"#,
            r#"{"n":9007199254740992}"#,
        ],
        ["relay.body.key-order", "statement.body-unchanged", r#"{"b":1,"a":2}"#, r#"{"a":2,"b":1}"#],
        ["relay.body.pretty", "statement.body-unchanged", r#"{ "a": 1 }"#, r#"{"a":1.0}"#],
    ];

    #[rstest]
    #[case::node("node edge.mjs", &["Express", "Fastify", "Next.js"], &["Django", "Go"])]
    #[case::python("python3 edge.py", &["FastAPI", "Django"], &["Express", "Go"])]
    #[case::unknown("./edge", &["Express", "Django", "Go"], &[])]
    fn changed_bodies_are_one_cause_with_fixes_of_the_language(
        #[case] command: &str,
        #[case] shown: &[&str],
        #[case] hidden: &[&str],
    ) {
        let causes = causes(&PARSED, command);
        assert_eq!(causes.len(), 1);
        let cause = &causes[0];
        assert_eq!((cause.id.as_str(), cause.cases.len()), ("body-parsed", 3));
        assert_eq!(cause.rerun, format!("again {}", cause.cases[0]));
        assert!(cause.confidence > 0.0 && cause.confidence <= 1.0);
        let has = |name: &&str| cause.frameworks.iter().any(|one| one.name == **name);
        assert!(shown.iter().all(has) && !hidden.iter().any(has), "{:?}", cause.frameworks);
    }

    #[test]
    fn unexplained_failures_are_grouped_by_row_and_kind_of_difference() {
        let strange = |id| [id, "setting.edge.license", "{}", "[{}]"];
        let causes = causes(&[strange("strange.one"), strange("strange.two")], "");
        assert_eq!(causes.len(), 1);
        assert_eq!(causes[0].id, "setting.edge.license/relayed-body-wrapped");
        assert_eq!(causes[0].cases, ["strange.one", "strange.two"]);
        assert!(causes[0].explanation.is_empty());
        assert!(
            causes[0].fix.contains("edgeproof explain setting.edge.license --spec next.toml"),
            "{}",
            causes[0].fix
        );
    }
}
