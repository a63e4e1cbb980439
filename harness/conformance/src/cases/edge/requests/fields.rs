use edgeproof_fixtures::register::Message;

use crate::cases::{CaseList, Conversation, Edge, EdgeNeed, UnfamiliarFields, collection};

/// What the expected reason of a refusal requires.
const REASON: [EdgeNeed; 2] = [EdgeNeed::Service, EdgeNeed::PlainReasons];

/// Fields that clients and proxies send, and that no rule of the interface names.
pub(in crate::cases::edge) fn add(cases: &mut CaseList<'_, Edge>) {
    let with_fields = |plain: &dyn Fn() -> Conversation| {
        let exchange = |fields: UnfamiliarFields| {
            let draft = fields.on(collection());
            (fields.name, plain().draft(draft))
        };
        UnfamiliarFields::registered(Message::Request).into_iter().map(exchange).collect()
    };
    let exchanges = with_fields(&|| cases.accepted_post());
    cases
        .case(
            "statement.body-unchanged",
            "fields.accepted",
            "registered header fields that an edge need not know change nothing about an acceptance",
        )
        .exchanges(exchanges);
    let Some(status) = cases.refusal_statuses().first().copied() else { return };
    let exchanges = with_fields(&|| cases.refused_post(status, "edgeproof_fields"));
    cases
        .case(
            "statement.status-and-reason-passed",
            "fields.refused",
            "registered header fields that an edge need not know change nothing about a refusal",
        )
        .exchanges(exchanges)
        .requires(&REASON);
    let replies = |plain: &dyn Fn() -> Conversation| {
        let exchange = |fields: UnfamiliarFields| {
            let mut conversation = plain();
            conversation.script = conversation.script.map(|script| fields.in_script(script));
            (fields.name, conversation)
        };
        UnfamiliarFields::registered(Message::Reply).into_iter().map(exchange).collect::<Vec<_>>()
    };
    let mut exchanges = replies(&|| cases.accepted_post());
    exchanges.extend(replies(&|| cases.refused_post(status, "edgeproof_fields")));
    cases
        .case(
            "statement.status-and-reason-passed",
            "fields.replies",
            "registered header fields of the service's reply change no answer",
        )
        .exchanges(exchanges)
        .requires(&REASON);
}
