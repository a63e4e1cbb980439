use std::collections::HashSet;
use std::path::Path;

use edgeproof_cli::Failure;
use edgeproof_reports::difference::DifferenceKind;
use edgeproof_reports::{CaseReport, EarlierRun, Mismatch, Outcome, Report, counted};

use super::args::ConformanceArgs;
use super::last_run;

/// What `--rerun-failed` and `--failed` play again.
#[derive(Debug, Default)]
pub(super) struct Again {
    /// Ids of the cases that did not pass. None: all cases are played.
    pub(super) only: Option<Vec<String>>,
    /// The earlier run, to compare with.
    pub(super) earlier: Option<EarlierRun>,
    /// What the user is told.
    pub(super) notice: Option<String>,
}

impl Again {
    /// Reads the earlier run.
    pub(super) fn of(args: &ConformanceArgs) -> Result<Self, Failure> {
        if let Some(path) = &args.rerun_failed {
            let report = Report::load(path)
                .map_err(|why| Failure::of(&why, "--rerun-failed takes the JSON report of an earlier run"))?;
            let name = path.display().to_string();
            if Open::of(&report, args.strict).is_empty() {
                return Err(Failure::usage(
                    format!("cannot rerun the failed cases of {name}: no case failed"),
                    "omit --rerun-failed to run all cases",
                ));
            }
            return Ok(Self::after("--rerun-failed", name, Some(report), args.strict));
        }
        if !args.failed {
            return Ok(Self::default());
        }
        let project = args.project.as_deref().unwrap_or(Path::new(""));
        let name = last_run::path(project).display().to_string();
        Ok(Self::after("--failed", name, last_run::read(project)?, args.strict))
    }

    /// After the earlier run with this name, or without one.
    fn after(option: &str, name: String, earlier: Option<Report>, strict: bool) -> Self {
        let notice = |what: String| Some(format!("{option}: {what}"));
        let Some(report) = earlier else {
            let notice = notice("no run in this project is known, so all cases run".to_owned());
            return Self { notice, ..Self::default() };
        };
        let run = format!("the run of {} ({})", report.started, report.target);
        let open = Open::of(&report, strict);
        let (only, what) = match open {
            Open { cases: 0, .. } => (None, format!("nothing failed in {run}, so all cases run")),
            Open { only: None, .. } => {
                (None, format!("rules about the whole run failed in {run}, so all cases run"))
            }
            Open { only: Some(ids), cases } => {
                (Some(ids), format!("{} did not pass in {run}", counted(cases, "case")))
            }
        };
        let earlier = only.is_some().then_some(EarlierRun { name, report });
        Self { only, earlier, notice: notice(what) }
    }
}

/// What an earlier run leaves to be played again.
struct Open {
    /// Number of cases that failed or could not run, and with `--strict` of those that warned.
    cases: usize,
    /// Ids to play. None: all, because a monitor failed that does not name each case in which it found something.
    only: Option<Vec<String>>,
}

impl Open {
    fn of(report: &Report, strict: bool) -> Self {
        let is_open = |case: &&CaseReport| match case.outcome {
            Outcome::Fail | Outcome::NotRun => true,
            Outcome::Warn => strict,
            Outcome::Pass | Outcome::Known | Outcome::Observed | Outcome::NotApplicable => false,
        };
        let open: Vec<&CaseReport> = report.cases.iter().filter(is_open).collect();
        // A monitor alone sees too little: the cases in which it found something are played with it.
        let named: HashSet<&str> =
            open.iter().flat_map(|case| kinds(case)).flat_map(DifferenceKind::cases).collect();
        let is_played = |case: &&CaseReport| is_open(case) || named.contains(case.id.as_str());
        let played = report.cases.iter().filter(is_played);
        let only = (!open.iter().any(|case| hides_cases(case)))
            .then(|| played.map(|case| case.id.clone()).collect());
        Self { cases: open.len(), only }
    }

    fn is_empty(&self) -> bool {
        self.cases == 0
    }
}

/// Whether a monitor failed that does not name each case in which it found something: it counts more than it shows, or
/// the breach belongs to no case.
fn hides_cases(case: &CaseReport) -> bool {
    kinds(case).any(|kind| match kind {
        DifferenceKind::Breaches { count, breaches, .. } => {
            *count > breaches.len() as u64 || breaches.iter().any(|breach| breach.case.is_none())
        }
        _ => false,
    })
}

