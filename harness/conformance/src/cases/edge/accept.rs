use bytes::Bytes;
use edgeproof_fixtures::spec::Stimulus;
use edgeproof_mock::{Action, Script};
use edgeproof_reports::CaseLevel;

use crate::cases::{CaseList, Edge, Phase};

/// The service accepts a collection, in the usual form and in others (7.2).
pub(super) fn add(cases: &mut CaseList<'_, Edge>) {
    sanity(cases);
    let post = cases.accepted_post();
    cases
        .case(
            "edge.200.accepted",
            "accept.exact-body",
            "the edge answers an accepted collection with exactly the interface's body",
        )
        .conversation(post.clone())
        .stimulus(Stimulus::ServiceAccepts);
    cases
        .case(
            "statement.json-content-type",
            "accept.content-type",
            "the answer to an accepted collection has the content type JSON",
        )
        .conversation(post.only().content_type(CaseLevel::Must));
    for (id, title, action) in unusual() {
        cases.case("statement.other-success", id, title).observation(Script::one(action));
    }
}

/// The same plain conversation as the first and the last case.
fn sanity(cases: &mut CaseList<'_, Edge>) {
    for (id, phase, title) in [
        ("sanity.first", Phase::First, "before all other cases, the edge relays a plain collection"),
        ("sanity.last", Phase::Last, "after all other cases, the edge relays a plain collection"),
    ] {
        let conversation = cases.accepted_post();
        cases
            .case("edge.200.accepted", id, title)
            .conversation(conversation)
            .phase(phase)
            .also("statement.edge-lives-on");
    }
}

fn unusual() -> [(&'static str, &'static str, Action); 4] {
    let answer = |status, body: &'static str| Action::Answer {
        status,
        headers: vec![("content-type".into(), "application/json".into())],
        body: Bytes::from_static(body.as_bytes()),
    };
    [
        ("accept.service-201", "the answer when the service accepts with 201", answer(201, r#"{"ok":true}"#)),
        ("accept.service-204", "the answer when the service accepts with 204", answer(204, "")),
        (
            "accept.service-other-body",
            "the answer when the service replies 200 with another body",
            answer(200, r#"{"session":"s-1"}"#),
        ),
        (
            "accept.service-cut-body",
            "the answer when the service replies 200 and its body ends early",
            Action::CutBody { status: 200, body: Bytes::from_static(br#"{"ok":true}"#), after: 5 },
        ),
    ]
}
