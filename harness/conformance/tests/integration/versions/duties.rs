//! What `edgeproof spec diff` tells the owners of parts, backends and pages.

use std::sync::Arc;

use edgeproof::interface_change::{Comparison, ComparisonOptions};
use edgeproof_fixtures::spec::Spec;
use edgeproof_reports::interface::OwnerItems;
use rstest::rstest;
use tempfile::TempDir;

use super::{load, overlay};

#[rstest]
#[case::setting(
    "[[change]]\nid = \"setting.edge.service-url\"\nname = \"UPSTREAM_URL\"",
    &["an edge: read UPSTREAM_URL in place of SERVICE_URL"]
)]
#[case::option(
    "[[change]]\nid = \"setting.collector.mode\"\nname = \"kind\"",
    &["the collector: read kind (full by default, lite, passive) in place of mode (full by default, lite, passive)",
      "the page: pass kind (full by default, lite, passive) in place of mode (full by default, lite, passive)"]
)]
#[case::methods(
    "[[change]]\nid = \"endpoint.edge.health\"\nmethods = [\"GET\", \"POST\"]",
    &["an edge: serve GET, POST /health in place of GET /health"]
)]
#[case::path(
    "[[change]]\nid = \"endpoint.edge.signals\"\npath = \"/v2/signals\"",
    &["an edge: serve POST, OPTIONS /v2/signals in place of POST, OPTIONS /v1/signals",
      "the collector: send POST /v2/signals in place of POST /v1/signals"]
)]
#[case::answer_added(
    "[[add]]\nid = \"edge.429.busy\"\nsection = \"7.2\"\nstatus = 429\nbody = '{\"error\":\"busy\"}'\n\
     condition = \"More than a hundred requests a second.\"\nlevel = \"must\"\nbasis = \"interface\"\nexcluded = \"Runs send fewer requests.\"",
    &["an edge: answer 429 {\"error\":\"busy\"}: More than a hundred requests a second.",
      "the page: handle 429 {\"error\":\"busy\"}: More than a hundred requests a second."]
)]
#[case::reason_added(
    "[[add]]\nid = \"relay.410.withdrawn\"\nsection = \"7.3\"\nstatus = 410\ncode = \"withdrawn\"\n\
     condition = \"Gone.\"\nstimuli = [\"scripted\"]",
    &["the service: answer 410 withdrawn: Gone.", "the page: handle 410 withdrawn: Gone."]
)]
#[case::rule_about_the_call_of_the_service(
    "[[add]]\nid = \"statement.path\"\nsection = \"4\"\ncondition = \"The path.\"\npoint = \"relay.path\"\n\
     value = \"/v1/verify\"",
    &["an edge: keep to /v1/verify: The path.", "the service: keep to /v1/verify: The path."]
)]
#[case::answer_removed(
    "[[remove]]\nid = \"edge.405.method-not-allowed\"",
    &["an edge: 405 {\"error\":\"method_not_allowed\"} is no longer required",
      "the page: 405 {\"error\":\"method_not_allowed\"} is gone: remove what uses it"]
)]
#[case::verdict(
    "[[change]]\nid = \"verdict.404.pending\"\nstatus = 425",
    &["the service: answer 425", "a backend: handle 425"]
)]
#[case::key_set(
    "[[change]]\nid = \"endpoint.keys.jwks\"\npath = \"/keys.json\"",
    &["the key set: serve GET /keys.json in place of", "a backend: send GET /keys.json in place of"]
)]
#[case::cache(
    "[[change]]\nid = \"limit.key-set-cache\"\nvalue = 60",
    &["the key set: keep to 60 seconds in place of 300 seconds", "a backend: expect 60 seconds in place of 300 seconds"]
)]
#[case::age(
    "[[change]]\nid = \"limit.verdict-age\"\nvalue = 60",
    &["the service: keep to 60 seconds in place of 120 seconds",
      "a backend: expect 60 seconds in place of 120 seconds"]
)]
#[case::rule_about_a_verdict(
    "[[add]]\nid = \"statement.member\"\nsection = \"7.4\"\ncondition = \"The member.\"\n\
     point = \"verdict.reason-member\"\nvalue = \"error\"",
    &["the service: keep to error: The member.", "a backend: expect error: The member."]
)]
#[case::suffix(
    "[[change]]\nid = \"verdict.401.bad-footer\"\nsuffixed = true",
    &["the service: answer 401 bad_footer, then a colon and more in place of 401 bad_footer",
      "a backend: handle 401 bad_footer, then a colon and more in place of 401 bad_footer"]
)]
#[case::statement_of_a_section(
    "[[add]]\nid = \"statement.jitter\"\nsection = \"7.4\"\ncondition = \"Backends wait for a while.\"",
    &["the service: Backends wait for a while."]
)]
#[case::error(
    "[[change]]\nid = \"collector.unknown-mode\"\ntext = \"no mode <value>\"",
    &["the collector: throw the error \"no mode <value>\" in place of", "the page: handle the error \"no mode <value>\" in place of"]
)]
#[case::statement_removed(
    "[[remove]]\nid = \"statement.no-retry\"",
    &["an edge: no longer required: "]
)]
#[case::level(
    "[[change]]\nid = \"keys.methods\"\nlevel = \"must\"",
    &["the key set: its level is must, and was open: "]
)]
fn owners_get_their_duties(#[case] text: &str, #[case] expected: &[&str]) {
    let shown = duties(text, true);
    let is_expected = |line: &&str| shown.iter().any(|shown| shown.starts_with(line));
    let missing: Vec<_> = expected.iter().filter(|line| !is_expected(line)).collect();
    assert!(missing.is_empty() && shown.len() == expected.len(), "{shown:#?}");
}

