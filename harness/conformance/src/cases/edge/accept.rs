use bytes::Bytes;
use edgeproof_fixtures::spec::Stimulus;

use crate::cases::{Catalog, Conversation, Phase, collection, summary};
use crate::judge;
use edgeproof_mock::{Action, Script};

/// The service accepts, in its usual way and in unusual ones (7.2).
pub(super) fn add(cases: &mut Catalog<'_>) {
    sanity(cases);
    let accepted = cases.accepted();
    let accept = cases.accept();
    cases
        .conversation(
            "edge.200.accepted",
            "accept.exact-body",
            "an accepted collection gets the interface's answer, nothing more",
            Conversation::post(accept.clone(), accepted),
        )
        .stimulus(Stimulus::ServiceAccepts);

    let script = accept;
    cases.edge_steps(
        "statement.json-content-type",
        "accept.content-type",
        "the answer to an accepted collection says that it is JSON",
        move |context| {
            let script = script.clone();
            Box::pin(async move {
                context.script(script);
                let sent = context.send(&collection()).await;
                context.check(judge::json_content_type(&sent.reply));
            })
        },
    );

    for (id, title, action) in unusual() {
        cases.edge_steps("statement.other-success", id, title, move |context| {
            let script = Script::one(action.clone());
            Box::pin(async move {
                context.script(script);
                let sent = context.send(&collection()).await;
                let observed = summary::answer(&context.marker, &sent.reply);
                context.observe(id, observed);
            })
        });
    }
}

/// The same plain conversation before and after everything else.
fn sanity(cases: &mut Catalog<'_>) {
    for (id, phase, title) in [
        ("sanity.first", Phase::First, "a plain collection is relayed and accepted, before all other cases"),
        ("sanity.last", Phase::Last, "a plain collection is relayed and accepted, after all other cases"),
    ] {
        let conversation = Conversation::post(cases.accept(), cases.accepted());
        cases
            .conversation("edge.200.accepted", id, title, conversation)
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
        ("accept.service-201", "the service accepts with 201", answer(201, r#"{"ok":true}"#)),
        ("accept.service-204", "the service accepts with 204", answer(204, "")),
        (
            "accept.service-other-body",
            "the service answers 200 with another body",
            answer(200, r#"{"session":"s-1"}"#),
        ),
        (
            "accept.service-cut-body",
            "the service answers 200 and its body is cut off",
            Action::CutBody { status: 200, body: Bytes::from_static(br#"{"ok":true}"#), after: 5 },
        ),
    ]
}
