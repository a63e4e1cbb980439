//! Two runs compared: what the target broke stands apart from what edgeproof checks more.

use edgeproof_reports::comparison::{CaseChange, ComparisonError, RunComparison};
use edgeproof_reports::{Cause, Observation, Outcome, Report, Summary, Tool};
use rstest::rstest;

use crate::sample_run::{HOSTILE, case, report};

fn run(version: &str, cases: &[(&str, Outcome)], since: &dyn Fn(&str) -> Option<&'static str>) -> Report {
    let mut cases: Vec<_> = cases.iter().map(|(id, outcome)| case(id, "7.2", *outcome)).collect();
    for case in &mut cases {
        case.since = since(&case.id).map(|version| version.parse().unwrap());
        if matches!(case.outcome, Outcome::Fail | Outcome::Warn | Outcome::NotRun) {
            case.because = format!("the reason of {}", case.id);
        }
    }
    Report {
        tool: Tool { version: version.to_owned() },
        summary: Summary::of(cases.iter().map(|case| case.outcome)),
        cases,
        causes: Vec::new(),
        observations: Vec::new(),
        ..report()
    }
}

/// A run of 0.1.0 and one of 0.3.0, with each change.
fn runs() -> (Report, Report) {
    let since = |id: &str| match id {
        "new.fails" | "new.passes" => Some("0.3.0"),
        "own.row" => None,
        _ => Some("0.1.0"),
    };
    let mut old = run(
        "0.1.0",
        &[
            ("accept.exact", Outcome::Pass),
            ("accept.again", Outcome::Pass),
            ("accept.was-warned", Outcome::Warn),
            ("cors.warns", Outcome::Pass),
            ("log.accepted", Outcome::Pass),
            ("relay.fixed", Outcome::Fail),
            ("relay.was-known", Outcome::Known),
            ("relay.still", Outcome::Fail),
            ("relay.gone", Outcome::Pass),
            ("relay.unselected", Outcome::Pass),
            ("relay.dies", Outcome::Pass),
            ("http2.post", Outcome::NotApplicable),
            ("http2.never", Outcome::NotApplicable),
        ],
        &|_| None,
    );
    let mut new = run(
        "0.3.0",
        &[
            ("accept.exact", Outcome::Fail),
            ("accept.again", Outcome::Pass),
            ("accept.was-warned", Outcome::Fail),
            ("cors.warns", Outcome::Warn),
            ("log.accepted", Outcome::Known),
            ("relay.fixed", Outcome::Pass),
            ("relay.was-known", Outcome::Warn),
            ("relay.still", Outcome::Fail),
            ("relay.dies", Outcome::NotRun),
            ("http2.post", Outcome::Fail),
            ("http2.never", Outcome::NotApplicable),
            ("new.passes", Outcome::Pass),
            ("new.fails", Outcome::Fail),
            ("own.row", Outcome::Pass),
        ],
        &since,
    );
    let saw = |point: &str, text: &str| Observation {
        point: point.to_owned(),
        observed: text.to_owned(),
        profile: None,
        often_a_mistake: None,
    };
    old.observations = vec![saw("health.body", "ok"), saw("preflight.status", "204"), saw("gone", "x")];
    new.observations =
        vec![saw("health.body", "ok"), saw("preflight.status", "200"), saw("preflight.status", "204")];
    let cases = vec!["accept.exact".to_owned()];
    let explanation = "The edge parses the body.".to_owned();
    new.causes = vec![Cause { id: "body-parsed".to_owned(), cases, explanation, ..Cause::default() }];
    (old, new)
}

fn removed(id: &str) -> Option<String> {
    (id == "relay.gone").then(|| "removed in 0.2.0: `accept.exact` checks the same".to_owned())
}

/// The comparison of these runs.
pub(crate) fn compared() -> RunComparison {
    let (old, new) = runs();
    RunComparison::new(("old.json", &old), ("new.json", &new), &removed).unwrap()
}

#[test]
fn text_separates_what_broke_from_new_checks() {
    insta::assert_snapshot!(compared().to_text());
}

#[test]
fn markdown_has_a_table_for_each_change() {
    insta::assert_snapshot!(compared().to_markdown());
}

#[test]
fn json_has_every_field_of_the_comparison() {
    insta::assert_snapshot!(compared().to_json());
    let text = compared().to_json();
    assert_eq!(serde_json::from_str::<RunComparison>(&text).unwrap(), compared());
}