/// The old edge passes a new reason on, as every reason.
#[test]
fn compatible_part_has_no_duty() {
    let text = "[[add]]\nid = \"relay.409.closed\"\nsection = \"7.3\"\nstatus = 409\ncode = \"closed\"\n\
                condition = \"Closed.\"\nstimuli = [\"scripted\"]";
    let shown = duties(text, false);
    assert!(shown.iter().all(|line| !line.starts_with("an edge")), "{shown:#?}");
    assert!(shown.iter().any(|line| line.starts_with("the service: answer 409 ")), "{shown:#?}");
}

/// What no case can follow, and what old parts are only warned about, is told although the part fails nothing.
#[rstest]
#[case::other_words(
    "[[change]]\nid = \"statement.replay-keeps-verdict\"\ncondition = \"A refused copy revokes the verdict.\"",
    "the service: it now says: A refused copy revokes the verdict."
)]
#[case::warned(
    "[[change]]\nid = \"edge.400.read-failed\"\nbody = '{\"error\":\"body_broken\"}'",
    "an edge: answer 400 {\"error\":\"body_broken\"} in place of 400 {\"error\":\"read_failed\"}"
)]
fn compatible_part_has_the_duties_that_no_case_judges(#[case] text: &str, #[case] expected: &str) {
    let shown = duties(text, false);
    assert!(shown.iter().any(|line| line == expected), "{shown:#?}");
}

/// A situation that gets the answer of another row.
#[test]
fn situation_of_another_row_is_a_duty() {
    let shown = duties(
        "[[change]]\nid = \"relay.401.expired\"\nstimuli = [\"license-expired\", \"license-not-yet-valid\"]\n\
         [[change]]\nid = \"relay.401.not-yet-valid\"\nstimuli = [\"scripted\"]",
        true,
    );
    let is_told = |line: &str| assert!(shown.iter().any(|shown| shown == line), "{shown:#?}");
    is_told("the service: it now also applies to: Not valid yet");
    is_told("the service: it no longer applies to: Not valid yet");
}

/// Owner and text of each duty of an overlay.
fn duties(text: &str, only_rows: bool) -> Vec<String> {
    let folder = TempDir::new().unwrap();
    let new = Arc::new(load(&overlay(&folder, text)));
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let options = ComparisonOptions { only_rows, ..ComparisonOptions::default() };
    let compared =
        runtime.block_on(Comparison::of(&Arc::new(Spec::current().clone()), &new, &options)).unwrap();
    let shown: Vec<OwnerItems> = compared.view().owners;
    let duties =
        || compared.changes.iter().flat_map(|change| change.duties.iter().map(|duty| (&change.row, duty)));
    for (row, duty) in duties() {
        let heading = format!("what the owner of {} does", duty.owner);
        let item = format!("{row}: {}", duty.text);
        assert!(
            shown.iter().any(|owner| owner.heading == heading && owner.items.contains(&item)),
            "{shown:?}"
        );
    }
    duties().map(|(_, duty)| format!("{}: {}", duty.owner, duty.text)).collect()
}
