//! Links within the page, and into it.

use rstest::rstest;
use serde_json::json;

use crate::opened::Opened;
use crate::reports::small;
use crate::support::run;

#[rstest]
#[case("#case-relay.body.spaces", "the behaviour of relay.body.spaces")]
#[case("#cause-log-wrong", "What happens, and why it is wrong.")]
#[case("#row-statement.log", "statement.log")]
fn address_opens_what_it_names(#[case] fragment: &str, #[case] text: &str) {
    run(async {
        let page = Opened::at(&small(), fragment).await;
        let texts = format!(
            "[...document.getElementById({:?}).querySelectorAll('p, code')]
                .filter(one => one.checkVisibility()).map(one => one.textContent)",
            &fragment[1..]
        );
        let texts = page.evaluate(&texts).await;
        assert!(texts.as_array().unwrap().contains(&json!(text)), "{texts}");
        page.check_quiet().await;
    });
}

#[test]
fn links_lead_to_cases_also_to_those_that_a_filter_hides() {
    run(async {
        let page = Opened::at(&small(), "").await;
        page.set("outcome", "warn").await;
        assert_eq!(page.cases().await, ["log.refusal"]);
        let link = "#cause-body-parsed .links a[href='#case-relay.body.spaces']";
        page.click(link).await;
        let behaviour = "shown('.case p:first-child').includes('the behaviour of relay.body.spaces')";
        assert_eq!(page.evaluate(behaviour).await, json!(true));
        // The address is the same already.
        page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = false; })").await;
        assert_eq!(page.evaluate(behaviour).await, json!(false));
        page.click(link).await;
        assert_eq!(page.evaluate(behaviour).await, json!(true));
        page.check_quiet().await;
    });
}

#[test]
fn each_link_has_its_target() {
    run(async {
        let page = Opened::at(&small(), "").await;
        let lost = "[...document.querySelectorAll('a')].map(one => one.getAttribute('href'))
            .filter(href => document.getElementById(href.slice(1)) === null)";
        assert_eq!(page.evaluate(lost).await, json!([]));
        let twice = "[...document.querySelectorAll('[id]')].map(one => one.id).filter((id, at, all) => all.indexOf(id) !== at)";
        assert_eq!(page.evaluate(twice).await, json!([]));
        page.check_quiet().await;
    });
}

#[test]
fn number_of_a_row_shows_its_cases() {
    run(async {
        let page = Opened::at(&small(), "").await;
        page.click("[data-row='statement.body-unchanged'][data-outcome=fail]").await;
        assert_eq!(page.cases().await, ["relay.body.numbers", "relay.body.spaces"]);
        page.click(".counts [data-outcome=pass]").await;
        assert_eq!(page.cases().await.len(), 2);
        page.check_quiet().await;
    });
}

#[test]
fn command_is_copied_or_selected() {
    run(async {
        let page = Opened::at(&small(), "#case-relay.body.spaces").await;
        let (command, button) =
            ("#case-relay\\.body\\.spaces pre.command", "#case-relay\\.body\\.spaces h4 button");
        page.evaluate(&format!("globalThis.taken = new Promise(done => {{
            Object.defineProperty(navigator, 'clipboard', {{ value: {{ writeText: async text => done(text) }}, configurable: true }});
            document.querySelector({button:?}).click();
        }})")).await;
        let again = "edgeproof conformance --launch 'node edge.mjs' --filter relay.body.spaces";
        assert_eq!(page.evaluate("await globalThis.taken").await, json!(again));
        page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })").await;
        page.click(button).await;
        assert_eq!(page.evaluate("String(getSelection())").await, json!(again), "{command}");
        page.check_quiet().await;
    });
}
