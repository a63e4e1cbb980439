use edgeproof_fixtures::spec::{PartName, Stimulus};
use edgeproof_mock::ServiceEndpoint;

use crate::behaviour::Condition;
use crate::behaviour::Condition::{
    All, AnswerIs, Broken, Endpoint, Health, Method, Not, Relayed, ReplyIs, Signals, Stimulus as On,
    Unreachable,
};

/// A class of outcomes of an exchange.
#[derive(Debug)]
pub(crate) struct OutcomeClass {
    /// In words.
    pub(super) name: &'static str,
    pub(super) when: Condition,
}

const fn class(name: &'static str, when: Condition) -> OutcomeClass {
    OutcomeClass { name, when }
}

/// Outcomes at an edge.
pub(super) const EDGE: &[OutcomeClass] = &[
    class("accepted", All(&[Relayed, ReplyIs(200, 299)])),
    class("redirected by the service", All(&[Relayed, ReplyIs(300, 399)])),
    class("refused by the service", All(&[Relayed, ReplyIs(400, 499)])),
    class("an error of the service", All(&[Relayed, ReplyIs(500, 599)])),
    class("service unreachable", Unreachable),
    class("upload broken", Broken),
    class("another method", All(&[Signals, Not(&Method("POST")), Not(&Method("OPTIONS"))])),
    class("preflight", All(&[Signals, Method("OPTIONS")])),
    class("health check", Health),
    class("another path", All(&[Not(&Signals), Not(&Health)])),
];

/// Outcomes at a service.
pub(super) const SERVICE: &[OutcomeClass] = &[
    class("verdict", All(&[Endpoint(ServiceEndpoint::Verdict), AnswerIs(200, 299)])),
    class(
        "pending",
        All(&[
            Endpoint(ServiceEndpoint::Verdict),
            On(&[Stimulus::VerdictPending, Stimulus::ReferenceUnknown]),
        ]),
    ),
    class("token refused", All(&[Endpoint(ServiceEndpoint::Verdict), AnswerIs(401, 401)])),
    class("key set", All(&[Endpoint(ServiceEndpoint::KeySet), AnswerIs(200, 299)])),
    class("no route", Endpoint(ServiceEndpoint::Nothing)),
    class("request to relay", Endpoint(ServiceEndpoint::Relay)),
];

/// Outcomes at a part.
pub(super) fn outcomes(part: PartName) -> &'static [OutcomeClass] {
    if part == PartName::Edge { EDGE } else { SERVICE }
}
