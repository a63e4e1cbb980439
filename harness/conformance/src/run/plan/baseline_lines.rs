use std::collections::HashSet;
use std::fmt::Write as _;

use edgeproof_reports::escape::one_line;
use edgeproof_reports::{CaseReport, Outcome, Report};

use super::baseline::Baseline;

/// Beginning of a reason that nobody completed.
pub(super) const UNFINISHED: &str = "TODO";

impl Baseline {
    /// A baseline that accepts the failures of a run, by cause, and its number of lines. `strict`: warnings too. Each reason is
    /// the probable cause, still to be completed.
    pub fn lines_of(report: &Report, strict: bool) -> (String, usize) {
        let Report { tool, target, started, .. } = report;
        let mut text = format!(
            "# Failures of {} in the run of {started} with edgeproof {}.\n\
             # Replace each {UNFINISHED} by the reason why the failure is accepted.\n",
            one_line(&target.to_string()),
            one_line(&tool.version)
        );
        let mut listed = HashSet::new();
        let is_broken =
            |case: &&CaseReport| case.outcome == Outcome::Fail || (strict && case.outcome == Outcome::Warn);
        let mut add = |case: &CaseReport, cause: &str| {
            if listed.insert(case.id.clone()) {
                let (id, cause) = (globset::escape(&case.id), one_line(cause));
                let _ = writeln!(text, "{id}  {UNFINISHED} {cause}");
            }
        };
        for cause in &report.causes {
            let explained =
                cause.cases.iter().filter_map(|id| report.cases.iter().find(|case| case.id == *id));
            for case in explained.filter(is_broken) {
                add(case, &format!("{} ({})", cause.title, cause.id));
            }
        }
        report.cases.iter().filter(is_broken).for_each(|case| add(case, &case.because));
        let count = listed.len();
        (text, count)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use edgeproof_reports::{Cause, ReportedSpec, ReportedTarget, TargetKind};

    use super::*;

    fn report() -> Report {
        let case = |id: &str, outcome, because: &str| CaseReport {
            id: id.to_owned(),
            because: because.to_owned(),
            outcome,
            ..CaseReport::default()
        };
        let cause = |id: &str, title: &str, cases: &[&str]| Cause {
            id: id.to_owned(),
            title: title.to_owned(),
            cases: cases.iter().map(|id| (*id).to_owned()).collect(),
            ..Cause::default()
        };
        let spec = ReportedSpec { version: "current".to_owned(), digest: "0".to_owned() };
        let target = ReportedTarget::new(TargetKind::Launched, "sh -c 'a\nb'");
        Report {
            cases: vec![
                case("b.second", Outcome::Fail, ""),
                case("a.first[1]", Outcome::Fail, ""),
                case("c.warns", Outcome::Warn, "no entity tag"),
                case("d.alone", Outcome::Fail, "status: expected 200, got 502\nand more"),
                case("e.passes", Outcome::Pass, ""),
                case("f.not-run", Outcome::NotRun, "the edge died"),
            ],
            causes: vec![
                cause("body-parsed", "The body is changed", &["a.first[1]", "b.second"]),
                cause("other", "Another", &["b.second", "c.warns", "gone"]),
            ],
            ..Report::new(spec, target, 1, "2026-01-01T00:00:00Z".to_owned())
        }
    }

    #[test]
    fn lines_name_each_failure_with_its_cause() {
        insta::assert_snapshot!(Baseline::lines_of(&report(), true).0, @r"
        # Failures of launched sh -c 'a\nb' in the run of 2026-01-01T00:00:00Z with edgeproof 0.1.0.
        # Replace each TODO by the reason why the failure is accepted.
        a.first[[]1[]]  TODO The body is changed (body-parsed)
        b.second  TODO The body is changed (body-parsed)
        c.warns  TODO Another (other)
        d.alone  TODO status: expected 200, got 502\nand more
        ");
        assert_eq!(Baseline::lines_of(&report(), false).1, 3);
    }

    #[test]
    fn written_lines_accept_the_same_failures() {
        let mut report = report();
        let (text, _) = Baseline::lines_of(&report, true);
        let baseline = Baseline::parse(Path::new("known.txt"), &text).unwrap();
        let ids: Vec<String> = report.cases.iter().map(|case| case.id.clone()).collect();
        assert_eq!(baseline.apply(&ids, true, &mut report.cases), Vec::<String>::new());
        let known = report.cases.iter().filter(|case| case.outcome == Outcome::Known).count();
        assert_eq!(known, 4);
        assert_eq!(Baseline::lines_of(&report, true).1, 0);
    }
}
