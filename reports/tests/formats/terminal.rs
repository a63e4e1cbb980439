//! Terminal output.

use edgeproof_reports::{CaseReport, Event, Outcome, Reader, RunEnd, Terminal, TerminalOptions};

use crate::sample_run::{case, events, send, titles};

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
fn terminal_prints_failures_in_detail() {
    insta::assert_snapshot!(printed(&events(), options()));
}

#[test]
fn color_marks_outcomes() {
    insta::assert_snapshot!(printed(&events(), TerminalOptions { color: true, ..options() }));
}

#[test]
fn verbose_prints_observations_and_exchanges() {
    insta::assert_snapshot!(printed(&events(), TerminalOptions { verbose: true, ..options() }));
}

#[test]
fn quiet_prints_failures_only() {
    insta::assert_snapshot!(printed(&events(), TerminalOptions { quiet: true, ..options() }));
}

#[test]
fn conforming_run_is_short() {
    let ended: Vec<Event> = ["accept.exact", "accept.readable"]
        .iter()
        .map(|id| Event::Ended(Box::new(case(id, "7.2", Outcome::Pass))))
        .collect();
    let mut events = vec![events()[0].clone()];
    events.extend(ended);
    events.push(Event::Finished(Box::new(RunEnd {
        summary: edgeproof_reports::Summary::of([Outcome::Pass; 2]),
        causes: Vec::new(),
        exchange_count: 2,
        observations: Vec::new(),
        missing_inputs: Vec::new(),
        latency: None,
        duration_ms: 640,
        exit_code: 0,
    })));
    insta::assert_snapshot!(printed(&events, options()), @r"
    edgeproof node my-edge.mjs · launched · current 3f2a9c01b7d4 · 10 cases · seed 7

      section                  planned  pass
      7.2 answers of the edge        2     2

    2 planned · 2 pass
    2 exchanges in 0.64 s
    conforms (exit 0)
    ");
}

#[test]
fn case_lines_appear_above_the_progress_line() {
    let begin = |id: &str| Event::Began { id: id.to_owned() };
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
    let printed = printed(&events, TerminalOptions { live: true, ..options() });
    assert!(printed.contains("10 cases · seed 7\n\n␍   0/10␛[K"), "{printed}");
    assert!(
        printed.ends_with(
            "␍␛[Kfail     b.quick  it broke\n\
             ␍   1/10  a.slow  1 failed␛[K\
             ␍␛[Kthe edge is held: curl http://127.0.0.1:4180/v1/signals\n\
             ␍   1/10  a.slow  1 failed␛[K\
             ␍␛[K"
        ),
        "{printed}"
    );
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
