use std::collections::BTreeMap;

use edgeproof_fixtures::spec::Advice;
use edgeproof_http::{self as http, Body, NoAnswer, Sent, Violation, field_violations};
use edgeproof_mock::Arrival;
use edgeproof_reports::CaseLevel;
use edgeproof_reports::difference::{Breach, Invariant, MessageFault, MessageRule};

use super::breaches::{Breaches, by_case, by_exchange};
use super::edge_record::{EdgeRecord, RequestsByBody};
use crate::cases::{ServiceExchange, TracedRequest};
use crate::judge::Check;

/// Each answer of an edge, and each of its requests to the service, keeps to the grammar of HTTP/1.
pub(super) fn of_edge(edge: &EdgeRecord) -> Vec<Check> {
    let (mut answers, mut waits) = (Breaches::default(), Breaches::default());
    for request in &edge.requests {
        let Some(sent) = &request.sent else { continue };
        let breach = Breach {
            status: sent.reply.as_ref().ok().map(|answer| answer.status),
            method: Some(request.draft.method.as_str().into()),
            ..by_case(&request.sender.case)
        };
        let (waited, others): (Vec<_>, Vec<_>) =
            sent.violations.iter().partition(|violation| violation.rule == http::MessageRule::NoContinue);
        add(&mut answers, others, request.sender.level, &breach);
        add(&mut waits, waited, request.sender.level, &breach);
        add_reply(&mut answers, sent, request.sender.level, breach);
    }
    // A busy edge can be late once. One that never answers has no such answer.
    if edge.requests.iter().any(is_continued) {
        waits = Breaches::default();
    }
    vec![
        answers.check(Invariant::MalformedAnswers).advise(Advice::AnswerMalformed),
        waits.check(Invariant::MalformedAnswers).advise(Advice::ContinueMissing),
        requests(edge).check(Invariant::MalformedRequests).advise(Advice::RelayMalformed),
    ]
}

/// Each of these answers keeps to the grammar of HTTP/1.
pub(super) fn of_service<'e>(exchanges: impl Iterator<Item = &'e ServiceExchange>) -> Check {
    let mut answers = Breaches::default();
    for exchange in exchanges {
        let ServiceExchange { sent, level, .. } = exchange;
        add(&mut answers, &sent.violations, *level, &by_exchange(exchange));
        add_reply(&mut answers, sent, *level, by_exchange(exchange));
    }
    answers.check(Invariant::MalformedAnswers).advise(Advice::AnswerMalformed)
}

/// The client got an interim `100`, or an answer in its place.
fn is_continued(request: &TracedRequest) -> bool {
    let is_answered = |sent: &Sent| {
        sent.reply.is_ok()
            && sent.violations.iter().all(|violation| violation.rule != http::MessageRule::NoContinue)
    };
    matches!(request.draft.body, Body::Expect(_)) && request.sent.as_ref().is_some_and(is_answered)
}

fn requests(edge: &EdgeRecord) -> Breaches {
    let mut requests = Breaches::default();
    let by_body = RequestsByBody::new(edge);
    let place = |arrival: &Arrival| (arrival.connection, arrival.of_connection);
    let arrivals: BTreeMap<_, &Arrival> =
        edge.arrivals.iter().map(|arrival| (place(arrival), arrival)).collect();
    for broken in &edge.violations {
        // The mock service cannot read each of them, and keeps the latest ones.
        let (level, breach) = match arrivals.get(&(broken.connection, broken.request)) {
            Some(arrival) => (by_body.level(&arrival.request.body), by_body.breach(arrival)),
            None => (CaseLevel::Must, Breach::default()),
        };
        add(&mut requests, [&broken.violation], level, &breach);
    }
    requests
}

/// Adds an answer that cannot be read, and the fields of one that can.
fn add_reply(breaches: &mut Breaches, sent: &Sent, level: CaseLevel, breach: Breach) {
    match &sent.reply {
        Ok(answer) => add(breaches, &field_violations(&answer.headers), level, &breach),
        Err(NoAnswer::NotHttp(why)) => {
            let fault = MessageFault { rule: MessageRule::NotHttp, excerpt: why.as_str().into() };
            breaches.push_at(level, Breach { fault: Some(fault), ..breach });
        }
        Err(_) => {}
    }
}

/// Adds the violations of one message. Where all recipients read the same, a violation is a `should`.
fn add<'v>(
    breaches: &mut Breaches,
    violations: impl IntoIterator<Item = &'v Violation>,
    level: CaseLevel,
    breach: &Breach,
) {
    for Violation { rule, excerpt } in violations {
        let level = if rule.misleads() { level } else { level.max(CaseLevel::Should) };
        let fault = MessageFault { rule: value(*rule), excerpt: excerpt.as_str().into() };
        breaches.push_at(level, Breach { fault: Some(fault), ..breach.clone() });
    }
}

/// The rule as reports name it.
fn value(rule: http::MessageRule) -> MessageRule {
    use http::MessageRule as Broken;

    match rule {
        Broken::FirstLine => MessageRule::FirstLine,
        Broken::EmptyLineFirst => MessageRule::EmptyLineFirst,
        Broken::BareLineFeed => MessageRule::BareLineFeed,
        Broken::BareCarriageReturn => MessageRule::BareCarriageReturn,
        Broken::Folding => MessageRule::Folding,
        Broken::SpaceBeforeColon => MessageRule::SpaceBeforeColon,
        Broken::FieldLine => MessageRule::FieldLine,
        Broken::NulInValue => MessageRule::NulInValue,
        Broken::ControlInValue => MessageRule::ControlInValue,
        Broken::FieldValue => MessageRule::FieldValue,
        Broken::RepeatedField => MessageRule::RepeatedField,
        Broken::BothLengths => MessageRule::BothLengths,
        Broken::RepeatedLength => MessageRule::RepeatedLength,
        Broken::MalformedLength => MessageRule::MalformedLength,
        Broken::TransferCoding => MessageRule::TransferCoding,
        Broken::CodingInHttp10 => MessageRule::CodingInHttp10,
        Broken::LengthWithoutBody => MessageRule::LengthWithoutBody,
        Broken::ChunkLine => MessageRule::ChunkLine,
        Broken::PaddedChunkLine => MessageRule::PaddedChunkLine,
        Broken::Trailer => MessageRule::Trailer,
        Broken::BytesAfterEnd => MessageRule::BytesAfterEnd,
        Broken::BytesAfterLast => MessageRule::BytesAfterLast,
        Broken::NoHost => MessageRule::NoHost,
        Broken::RepeatedHost => MessageRule::RepeatedHost,
        Broken::UnrequestedSwitch => MessageRule::UnrequestedSwitch,
        Broken::InterimToHttp10 => MessageRule::InterimToHttp10,
        Broken::NoContinue => MessageRule::NoContinue,
    }
}
