use std::time::Duration;

use edgeproof_edge::RelayResult;
use edgeproof_fixtures::spec::Stimulus;
use edgeproof_mock::ServiceEndpoint;
use http::header::{ETAG, HeaderValue, IF_NONE_MATCH};
use http::{Method, Version};
use serde_json::{Value, json};

use super::answer::Answer;
use super::bytes::{ByteClass, Place};
use super::history::{History, Same};
use super::seen::Seen;

/// When a mutant behaves wrongly: a predicate over an exchange and what the part received and did before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Condition {
    Always,
    All(&'static [Condition]),
    Any(&'static [Condition]),
    Not(&'static Condition),

    Method(&'static str),
    /// A collection for an edge.
    Collection,
    /// The path of the collections.
    Signals,
    /// The path of the health check.
    Health,
    /// The request target contains this text.
    TargetPart(&'static str),
    /// The target has more bytes.
    TargetOver(usize),
    /// This place has bytes of this class.
    Contains(Place, ByteClass),
    /// The request has this number of fields, or more.
    Fields(usize),
    /// The values of the request's fields have more bytes.
    FieldsOver(usize),
    /// The request has this header.
    Has(&'static str),
    /// The first header of this name has this value.
    Header(&'static str, &'static str),
    /// A header of this name contains this text.
    HeaderPart(&'static str, &'static str),
    Http2,
    Http10,
    /// The origin of the page is the allowed one.
    FromAllowedOrigin,
    BodyIsEmpty,
    BodyIsUtf8,
    BodyIsJson,
    BodyIsObject,
    BodyIsEmptyObject,
    /// The body has more bytes.
    BodyOver(usize),

    LicenseUnset,
    CertificateUnset,
    /// The collection was relayed, or its body broke off.
    Relayed,
    /// Number of relays of this collection.
    Relays(u32),
    /// The service sent no usable answer.
    Unreachable,
    /// The body of the page broke off.
    Broken,
    /// The service refused, and its reply ended before the end of its body.
    ReplyCut,
    /// Status of the service's reply, from and to.
    ReplyIs(u16, u16),
    /// The service's reply has this header.
    ReplyHas(&'static str),
    /// No row of the relay table has the status of the service's reply.
    UnlistedStatus,

    /// Status of the right answer, from and to.
    AnswerIs(u16, u16),
    /// The right answer has this header.
    AnswerHas(&'static str),
    /// Reason in the right answer.
    Reason(&'static str),
    /// No row of the relay table has the reason in the right answer.
    UnlistedReason,

    Endpoint(ServiceEndpoint),
    Reference(&'static [&'static str]),
    /// The token is refused for one of these, or the session is in one of these states.
    Stimulus(&'static [Stimulus]),
    /// The query has this parameter.
    Parameter(&'static str),
    /// The parameter is a number over this one.
    ParameterOver(&'static str, u32),
    /// The parameter is absent, or consists of digits.
    ParameterIsDigits(&'static str),
    /// The query has another parameter, or this one twice.
    OtherParameters(&'static str),
    /// `If-None-Match` contains the entity tag of the right answer, with or without quotes.
    SimilarTag,

    /// The condition held for this number of earlier exchanges, or for more. `Same` says what those have in common with this
    /// one, such as the connection.
    Earlier(Same, u32, &'static Condition),
    /// This exchange is the n-th that fulfils the condition.
    Nth(Same, u32, &'static Condition),
    /// The condition holds for this exchange, and the number of such exchanges is a multiple of this one.
    LastOfEach(u32, &'static Condition),
    /// This number of collections is under way, or more. This one counts.
    UnderWay(u32),
    /// The last exchange on the connection ended this number of milliseconds before this request, or earlier.
    Idle(u64),
    /// An earlier connection sent no valid request. Servers number connections from 0.
    SilentConnection,
}

impl Condition {
    /// Whether an exchange fulfils the condition.
    pub(crate) fn holds(&self, seen: &Seen<'_>, history: &History) -> bool {
        let holds = |condition: &Self| condition.holds(seen, history);
        let body = || seen.body.map_or(&[][..], |body| body);
        let json = || serde_json::from_slice::<Value>(body()).ok();
        let parameter = |name| seen.parameters().find(|(given, _)| *given == name).map(|(_, value)| value);
        let (setup, answer) = (seen.setup, seen.answer);
        match *self {
            Self::Always => true,
            Self::All(all) => all.iter().all(holds),
            Self::Any(any) => any.iter().any(holds),
            Self::Not(not) => !holds(not),
            Self::Method(method) => seen.method == method,
            Self::Collection => seen.method == Method::POST && holds(&Self::Signals),
            Self::Signals => seen.target == setup.signals_path,
            Self::Health => seen.target == setup.health_path,
            Self::TargetPart(part) => seen.target.contains(part),
            Self::TargetOver(bytes) => seen.target.len() + seen.query.len() > bytes,
            Self::Contains(place, class) => place.has(class, seen),
            Self::Fields(least) => seen.headers.len() >= least,
            Self::FieldsOver(bytes) => seen.headers.values().map(HeaderValue::len).sum::<usize>() > bytes,
            Self::Has(name) => seen.headers.contains_key(name),
            Self::Header(name, value) => seen.headers.get(name).is_some_and(|given| given == value),
            Self::HeaderPart(name, part) => {
                let mut values = seen.headers.get_all(name).iter();
                values.any(|value| String::from_utf8_lossy(value.as_bytes()).contains(part))
            }
            Self::Http10 => seen.version == Version::HTTP_10,
            Self::Http2 => seen.version == Version::HTTP_2,
            Self::FromAllowedOrigin => seen.origin().is_some_and(|origin| *origin == *setup.allowed_origin),
            Self::BodyIsEmpty => body().is_empty(),
            Self::BodyIsUtf8 => std::str::from_utf8(body()).is_ok(),
            Self::BodyIsJson => json().is_some(),
            Self::BodyIsObject => json().is_some_and(|value| value.is_object()),
            Self::BodyIsEmptyObject => json() == Some(json!({})),
            Self::BodyOver(bytes) => body().len() > bytes,
            Self::LicenseUnset => setup.license.is_none(),
            Self::CertificateUnset => !setup.has_certificate,
            Self::Relayed => seen.relayed.is_some(),
            Self::Relays(relays) => seen.relays == relays,
            Self::Unreachable => seen.relayed == Some(&RelayResult::NoAnswer),
            Self::Broken => seen.relayed == Some(&RelayResult::BodyBroken),
            Self::ReplyCut => matches!(
                seen.relayed,
                Some(RelayResult::Answered { status, body: None, .. }) if !status.is_success()
            ),
            Self::ReplyIs(from, to) => (from..=to).contains(&seen.reply().0),
            Self::ReplyHas(name) => matches!(
                seen.relayed,
                Some(RelayResult::Answered { headers, .. }) if headers.contains_key(name)
            ),
            Self::UnlistedStatus => setup.refusals.iter().all(|(listed, _)| *listed != seen.reply().0),
            Self::AnswerIs(from, to) => answer.is_some_and(|answer| (from..=to).contains(&answer.status)),
            Self::AnswerHas(name) => answer.is_some_and(|answer| answer.headers.contains_key(name)),
            Self::Reason(reason) => answer.and_then(Answer::reason).is_some_and(|it| it == reason),
            Self::UnlistedReason => {
                answer.and_then(Answer::reason).is_some_and(|reason| setup.statuses(&reason).next().is_none())
            }
            Self::Endpoint(endpoint) => seen.endpoint == Some(endpoint),
            Self::Reference(references) => references.contains(&seen.reference),
            Self::Stimulus(stimuli) => seen.stimulus.is_some_and(|stimulus| stimuli.contains(&stimulus)),
            Self::Parameter(name) => parameter(name).is_some(),
            Self::ParameterOver(name, limit) => {
                let number = parameter(name).and_then(|value| value.parse::<f64>().ok());
                number.is_some_and(|number| number > f64::from(limit))
            }
            Self::ParameterIsDigits(name) => parameter(name)
                .is_none_or(|value| !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit())),
            Self::OtherParameters(name) => {
                let (own, others): (Vec<_>, Vec<_>) =
                    seen.parameters().partition(|(given, _)| *given == name);
                !others.is_empty() || own.len() > 1
            }
            Self::SimilarTag => {
                let tag = answer.and_then(|answer| answer.headers.get(ETAG)?.to_str().ok());
                let condition = seen.header(IF_NONE_MATCH.as_str()).unwrap_or_default();
                tag.is_some_and(|tag| condition.contains(tag.trim_matches('"')))
            }
            Self::Earlier(same, least, condition) => history.count((same, condition), seen) >= least,
            Self::Nth(same, n, condition) => {
                holds(condition) && history.count((same, condition), seen) + 1 == n
            }
            Self::LastOfEach(each, condition) => {
                holds(condition) && history.count((Same::Part, condition), seen) % each == each - 1
            }
            Self::UnderWay(least) => history.under_way() >= least,
            Self::Idle(ms) => history.idle(seen.connection) >= Duration::from_millis(ms),
            Self::SilentConnection => history.has_silent_connection(seen.connection),
        }
    }

    /// Adds the conditions whose fulfilments a history has to count.
    pub(crate) fn memories(&self, into: &mut Vec<(Same, &'static Self)>) {
        match *self {
            Self::All(all) | Self::Any(all) => all.iter().for_each(|condition| condition.memories(into)),
            Self::Not(not) => not.memories(into),
            Self::Earlier(same, _, condition) | Self::Nth(same, _, condition) => {
                condition.memories(into);
                into.push((same, condition));
            }
            Self::LastOfEach(_, condition) => {
                condition.memories(into);
                into.push((Same::Part, condition));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderMap;
    use http::header::COOKIE;
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::behaviour::Setup;

    /// A recorded exchange.
    #[derive(Debug, Clone)]
    struct Exchange {
        method: Method,
        headers: HeaderMap,
        connection: u64,
        answer: Answer,
    }

    impl Exchange {
        fn seen<'a>(&'a self, setup: &'a Setup) -> Seen<'a> {
            let (connection, answer) = (self.connection, Some(&self.answer));
            Seen { connection, answer, ..Seen::new(&self.method, "/", &self.headers, setup) }
        }
    }

    fn exchange() -> impl Strategy<Value = Exchange> {
        let method = prop_oneof![Just(Method::GET), Just(Method::POST)];
        let status = prop_oneof![Just(200), Just(401), Just(502)];
        (method, any::<bool>(), 0..3_u64, status).prop_map(|(method, cookie, connection, status)| Exchange {
            method,
            headers: cookie.then(|| (COOKIE, HeaderValue::from_static("a=b"))).into_iter().collect(),
            connection,
            answer: Answer { status, ..Answer::default() },
        })
    }

    fn condition() -> impl Strategy<Value = Condition> {
        use Condition as C;
        let leaf = prop_oneof![
            Just(C::Always),
            Just(C::Method("POST")),
            Just(C::Has("cookie")),
            Just(C::AnswerIs(200, 299))
        ];
        leaf.prop_recursive(4, 24, 3, |inner| {
            let same = || prop_oneof![Just(Same::Part), Just(Same::Connection)];
            let kept = inner.clone().prop_map(|condition| &*Box::leak(Box::new(condition)));
            prop_oneof![
                vec(inner.clone(), 0..3).prop_map(|all| C::All(all.leak())),
                vec(inner, 0..3).prop_map(|any| C::Any(any.leak())),
                kept.clone().prop_map(C::Not),
                (same(), 0..4_u32, kept.clone()).prop_map(|(same, least, of)| C::Earlier(same, least, of)),
                (same(), 1..4_u32, kept.clone()).prop_map(|(same, n, of)| C::Nth(same, n, of)),
                (1..4_u32, kept).prop_map(|(each, of)| C::LastOfEach(each, of)),
            ]
        })
    }

    /// Looks at all earlier exchanges again.
    fn holds(condition: &Condition, exchanges: &[Seen<'_>]) -> bool {
        let Some((now, before)) = exchanges.split_last() else { return false };
        let count = |same: Same, of: &Condition| {
            let earlier = (1..=before.len()).filter(|to| same.key(&exchanges[to - 1]) == same.key(now));
            earlier.filter(|to| holds(of, &exchanges[..*to])).count() as u32
        };
        match *condition {
            Condition::All(all) => all.iter().all(|condition| holds(condition, exchanges)),
            Condition::Any(any) => any.iter().any(|condition| holds(condition, exchanges)),
            Condition::Not(not) => !holds(not, exchanges),
            Condition::Earlier(same, least, of) => count(same, of) >= least,
            Condition::Nth(same, n, of) => holds(of, exchanges) && count(same, of) + 1 == n,
            Condition::LastOfEach(each, of) => {
                holds(of, exchanges) && count(Same::Part, of) % each == each - 1
            }
            ref leaf => leaf.holds(now, &History::default()),
        }
    }

    proptest! {
        #[test]
        fn a_history_counts_what_all_earlier_exchanges_show(
            condition in condition(),
            exchanges in vec(exchange(), 1..12),
        ) {
            let setup = Setup::default();
            let mut memories = Vec::new();
            condition.memories(&mut memories);
            let mut history = History::new(memories);
            let seen: Vec<Seen<'_>> = exchanges.iter().map(|exchange| exchange.seen(&setup)).collect();
            for (at, now) in seen.iter().enumerate() {
                history.arrive(&Seen { answer: None, ..*now });
                prop_assert_eq!(condition.holds(now, &history), holds(&condition, &seen[..=at]));
                history.conclude(now);
            }
        }
    }
}
