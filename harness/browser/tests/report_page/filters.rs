//! Search and filters.

use rstest::rstest;
use serde_json::json;

use crate::opened::Opened;
use crate::reports::small;
use crate::support::run;

#[test]
fn page_opens_with_closed_parts_and_without_errors() {
    run(async {
        let page = Opened::at(&small(), "").await;
        assert_eq!(page.evaluate("shown('h1')").await, json!(["does not conform"]));
        let titles = json!(["The body is changed on its way", "A refusal is not logged"]);
        assert_eq!(page.evaluate("shown('.card > summary strong')").await, titles);
        assert_eq!(
            page.evaluate("document.querySelectorAll('details[open]:not(details details)').length").await,
            0
        );
        assert_eq!(page.cases().await, Vec::<String>::new());
        assert_eq!(page.evaluate("shown('output')").await, json!(["5 cases"]));
        page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })").await;
        assert_eq!(page.cases().await.len(), 5);
        let marked = "[...document.querySelectorAll('#case-relay\\\\.body\\\\.numbers mark')].map(one => one.textContent)";
        assert_eq!(page.evaluate(marked).await, json!(["3", "2"]));
        let ways = "[...document.querySelectorAll('#case-relay\\\\.body\\\\.numbers .messages b')].map(one => one.textContent)";
        let hops = ["client → edge", "edge → service", "service → edge", "edge → client"];
        assert_eq!(page.evaluate(ways).await, json!(hops));
        page.check_quiet().await;
    });
}

#[rstest]
#[case(&[("outcome", "fail")], &["relay.body.numbers", "relay.body.spaces"])]
#[case(&[("level", "should")], &["log.refusal"])]
#[case(&[("section", "7.2")], &["log.refusal", "cors.preflight"])]
#[case(&[("cause", "1")], &["relay.body.numbers", "relay.body.spaces"])]
#[case(&[("search", "BODY")], &["relay.body.numbers", "relay.body.spaces", "relay.body.large", "log.refusal", "cors.preflight"])]
#[case(&[("search", "relay numbers")], &["relay.body.numbers"])]
#[case(&[("search", "row:statement.body-unchanged")], &["relay.body.numbers", "relay.body.spaces", "relay.body.large"])]
#[case(&[("search", "spaces"), ("outcome", "pass")], &[])]
#[case(&[("search", "body"), ("outcome", "pass"), ("section", "2")], &["relay.body.large"])]
fn filters_show_the_cases_that_fit(#[case] filters: &[(&str, &str)], #[case] expected: &[&str]) {
    run(async {
        let page = Opened::at(&small(), "").await;
        for (name, value) in filters {
            page.set(name, value).await;
        }
        let (mut cases, mut expected) = (page.cases().await, expected.to_vec());
        cases.sort();
        expected.sort_unstable();
        assert_eq!(cases, expected);
        assert_eq!(page.evaluate("shown('output')").await, json!([format!("{} of 5 cases", expected.len())]));
        page.click(".filters button").await;
        assert_eq!(page.evaluate("shown('output')").await, json!(["5 cases"]));
        page.check_quiet().await;
    });
}

#[test]
fn keyboard_reaches_everything() {
    run(async {
        let page = Opened::at(&small(), "").await;
        // The counts of the head come first, then the first cause.
        page.press(&["Tab", "Tab", "Tab", "Tab", "Tab", "Enter"]).await;
        assert_eq!(
            page.evaluate("document.activeElement.textContent").await,
            json!("1 The body is changed on its way 2 cases")
        );
        assert_eq!(page.evaluate("document.activeElement.parentElement.open").await, json!(true));
        page.press(&["/", "s", "p", "a", "c", "e", "s"]).await;
        assert_eq!(page.cases().await, ["relay.body.spaces"]);
        page.press(&["Escape"]).await;
        assert_eq!(page.evaluate("shown('output')").await, json!(["5 cases"]));
        page.check_quiet().await;
    });
}
