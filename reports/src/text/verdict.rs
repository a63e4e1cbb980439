//! The result of a run in words.

use super::escape::one_line;
use super::units::counted;
use crate::model::{MissingInput, Report, Summary};

/// Result of a run: its exit code in words, then the inputs that cases lack.
pub(crate) fn verdict(report: &Report) -> String {
    let Report { exit_code, summary, part_cases, findings, unchecked_pins, missing_inputs, .. } = report;
    // Runs without a result say so first.
    let unchecked = if summary.not_run > 0 || ran(summary) == 0 { 0 } else { unchecked_pins.len() };
    let text = result(*exit_code, summary, findings.len(), unchecked, missing_inputs);
    match part_cases {
        // Nobody may take a part of the cases for all of them.
        Some(all) if *exit_code == 0 => {
            format!("{text} · {} of {} selected", summary.planned, counted(*all, "case"))
        }
        _ => text,
    }
}

fn result(
    exit_code: u8,
    summary: &Summary,
    findings: usize,
    unchecked_pins: usize,
    missing: &[MissingInput],
) -> String {
    let mut text = match exit_code {
        0 => conforms(summary, missing),
        1 if summary.fail > 0 => "does not conform".to_owned(),
        1 if findings > 0 => "does not pass: see the findings".to_owned(),
        1 => "does not conform: --strict treats warnings as failures".to_owned(),
        2 => return "did not start: the command or a file it names is invalid".to_owned(),
        3 if summary.not_run > 0 || summary.planned == 0 => "incomplete: nothing is proven".to_owned(),
        3 if unchecked_pins > 0 => {
            let pins = counted(unchecked_pins, "pinned point");
            format!("incomplete: the run did not observe {pins}")
        }
        3 => format!("incomplete: {} of {} cases could run", ran(summary), summary.planned),
        130 | 143 => return "ended by a signal: nothing is proven".to_owned(),
        other => return format!("ended with exit code {other}: nothing is proven"),
    };
    for MissingInput { input, advice, cases } in missing {
        let need = if cases.len() == 1 { "needs" } else { "need" };
        put!(text, "; {} {need} {}: {}", cases.len(), one_line(input), one_line(advice));
    }
    text
}

fn conforms(summary: &Summary, missing: &[MissingInput]) -> String {
    let ran = ran(summary);
    let could_run = format!("{} that could run", counted(ran, "case"));
    if ran == summary.observed {
        return format!("nothing is judged: the {could_run} only observed open points");
    }
    let mut text = "conforms".to_owned();
    if !missing.is_empty() {
        put!(text, " in the {could_run}");
    }
    if summary.known > 0 {
        put!(text, " except for {}", counted(summary.known, "known failure"));
    }
    if summary.warn > 0 {
        put!(text, ", with {}", counted(summary.warn, "warning"));
    }
    text
}

fn ran(summary: &Summary) -> usize {
    summary.planned - summary.not_applicable - summary.not_run
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn counts(pass: usize, fail: usize, not_applicable: usize, not_run: usize) -> Summary {
        let planned = pass + fail + not_applicable + not_run;
        Summary { planned, pass, fail, not_applicable, not_run, ..Summary::default() }
    }

    fn missing(input: &str, advice: &str, cases: usize) -> MissingInput {
        MissingInput { input: input.into(), advice: advice.into(), cases: vec!["id".into(); cases] }
    }

    #[rstest]
    #[case(0, counts(3, 0, 1, 0), 0, "conforms")]
    #[case(1, counts(3, 2, 0, 0), 1, "does not conform")]
    #[case(1, counts(3, 0, 0, 0), 1, "does not pass: see the findings")]
    #[case(1, counts(3, 0, 0, 0), 0, "does not conform: --strict treats warnings as failures")]
    #[case(3, counts(3, 0, 0, 2), 0, "incomplete: nothing is proven")]
    #[case(3, counts(0, 0, 2, 0), 0, "incomplete: 0 of 2 cases could run")]
    #[case(143, counts(3, 0, 0, 2), 0, "ended by a signal: nothing is proven")]
    fn verdict_explains_the_exit_code(
        #[case] code: u8,
        #[case] summary: Summary,
        #[case] findings: usize,
        #[case] text: &str,
    ) {
        assert_eq!(result(code, &summary, findings, 0, &[]), text);
    }

    #[rstest]
    #[case(0, counts(13, 0, 119, 0), "conforms in the 13 cases that could run")]
    #[case(0, counts(1, 0, 119, 0), "conforms in the 1 case that could run")]
    #[case(1, counts(12, 1, 119, 0), "does not conform")]
    #[case(3, counts(13, 0, 119, 0), "incomplete: 13 of 132 cases could run")]
    #[case(3, counts(0, 0, 119, 13), "incomplete: nothing is proven")]
    fn verdict_names_missing_inputs(#[case] code: u8, #[case] summary: Summary, #[case] text: &str) {
        let missing =
            [missing("a read token", "set READ_TOKEN", 118), missing("a license", "use --license", 1)];
        let inputs = "; 118 need a read token: set READ_TOKEN; 1 needs a license: use --license";
        assert_eq!(result(code, &summary, 0, 0, &missing), format!("{text}{inputs}"));
    }

    #[test]
    fn verdict_does_not_call_unjudged_or_failing_cases_conforming() {
        let observed = Summary { planned: 2, observed: 2, ..Summary::default() };
        assert_eq!(
            result(0, &observed, 0, 0, &[]),
            "nothing is judged: the 2 cases that could run only observed open points"
        );
        let known = Summary { planned: 2, pass: 1, known: 1, ..Summary::default() };
        assert_eq!(result(0, &known, 0, 0, &[]), "conforms except for 1 known failure");
    }

    #[rstest]
    #[case(Summary { planned: 4, pass: 3, warn: 1, ..Summary::default() }, 0, "conforms, with 1 warning")]
    #[case(Summary { planned: 4, pass: 1, warn: 3, ..Summary::default() }, 0, "conforms, with 3 warnings")]
    #[case(
        Summary { planned: 5, pass: 1, warn: 3, known: 1, ..Summary::default() },
        0,
        "conforms except for 1 known failure, with 3 warnings"
    )]
    #[case(
        Summary { planned: 8, pass: 1, warn: 3, not_applicable: 4, ..Summary::default() },
        4,
        "conforms in the 4 cases that could run, with 3 warnings; 4 need a license: use --license"
    )]
    fn verdict_counts_the_warnings_of_a_conforming_target(
        #[case] summary: Summary,
        #[case] lacking: usize,
        #[case] text: &str,
    ) {
        let missing =
            if lacking == 0 { vec![] } else { vec![missing("a license", "use --license", lacking)] };
        assert_eq!(result(0, &summary, 0, 0, &missing), text);
    }
}
