use super::conversation::Conversation;
use super::{Catalog, Phase};

/// The same plain conversation before and after everything else.
pub(super) fn add(cases: &mut Catalog<'_>) {
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
