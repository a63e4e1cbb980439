//! Text from outside in every field of a report.

use edgeproof_reports::{Observation, Report};
use rstest::rstest;
use serde_json::{Value, json};

use crate::opened::Opened;
use crate::reports::small;
use crate::support::run;

/// A report with this text at the end of each of its texts, ids included.
fn hostile(text: &str) -> Report {
    let mut report = small();
    report.findings = vec![text.to_owned()];
    report.observations = vec![Observation {
        point: text.to_owned(),
        observed: text.to_owned(),
        profile: Some(text.to_owned()),
        often_a_mistake: Some(text.to_owned()),
    }];
    let mut value = serde_json::to_value(report).unwrap();
    for part in ["cases", "causes", "observations", "findings", "target", "spec"] {
        append(&mut value[part], text);
    }
    serde_json::from_value(value).unwrap()
}

fn append(value: &mut Value, text: &str) {
    match value {
        Value::String(own) => own.push_str(text),
        Value::Array(items) => items.iter_mut().for_each(|item| append(item, text)),
        Value::Object(members) => {
            // These are enums.
            let texts = members.iter_mut().filter(|(name, _)| {
                !["level", "basis", "outcome", "hop", "kind", "since"].contains(&name.as_str())
            });
            texts.for_each(|(_, member)| append(member, text));
        }
        _ => {}
    }
}

#[rstest]
#[case("<img src=x onerror=globalThis.ran=1><svg onload=globalThis.ran=1>")]
#[case("\"' onclick=globalThis.ran=1 autofocus onfocus=globalThis.ran=1 x=\"'")]
#[case("</script><script>globalThis.ran=1</script><style>body{display:none}</style>")]
#[case(
    "</pre></details></div></select></textarea></title><iframe srcdoc='<script>top.ran=1</script>'></iframe>"
)]
#[case("javascript:globalThis.ran=1")]
#[case("{{ globalThis.ran=1 }} ${globalThis.ran=1} `globalThis.ran=1`")]
#[case(
    "<form id=filters><input name=search></form><base href=https://elsewhere.test/><meta http-equiv=refresh content=0>"
)]
#[case("\u{202e}\u{200b}\r\n\t\0<!--")]
fn hostile_text_executes_nothing(#[case] text: &str) {
    run(async {
        let page = Opened::at(&hostile(text), "").await;
        page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })").await;
        page.evaluate(
            "document.querySelectorAll('a, summary, button').forEach(one => { one.focus(); one.click(); })",
        )
        .await;
        page.set("search", text).await;
        page.set("search", "").await;
        let foreign = "[globalThis.ran ?? null, document.querySelectorAll('script').length, document.querySelectorAll('style').length,
            document.querySelectorAll('img, svg, iframe, base, object, [onclick], [onfocus], [onerror]').length,
            document.forms.length, getComputedStyle(document.body).display]";
        assert_eq!(page.evaluate(foreign).await, json!([null, 1, 1, 0, 1, "block"]));
        page.check_quiet().await;
    });
}

/// The policy holds even if text left its element.
#[test]
fn policy_refuses_other_scripts_styles_and_requests() {
    run(async {
        let page = Opened::at(&small(), "").await;
        page.evaluate(
            "(() => {
                const script = document.createElement('script');
                script.textContent = 'globalThis.ran = 1';
                document.body.append(script);
                document.body.insertAdjacentHTML('beforeend', '<img src=https://elsewhere.test/a onerror=\"globalThis.ran = 1\">');
                document.body.insertAdjacentHTML('beforeend', '<p id=styled style=\"position: fixed\">');
            })()",
        )
        .await;
        let fetched =
            page.evaluate("await fetch('data:text/plain,a').then(() => 'fetched', () => 'refused')").await;
        assert_eq!(fetched, json!("refused"));
        let ran = "[globalThis.ran ?? null, getComputedStyle(document.getElementById('styled')).position]";
        assert_eq!(page.evaluate(ran).await, json!([null, "static"]));
    });
}