#[test]
fn equal_runs_have_no_difference() {
    let (_, new) = runs();
    let passing = run("0.3.0", &[("accept.exact", Outcome::Pass)], &|_| Some("0.1.0"));
    let same = RunComparison::new(("a", &passing), ("b", &passing), &removed).unwrap();
    assert!(same.cases.is_empty() && !same.is_worse());
    assert!(same.to_text().ends_with("\nno difference\n"));
    let same = RunComparison::new(("a", &new), ("b", &new), &removed).unwrap();
    assert!(same.cases.iter().all(|case| case.change == CaseChange::StillBroken) && !same.is_worse());
}

/// Reports from before the field `since`, cases that were not selected, and cases of the user's own.
#[rstest]
#[case::newer("0.1.0", "0.3.0", Some("0.3.0"), CaseChange::NewCheck)]
#[case::under_development("0.1.0", "0.1.0", Some("0.2.0"), CaseChange::NewCheck)]
#[case::not_selected("0.1.0", "0.3.0", Some("0.1.0"), CaseChange::FirstResult)]
#[case::of_an_unknown_version("unknown", "0.3.0", Some("0.1.0"), CaseChange::NewCheck)]
#[case::undated_and_newer("0.1.0", "0.3.0", None, CaseChange::NewCheck)]
#[case::undated("0.1.0", "0.1.0", None, CaseChange::FirstResult)]
fn check_is_new_if_the_old_edgeproof_lacks_it(
    #[case] old: &str,
    #[case] new: &str,
    #[case] since: Option<&'static str>,
    #[case] expected: CaseChange,
) {
    let old = run(old, &[("accept.exact", Outcome::Pass)], &|_| None);
    let new = run(new, &[("accept.exact", Outcome::Pass), ("another", Outcome::Fail)], &|_| since);
    let compared = RunComparison::new(("old", &old), ("new", &new), &removed).unwrap();
    assert_eq!(compared.cases.iter().map(|case| case.change).collect::<Vec<_>>(), [expected]);
    assert!(!compared.is_worse());
}

#[test]
fn other_interfaces_and_other_parts_are_not_compared() {
    let (old, mut new) = runs();
    let error = |old: &Report, new: &Report| {
        RunComparison::new(("old.json", old), ("new.json", new), &removed).unwrap_err()
    };
    let none = error(&old, &run("0.3.0", &[("keys.shape", Outcome::Pass)], &|_| None));
    assert_eq!(none.to_string(), "cannot compare old.json with new.json: they have no case in common");
    new.spec.version = "pre-seal".to_owned();
    new.spec.digest = "0123456789abcdef".to_owned();
    let other = error(&old, &new);
    assert!(matches!(other, ComparisonError::OtherInterface { .. }));
    assert_eq!(
        other.to_string(),
        "cannot compare old.json with new.json: they are about the interfaces current 3f2a9c01b7d4 and pre-seal 0123456789ab"
    );
}

#[test]
fn long_lists_are_cut() {
    let ids: Vec<String> = (0..70).map(|n| format!("relay.{n}")).collect();
    let all = |outcome| ids.iter().map(|id| (id.as_str(), outcome)).collect::<Vec<_>>();
    let [old, new] = [Outcome::Pass, Outcome::Fail].map(|outcome| run("0.1.0", &all(outcome), &|_| None));
    let compared = RunComparison::new(("old", &old), ("new", &new), &removed).unwrap();
    assert!(compared.to_text().contains("\n  … and 50 more; --format json has all\n"));
    assert!(compared.to_markdown().contains("\n… and 40 more; `--format json` has all\n"));
    assert_eq!(compared.cases.len(), 70);
}

#[test]
fn text_from_outside_stays_in_its_place() {
    let (mut old, mut new) = runs();
    let [Some(first), Some(second)] = [old.cases.first_mut(), new.cases.first_mut()] else {
        panic!("no case")
    };
    (first.id, second.id) = (HOSTILE.to_owned(), HOSTILE.to_owned());
    second.because = HOSTILE.to_owned();
    old.tool.version = HOSTILE.to_owned();
    new.started = HOSTILE.to_owned();
    new.observations[1].observed = HOSTILE.to_owned();
    let compared = RunComparison::new((HOSTILE, &old), ("new.json", &new), &removed).unwrap();
    let text = compared.to_text();
    assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{text}");
    assert!(!text.lines().any(|line| line.trim_start().starts_with("::")), "{text}");
    let markdown = compared.to_markdown();
    let is_own = |line: &str| line.is_empty() || line.starts_with(['#', '|', '…']);
    assert!(markdown.lines().all(|line| is_own(line) && !line.contains(['@', '\x1b'])), "{markdown}");
    assert!(!markdown.contains("<script"), "{markdown}");
}