fn kinds(case: &CaseReport) -> impl Iterator<Item = &DifferenceKind> {
    case.mismatches.iter().filter_map(Mismatch::kind)
}

#[cfg(test)]
mod tests {
    use edgeproof_reports::difference::{Breach, Invariant};
    use edgeproof_reports::{CaseLevel, ReportedSpec, ReportedTarget, TargetKind};
    use rstest::rstest;

    use super::*;

    fn report(outcomes: &[(&str, Outcome)]) -> Report {
        let spec = ReportedSpec { version: "current".to_owned(), digest: "0".to_owned() };
        let target = ReportedTarget::new(TargetKind::Launched, "node edge.mjs");
        let case = |(id, outcome): &(&str, Outcome)| CaseReport {
            id: (*id).to_owned(),
            outcome: *outcome,
            ..CaseReport::default()
        };
        let cases = outcomes.iter().map(case).collect();
        Report { cases, ..Report::new(spec, target, 1, "2026-01-01T00:00:00Z".to_owned()) }
    }

    const EACH: [(&str, Outcome); 7] = [
        ("passes", Outcome::Pass),
        ("fails", Outcome::Fail),
        ("warns", Outcome::Warn),
        ("known", Outcome::Known),
        ("observed", Outcome::Observed),
        ("not-applicable", Outcome::NotApplicable),
        ("not-run", Outcome::NotRun),
    ];

    fn after(report: Option<Report>, strict: bool) -> Again {
        Again::after("--failed", "last.json".to_owned(), report, strict)
    }

    #[rstest]
    #[case::must(false, &["fails", "not-run"])]
    #[case::strict(true, &["fails", "warns", "not-run"])]
    fn what_did_not_pass_is_played_again(#[case] strict: bool, #[case] expected: &[&str]) {
        let again = after(Some(report(&EACH)), strict);
        assert_eq!(again.only.unwrap(), expected);
        assert!(again.earlier.is_some());
    }

    /// A report with a failed monitor, which names these cases.
    fn monitored(cases: &[&str]) -> Report {
        let mut report =
            report(&[("passes", Outcome::Pass), ("other", Outcome::Pass), ("monitor.x", Outcome::Fail)]);
        let breaches = cases.iter().map(|id| Breach { case: Some((*id).to_owned()), ..Breach::default() });
        let kind = DifferenceKind::Breaches {
            invariant: Invariant::Acceptances,
            count: cases.len().max(1) as u64,
            breaches: breaches.collect(),
        };
        report.cases[2].mismatches = vec![Mismatch {
            what: String::new(),
            expected: String::new(),
            actual: String::new(),
            hint: None,
            advice: Vec::new(),
            level: CaseLevel::Must,
            place: String::new(),
            difference: Some(kind.into()),
        }];
        report
    }

    #[test]
    fn case_in_which_a_monitor_found_something_is_played_with_it() {
        let again = after(Some(monitored(&["passes", "gone"])), false);
        assert_eq!(again.only.unwrap(), ["passes", "monitor.x"]);
        let run = "the run of 2026-01-01T00:00:00Z (launched node edge.mjs)";
        assert_eq!(again.notice.unwrap(), format!("--failed: 1 case did not pass in {run}"));
    }

    /// A report keeps the first breaches only: those that are fixed hide the others.
    #[test]
    fn monitor_that_counts_more_than_it_shows_is_played_with_all_cases() {
        let mut report = monitored(&["passes"]);
        report.cases[1].outcome = Outcome::Fail;
        if let Some(difference) = &mut report.cases[2].mismatches[0].difference
            && let DifferenceKind::Breaches { count, .. } = &mut difference.kind
        {
            *count = 2;
        }
        assert!(after(Some(report), false).only.is_none());
    }

    #[rstest]
    #[case::nothing_failed(Some(report(&EACH[..1])), "nothing failed in RUN, so all cases run")]
    #[case::monitor(Some(monitored(&[])), "rules about the whole run failed in RUN, so all cases run")]
    #[case::no_run(None, "no run in this project is known, so all cases run")]
    fn without_a_case_to_play_all_are_played(#[case] last: Option<Report>, #[case] notice: &str) {
        let again = after(last, false);
        assert!(again.only.is_none() && again.earlier.is_none());
        let run = "the run of 2026-01-01T00:00:00Z (launched node edge.mjs)";
        assert_eq!(again.notice.unwrap(), format!("--failed: {}", notice.replace("RUN", run)));
    }
}
