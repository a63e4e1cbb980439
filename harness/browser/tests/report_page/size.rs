//! Large reports, narrow windows, and readers without scripts.

use edgeproof_reports::{Format, Titles, render};
use rstest::rstest;
use serde_json::{Value, json};

use crate::opened::Opened;
use crate::reports::{cause, failed, passed, report, small};
use crate::support::run;

/// Milliseconds within which a large report is there, also on a busy machine. An idle one takes a fraction of it.
const LIMIT: f64 = 10_000.0;

#[test]
fn report_of_1500_cases_opens_fast() {
    run(async {
        let cases = (0..1500).map(|n| {
            let (id, section, row) = (format!("case.{n}"), format!("{}", n % 20), format!("row.{}", n % 150));
            if n % 3 == 0 { failed(&id, &section, &row) } else { passed(&id, &section, &row) }
        });
        let report = report(cases.collect(), vec![cause("all", "Everything fails", &["case.0", "case.3"])]);
        let page = Opened::at(&report, "").await;
        let opened = "await new Promise(done => requestAnimationFrame(() => setTimeout(() => {
            const { loadEventEnd } = performance.getEntriesByType('navigation')[0];
            const paint = performance.getEntriesByType('paint').map(one => one.startTime);
            done(Math.max(loadEventEnd, ...paint));
        })))";
        let opened = page.evaluate(opened).await.as_f64().unwrap();
        let searched = "(() => { const start = performance.now(), { search } = document.forms[0].elements;
            search.value = 'case.149'; search.dispatchEvent(new Event('input', { bubbles: true }));
            document.body.offsetHeight; return performance.now() - start; })()";
        let searched = page.evaluate(searched).await.as_f64().unwrap();
        println!("1,500 cases: open after {opened:.0} ms, searched in {searched:.0} ms");
        assert_eq!(page.cases().await.len(), 11);
        assert!(opened > 0.0 && opened < LIMIT, "open after {opened} ms");
        assert!(searched < LIMIT, "searched in {searched} ms");
        page.check_quiet().await;
    });
}

/// A page whose frame has this width, with or without scripts.
async fn framed(html: &str, width: u32, sandbox: &str) -> Opened {
    let outer = Opened::file("<!doctype html><title>frame</title><body></body>", "").await;
    let frame = format!(
        "await new Promise(done => {{
            const frame = document.createElement('iframe');
            Object.assign(frame, {{ width: {width}, height: 800, srcdoc: {}, onload: done }});
            if ({sandbox:?}) frame.sandbox = {sandbox:?};
            document.body.append(frame);
        }}).then(() => null)",
        Value::from(html)
    );
    outer.evaluate(&frame).await;
    outer
}

#[rstest]
#[case(390)]
#[case(900)]
#[case(1300)]
#[case(2560)]
fn no_width_needs_sideways_scrolling(#[case] width: u32) {
    run(async {
        let mut long = small();
        long.cases[0].id = "a".repeat(300);
        long.cases[0].rows = vec!["b".repeat(300)];
        long.cases[1].mismatches[0].actual = "c".repeat(2_000);
        long.causes[0].title = "d".repeat(300);
        let page = framed(&render(Format::Html, &long, &Titles::new()), width, "").await;
        let widths = "(() => {
            const page = document.querySelector('iframe').contentDocument;
            const size = () => page.documentElement.scrollWidth - page.documentElement.clientWidth;
            const closed = size();
            page.querySelectorAll('details').forEach(one => { one.open = true; });
            return [closed, size(), page.documentElement.clientWidth > 300];
        })()";
        assert_eq!(page.evaluate(widths).await, json!([0, 0, true]));
    });
}

#[test]
fn causes_of_three_mistakes_fit_on_the_first_screen_of_a_phone() {
    run(async {
        let mut report = small();
        report.causes.push(cause(
            "third",
            "A third mistake with a title that takes two lines on a phone",
            &["relay.body.spaces"],
        ));
        let page = framed(&render(Format::Html, &report, &Titles::new()), 390, "").await;
        let bottom =
            "Math.max(...[...document.querySelector('iframe').contentDocument.querySelectorAll('.card')]
            .map(one => one.getBoundingClientRect().bottom))";
        let bottom = page.evaluate(bottom).await.as_f64().unwrap();
        assert!(bottom > 100.0 && bottom < 800.0, "{bottom}");
    });
}

#[test]
fn page_is_readable_without_scripts() {
    run(async {
        let page = framed(&render(Format::Html, &small(), &Titles::new()), 1300, "allow-same-origin").await;
        let seen = "(() => {
            const page = document.querySelector('iframe').contentDocument;
            page.querySelectorAll('details').forEach(one => { one.open = true; });
            const seen = selector => [...page.querySelectorAll(selector)].filter(one => one.checkVisibility()).length;
            return [seen('h1'), seen('.card > div'), seen('.case > div'), seen('.rows li'), seen('.filters'), seen('button')];
        })()";
        assert_eq!(page.evaluate(seen).await, json!([1, 2, 5, 3, 0, 0]));
    });
}
