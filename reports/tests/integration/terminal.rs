//! Terminal output.

use edgeproof_reports::difference::{DifferenceKind, HeaderRule, LicenseValue};
use edgeproof_reports::{
    CaseReport, Cause, EarlierRun, Event, Format, Outcome, Reader, Report, Summary, Terminal,
    TerminalOptions, render,
};
use rstest::rstest;

use crate::sample_run::{case, events, report, send, titles};

fn printed(events: &[Event], options: TerminalOptions) -> String {
    let mut out = Vec::new();
    let mut terminal = Terminal::new(&mut out, options);
    send(events, &mut terminal);
    terminal.finish().unwrap();
    drop(terminal);
    String::from_utf8(out).unwrap().replace('\x1b', "␛").replace('\r', "␍")
}

fn options() -> TerminalOptions {
    TerminalOptions { titles: titles(), ..TerminalOptions::default() }
}

#[test]
fn terminal_ends_with_causes_and_result() {
    insta::assert_snapshot!(printed(&events(), options()));
}

#[test]
fn details_print_failures_in_full() {
    insta::assert_snapshot!(printed(&events(), TerminalOptions { details: true, ..options() }));
}

#[test]
fn color_marks_outcomes() {
    insta::assert_snapshot!(printed(&events(), TerminalOptions { color: true, ..options() }));
}

#[test]
fn verbose_prints_observations() {
    insta::assert_snapshot!(printed(&events(), TerminalOptions { verbose: true, ..options() }));
}

#[test]
fn quiet_prints_failures_only() {
    insta::assert_snapshot!(printed(&events(), TerminalOptions { quiet: true, ..options() }));
}

