use bytes::Bytes;
use edgeproof_mock::SessionFact;

use super::outcome::{EDGE, SERVICE};
use crate::behaviour::Same::Part;
use crate::behaviour::{Change, Condition, Page, Which};
use crate::edge::EdgeEffect;
use crate::service::ServiceEffect;

/// A wrong behaviour, and the outcomes that it changes.
#[derive(Debug)]
pub(super) struct GeneratedEffect<E: 'static> {
    /// In words.
    pub(super) name: &'static str,
    pub(super) then: E,
    /// Names of the outcomes.
    pub(super) on: &'static [&'static str],
    /// It acts before the outcome is known, on each collection or request for a verdict.
    pub(super) is_early: bool,
}

const fn effect<E>(name: &'static str, then: E, on: &'static [&'static str]) -> GeneratedEffect<E> {
    GeneratedEffect { name, then, on, is_early: false }
}

const fn early<E>(name: &'static str, then: E, on: &'static [&'static str]) -> GeneratedEffect<E> {
    GeneratedEffect { name, then, on, is_early: true }
}

const ERROR: Change = Change::Becomes(Page::Json(500, r#"{"error":"internal"}"#));
const OTHER_REFUSAL: Change =
    Change::Rewritten(409, r#"{"error":"edgeproof_other","reason":"edgeproof_other"}"#);
const COLLECTIONS: &[&str] =
    &["accepted", "refused by the service", "an error of the service", "service unreachable"];
const REFUSALS: &[&str] = &["refused by the service", "an error of the service", "service unreachable"];

const ACCEPTED: &Condition = &EDGE[0].when;
const REFUSED: &Condition = &EDGE[2].when;
const VERDICT: &Condition = &SERVICE[0].when;

/// Effects on an edge.
pub(super) const OF_EDGE: &[GeneratedEffect<EdgeEffect>] = &[
    effect(
        "closes the connection",
        EdgeEffect::NoAnswer,
        &[
            "accepted",
            "refused by the service",
            "an error of the service",
            "service unreachable",
            "preflight",
            "health check",
        ],
    ),
    effect(
        "answers 500",
        EdgeEffect::Answering(ERROR),
        &[
            "accepted",
            "refused by the service",
            "an error of the service",
            "service unreachable",
            "another method",
            "preflight",
            "health check",
        ],
    ),
    effect("answers another refusal", EdgeEffect::Answering(OTHER_REFUSAL), REFUSALS),
    effect(
        "answers as the first refusal",
        EdgeEffect::Answering(Change::Repeats(Which::First, (Part, REFUSED))),
        &["accepted", "service unreachable"],
    ),
    effect(
        "answers as the first acceptance",
        EdgeEffect::Answering(Change::Repeats(Which::First, (Part, ACCEPTED))),
        REFUSALS,
    ),
    effect("lacks the access headers", EdgeEffect::Answering(Change::NoCors), COLLECTIONS),
    effect(
        "logs nothing",
        EdgeEffect::Log(|_, _| String::new()),
        &["refused by the service", "an error of the service"],
    ),
    effect("relays twice", EdgeEffect::RelayAgain, &["accepted", "refused by the service"]),
    early("accepts in place of relaying", EdgeEffect::Refuse(Page::Json(200, r#"{"ok":true}"#)), REFUSALS),
    early("adds a byte to the body", EdgeEffect::Body(longer), COLLECTIONS),
    early("relays the body of the last collection", EdgeEffect::RelayFirst((Part, ACCEPTED)), COLLECTIONS),
];

/// Effects on a service and its key set.
pub(super) const OF_SERVICE: &[GeneratedEffect<ServiceEffect>] = &[
    effect(
        "closes the connection",
        ServiceEffect::Raw(|_| String::new()),
        &["verdict", "pending", "token refused", "key set"],
    ),
    effect(
        "answers 500",
        ServiceEffect::Answering(ERROR),
        &["verdict", "pending", "token refused", "key set"],
    ),
    effect("answers another refusal", ServiceEffect::Answering(OTHER_REFUSAL), &["pending", "token refused"]),
    effect(
        "answers with the first verdict",
        ServiceEffect::Answering(Change::Repeats(Which::First, (Part, VERDICT))),
        &["verdict", "pending", "token refused"],
    ),
    effect(
        "answers with the last verdict",
        ServiceEffect::Answering(Change::Repeats(Which::Last, (Part, VERDICT))),
        &["verdict", "pending", "token refused"],
    ),
    effect(
        "has another content type",
        ServiceEffect::Answering(Change::SetHeader("content-type", "text/plain")),
        &["verdict", "key set"],
    ),
    early("accepts every token", ServiceEffect::AcceptToken, &["token refused"]),
    early("refuses every token", ServiceEffect::RefuseToken, &["verdict", "pending"]),
    early("finds no session", ServiceEffect::Session(|_| SessionFact::Unknown), &["verdict"]),
    effect("is empty", ServiceEffect::Answering(Change::Content("{}")), &["verdict", "key set"]),
];

fn longer(body: &[u8]) -> Vec<u8> {
    [body, &Bytes::from_static(b" ")].concat()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use edgeproof_fixtures::spec::PartName;
    use rstest::rstest;

    use super::*;
    use crate::conditional::condition::conditions;
    use crate::conditional::outcome::outcomes;

    #[rstest]
    #[case::edge(PartName::Edge, OF_EDGE.iter().flat_map(|effect| effect.on).collect())]
    #[case::service(PartName::Service, OF_SERVICE.iter().flat_map(|effect| effect.on).collect())]
    fn each_condition_has_a_name_of_its_own_and_each_effect_an_outcome(
        #[case] part: PartName,
        #[case] named: BTreeSet<&&str>,
    ) {
        let classes: BTreeSet<&str> = outcomes(part).iter().map(|class| class.name).collect();
        assert_eq!(named.into_iter().find(|name| !classes.contains(**name)), None);
        let all = conditions(part);
        let names: BTreeSet<&str> = all.iter().map(|condition| &*condition.name).collect();
        assert_eq!((names.len(), all.len() > 400), (all.len(), true));
    }
}