#[test]
fn conforming_run_is_short() {
    let cases = ["accept.exact", "accept.readable"].map(|id| case(id, "7.2", Outcome::Pass)).to_vec();
    let report = Report {
        summary: Summary::of([Outcome::Pass; 2]),
        exchange_count: 2,
        cases,
        duration_ms: 640,
        exit_code: 0,
        causes: Vec::new(),
        observations: Vec::new(),
        unchecked_pins: Vec::new(),
        missing_inputs: Vec::new(),
        latency: None,
        findings: Vec::new(),
        ..report()
    };
    let events = [events()[0].clone(), Event::Finished(Box::new(report))];
    insta::assert_snapshot!(printed(&events, options()), @r"
    edgeproof node my-edge.mjs · launched · current 3f2a9c01b7d4 · 12 cases · seed 7

      section                  planned  pass
      7.2 answers of the edge        2     2

    2 planned · 2 pass
    2 exchanges in 0.64 s
    conforms (exit 0)
    ");
}

#[test]
fn details_print_case_lines_above_the_progress_line() {
    let begin = |id: &str| Event::Began { id: id.to_owned(), title: format!("The title of {id}") };
    let end = |id: &str, outcome, because: &str| {
        Event::Ended(Box::new(CaseReport { because: because.to_owned(), ..case(id, "2", outcome) }))
    };
    let events = [
        events()[0].clone(),
        begin("a.slow"),
        begin("b.quick"),
        end("b.quick", Outcome::Fail, "it broke"),
        Event::Notice("the edge is held: curl http://127.0.0.1:4180/v1/signals".to_owned()),
    ];
    // The progress line is redrawn after every other line; between lines, the clock decides.
    let live = TerminalOptions { live: true, ..options() };
    let text = printed(&events, TerminalOptions { details: true, ..live.clone() });
    assert!(text.contains("12 cases · seed 7\n\n␍   0/12␛[K"), "{text}");
    let ending = "␍   1/12  1 failed  1 running  a.slow␛[K\
                  ␍␛[Kthe edge is held: curl http://127.0.0.1:4180/v1/signals\n\
                  ␍   1/12  1 failed  1 running  a.slow␛[K\
                  ␍␛[K";
    assert!(text.ends_with(&format!("␍␛[Kfail     b.quick  it broke\n{ending}")), "{text}");
    let text = printed(&events, live);
    assert!(!text.contains("it broke"), "{text}");
}

/// Reports follow the order of the plan, progress the order of execution.
#[test]
fn progress_counts_complete_cases_before_their_reports() {
    let began = |id: &str| Event::Began { id: id.to_owned(), title: format!("The title of {id}") };
    let complete = Event::Completed { id: "b.quick".to_owned(), outcome: Outcome::Fail };
    let notice = Event::Notice("drawn again".to_owned());
    let events = [events()[0].clone(), began("a.slow"), began("b.quick"), complete, Event::Tick, notice];
    let text = printed(&events, TerminalOptions { live: true, ..options() });
    assert!(text.ends_with("drawn again\n␍   1/12  1 failed  1 running  a.slow␛[K␍␛[K"), "{text}");
}

#[test]
fn output_without_terminal_shows_no_progress() {
    let text = printed(&events()[..events().len() - 1], options());
    assert_eq!(text.lines().count(), 2, "{text}");
}

#[test]
fn broken_pipe_is_returned_at_the_end() {
    struct Closed;
    impl std::io::Write for Closed {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut terminal = Terminal::new(Closed, options());
    send(&events(), &mut terminal);
    assert_eq!(terminal.finish().unwrap_err().kind(), std::io::ErrorKind::BrokenPipe);
}

/// A failing run with this many causes of failures and of warnings, and with these failures in all.
fn failing_run(causes: usize, warnings: usize, failures: usize) -> Report {
    let mut report = report();
    let model = report.cases.clone();
    let copies = |from: &CaseReport, count: usize| {
        let from = from.clone();
        (0..count).map(move |n| CaseReport { id: format!("{}.{n}", from.id), ..from.clone() })
    };
    report.cases.retain(|case| !matches!(case.outcome, Outcome::Fail | Outcome::Warn));
    report.cases.extend(copies(&model[2], failures));
    report.cases.extend(copies(&model[4], warnings));
    report.summary = Summary::of(report.cases.iter().map(|case| case.outcome));
    let ids = |outcome: Outcome| -> Vec<String> {
        let cases = report.cases.iter().filter(|case| case.outcome == outcome);
        cases.map(|case| case.id.clone()).collect()
    };
    let (failed, warned) = (ids(Outcome::Fail), ids(Outcome::Warn));
    let (of_failures, of_warnings) = (report.causes[1].clone(), report.causes[3].clone());
    let split = |cause: &Cause, ids: &[String], count: usize| -> Vec<Cause> {
        let chunks = ids.chunks(ids.len().div_ceil(count.max(1)).max(1)).take(count);
        chunks
            .enumerate()
            .map(|(n, ids)| Cause { id: format!("{}-{n}", cause.id), cases: ids.to_vec(), ..cause.clone() })
            .collect()
    };
    report.causes = [split(&of_failures, &failed, causes), split(&of_warnings, &warned, warnings)].concat();
    report
}

fn replayed(report: &Report, options: TerminalOptions) -> String {
    let mut out = Vec::new();
    report.replay(&mut Terminal::new(&mut out, options)).unwrap();
    String::from_utf8(out).unwrap()
}

#[rstest]
fn failing_run_prints_at_most_60_lines(
    #[values(0, 1, 3, 7, 8, 12, 40)] causes: usize,
    #[values(0, 1, 12)] warnings: usize,
    #[values(1, 36, 200)] failures: usize,
    #[values(60, 100, 160)] width: usize,
) {
    let report = failing_run(causes, warnings, failures);
    let text = replayed(&report, TerminalOptions { width, ..options() });
    assert!(text.lines().count() <= 60, "{} lines\n{text}", text.lines().count());
    assert!(text.ends_with("use --origin (exit 1)\n"), "{text}");
    let shown = report.causes.iter().filter(|cause| cause.id.starts_with("reason")).count();
    if shown > 0 {
        let heading = format!("{shown} cause{} behind {failures} failure", if shown == 1 { "" } else { "s" });
        assert!(text.contains(&heading), "{heading}\n{text}");
        assert!(text.contains("--filter refusal.401.bad-signature"), "{text}");
    }
}

/// Rows take the place of causes: an older report has none.
#[test]
fn failures_without_causes_are_grouped_by_row() {
    let mut report = report();
    report.causes.clear();
    for n in 0..200 {
        let mut case = report.cases[2 + n % 3].clone();
        case.id = format!("{}.{n}", case.id);
        case.rows = vec![format!("row.{}", n % 20)];
        report.cases.push(case);
    }
    report.summary = Summary::of(report.cases.iter().map(|case| case.outcome));
    let text = replayed(&report, options());
    assert!(text.lines().count() <= 60, "{text}");
    assert!(text.contains("138 failures without a known cause"), "{text}");
    insta::assert_snapshot!(text);
}

#[rstest]
#[case(false)]
#[case(true)]
fn text_to_copy_is_never_wrapped(#[case] details: bool) {
    // The lines of open points would leave no room for the last cause.
    let report = Report { observations: Vec::new(), ..report() };
    let text = replayed(&report, TerminalOptions { width: 40, details, ..options() });
    let on_one_line = |part: &str| assert!(text.lines().any(|line| line.contains(part)), "{part}\n{text}");
    for cause in &report.causes {
        on_one_line(&cause.rerun);
        on_one_line(&cause.row);
        if cause.id != "row.log.no-license/log" {
            on_one_line(&cause.fix);
        }
    }
    on_one_line("`accept.*  the old edge`");
    on_one_line("isolation.64");
    on_one_line("127.0.0.1:4180");
    if details {
        let refused = &report.cases[2];
        on_one_line(&refused.id);
        on_one_line(&refused.reproduce);
        on_one_line(refused.mismatches[0].hint.as_ref().unwrap());
        refused.rows.iter().for_each(|row| on_one_line(row));
    }
}

#[test]
fn long_lists_leave_room_for_causes() {
    let mut report = failing_run(3, 1, 36);
    let model = report.cases.clone();
    for outcome in [Outcome::Known, Outcome::NotRun, Outcome::NotApplicable] {
        let from = model.iter().find(|case| case.outcome == outcome).unwrap();
        report.cases.extend((0..50).map(|n| CaseReport { because: format!("reason {n}"), ..from.clone() }));
    }
    report.findings = (0..50).map(|n| format!("finding {n}\nits advice")).collect();
    report.summary = Summary::of(report.cases.iter().map(|case| case.outcome));
    let text = replayed(&report, options());
    assert!(text.lines().count() <= 60, "{text}");
    assert!(text.contains("3 causes behind 36 failures"), "{text}");
    assert_eq!(text.matches("more lines with --details").count(), 4, "{text}");
    assert!(text.contains(" 1  The reason of the service is replaced"), "{text}");
    let details = replayed(&report, TerminalOptions { details: true, ..options() });
    assert!(details.contains("finding 49"), "{details}");
}

#[test]
fn example_shows_the_setting_that_matters_once() {
    let mut report = report();
    let kind = DifferenceKind::License { actual: LicenseValue::Absent };
    for case in &mut report.cases {
        if case.id == "log.no-license" {
            case.mismatches[0].difference = Some(kind.clone().into());
        }
        if let Some(edge) = &mut case.edge {
            edge.settings = vec!["LICENSES=none".to_owned(), "LICENSE=(hidden)".to_owned()];
        }
    }
    let text = replayed(&report, options());
    assert_eq!(text.matches("setting   LICENSE=(hidden)").count(), 1, "{text}");
    // The cause is not about the log, and the last lines may be of other requests.
    assert!(!text.contains("LICENSES=") && !text.contains("log       "), "{text}");
}

#[test]
fn mismatches_of_one_kind_are_one_list() {
    let mut report = report();
    let kind = DifferenceKind::Header { name: "vary".to_owned(), rule: HeaderRule::Bearer, actual: None };
    let header = |n: usize| edgeproof_reports::Mismatch {
        what: format!("header vary of 401 reason_{n}"),
        place: format!("401 reason_{n}"),
        difference: Some(kind.clone().into()),
        ..report.cases[2].mismatches[0].clone()
    };
    report.cases[2].mismatches = (0..32).map(header).collect();
    let text = replayed(&report, options());
    let listed = "compared  32 × header vary: 401 reason_0, 401 reason_1, 401 reason_2, … and 29 more";
    assert!(text.contains(listed), "{text}");
    let details = replayed(&report, TerminalOptions { details: true, ..options() });
    assert!(details.contains("\n      32 × header vary\n        401 reason_0, 401 reason_1"), "{details}");
    assert_eq!(details.matches("401 reason_31").count(), 1, "{details}");
}

/// An older report has only texts, by which nothing is grouped.
#[test]
fn mismatches_without_differences_are_shown_singly() {
    let mut report = report();
    let header = |n: usize| edgeproof_reports::Mismatch {
        what: format!("header vary of 401 reason_{n}"),
        place: format!("401 reason_{n}"),
        ..report.cases[2].mismatches[0].clone()
    };
    report.cases[2].mismatches = (0..2).map(header).collect();
    let details = replayed(&report, TerminalOptions { details: true, ..options() });
    assert!(details.contains("compared  header vary of 401 reason_0\n"), "{details}");
    assert!(details.contains("\n      header vary of 401 reason_1\n"), "{details}");
}

/// What is compared has a case unless the command to copy names it.
#[test]
fn example_names_its_case_unless_the_command_does() {
    let mut report = report();
    // The command plays the first case, which is known.
    report.causes[1].cases.insert(0, "known.first".to_owned());
    let text = replayed(&report, options());
    assert!(text.contains("compared  body in refusal.401.bad-signature\n"), "{text}");
    assert!(text.contains("compared  header allow\n"), "{text}");
}

#[test]
fn result_is_compared_with_an_earlier_run() {
    let outcome = |id: &str, outcome| CaseReport { outcome, ..case(id, "7.2", outcome) };
    let earlier = Report {
        cases: ["accept.exact", "accept.readable", "refusal.401.bad-signature"]
            .map(|id| outcome(id, Outcome::Fail))
            .to_vec(),
        ..report()
    };
    let earlier = Some(EarlierRun { name: "old.json".to_owned(), report: earlier });
    let text = printed(&events(), TerminalOptions { earlier, ..options() });
    assert!(
        text.contains("\nagainst old.json: 6 first results (3 fail) · 2 newly fixed · 1 still broken\n"),
        "{text}"
    );
}

#[test]
fn head_names_the_version_of_an_earlier_set_of_cases() {
    let cases_of = Some("0.1.0".parse().unwrap());
    let report = Report { cases_of, ..report() };
    let mut out = Vec::new();
    report.replay(&mut Terminal::new(&mut out, options())).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert!(text.contains(" · 12 cases of edgeproof 0.1.0 · seed 7\n"), "{text}");
    for (format, named) in
        [(Format::Markdown, "| Cases | of edgeproof 0.1.0 |"), (Format::Html, "of edgeproof 0.1.0")]
    {
        assert!(render(format, &report, &titles()).contains(named), "{}", format.name());
    }
}
