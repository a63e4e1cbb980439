use std::time::Duration;

use edgeproof_fixtures::spec::{Endpoint, Stimulus};
use edgeproof_reports::CaseLevel;

use super::expected::{PENDING, answer};
use super::{TokenChoice, VerdictExchange, VerdictObservation, VerdictRule};
use crate::cases::{Case, CaseList, Phase, Service, ServiceCaseContext, ServiceNeed, methods};
use crate::judge;

/// Unknown sessions: the answer is pending, with exactly the requested reference (4, 7.4).
pub(super) fn add(cases: &mut CaseList<'_, Service>) {
    for (id, phase, title) in [
        ("verdict.sanity.first", Phase::First, "before all other cases, an unknown session is pending"),
        ("verdict.sanity.last", Phase::Last, "after all other cases, an unknown session is pending"),
    ] {
        unknown(cases, id, title, "unknown").phase(phase).also("endpoint.service.verdict");
    }
    for (name, title, reference) in references() {
        let case = unknown(cases, &format!("verdict.reference.{name}"), title, reference);
        if name == "slash" {
            // RFC 3986 §2.2 allows an encoded slash in a segment, but many proxies refuse it.
            case.level(CaseLevel::Should);
        }
    }
    bare_plus(cases);
    odd(cases);
    content_type(cases);
    side_by_side(cases);
    in_turn(cases);
    methods(cases);
}

/// References that a page may pass to `start()`, as text. The request percent-encodes them once.
fn references() -> [(&'static str, &'static str, &'static str); 12] {
    [
        ("plain", "a reference of letters, digits and dashes comes back unchanged", "Abc-123_x.y~z"),
        ("space", "a reference with spaces comes back unchanged", "a b  c"),
        ("slash", "a reference with a slash comes back unchanged", "shop/cart/7"),
        ("unicode", "a reference with non-ASCII characters comes back unchanged", "größe-注文-🛒"),
        ("percent", "a reference with a percent sign comes back unchanged", "100% sure"),
        ("percent-encoded", "a reference that looks encoded is not decoded twice", "a%20b%2Fc"),
        ("plus", "a reference with an encoded plus sign comes back unchanged", "a+b"),
        ("reserved", "a reference with reserved URL characters comes back unchanged", "a?b=c&d#e;f:g@h"),
        ("quotes", "a reference with quotes and backslashes comes back unchanged", "say \"hi\" \\ 'bye'"),
        ("markup", "a reference that is markup comes back as a JSON string", "<script>alert(1)</script>"),
        ("case", "a reference in mixed case comes back unchanged", "AbCdEf"),
        ("number", "a reference of digits comes back as a JSON string", "00012345678901234567890"),
    ]
}

fn unknown<'c>(
    cases: &'c mut CaseList<'_, Service>,
    id: &str,
    title: &str,
    text: &'static str,
) -> &'c mut Case<Service> {
    cases
        .case(PENDING, id, title)
        .exchange(VerdictExchange::unknown(text).expect(VerdictRule::Pending))
        .requires(&[ServiceNeed::ReadToken])
        .stimulus(Stimulus::ReferenceUnknown)
}

/// An unencoded plus sign in a path is a plus sign (RFC 3986 §3.3). It is a space in forms only.
fn bare_plus(cases: &mut CaseList<'_, Service>) {
    let title = "an unencoded plus sign in a reference is not a space";
    let exchange = VerdictExchange::unencoded("a+b").expect(VerdictRule::Pending);
    cases
        .case(PENDING, "verdict.reference.bare-plus", title)
        .exchange(exchange)
        .requires(&[ServiceNeed::ReadToken])
        .stimulus(Stimulus::ReferenceUnknown);
}

/// The interface does not show which texts are valid references.
fn odd(cases: &mut CaseList<'_, Service>) {
    let long = "x".repeat(4000);
    for (id, title, segment) in [
        ("empty", "the answer to an empty reference", ""),
        ("invalid-utf-8", "the answer to a reference that is not UTF-8", "%ff%fe"),
        ("invalid-encoding", "the answer to a reference with invalid percent-encoding", "a%zz"),
        ("nul", "the answer to a reference with a NUL", "a%00b"),
        ("dots", "the answer to a reference of two encoded dots", "%2e%2e"),
        ("long", "the answer to a reference of 4000 characters", &long),
    ] {
        let exchange = VerdictExchange::segment(segment).observe(VerdictObservation::Status);
        cases
            .case("statement.reference-odd", &format!("verdict.reference.{id}"), title)
            .exchange(exchange)
            .requires(&[ServiceNeed::ReadToken]);
    }
}

fn content_type(cases: &mut CaseList<'_, Service>) {
    let exchange = VerdictExchange::unknown("kind").expect(VerdictRule::JsonContentType);
    let row = "statement.json-content-type";
    let title = "a pending answer has the content type JSON";
    cases
        .case(row, "verdict.content-type.pending", title)
        .exchange(exchange.clone())
        .requires(&[ServiceNeed::ReadToken]);
    let title = "a refusal has the content type JSON";
    cases
        .case(row, "verdict.content-type.unauthorized", title)
        .exchange(exchange.token(TokenChoice::Missing));
}

/// Number of concurrent requests.
const AT_ONCE: usize = 16;

fn side_by_side(cases: &mut CaseList<'_, Service>) {
    cases
        .case(PENDING, "verdict.isolation.at-once", "concurrent requests each get their own reference back")
        .steps(steps!(async |context| {
            let references: Vec<String> =
                (0..AT_ONCE).map(|number| context.reference(&format!("{number}"))).collect();
            let drafts = drafts(context, &references);
            let limit = context.timeout;
            let sending = drafts.iter().map(|draft| context.begin(draft, limit));
            let sent = futures_util::future::join_all(sending).await;
            for ((reference, draft), sent) in references.iter().zip(&drafts).zip(sent) {
                context.record(draft, sent.clone());
                context.checks(judge::exact(&answer(context.row(PENDING), reference), &sent.reply));
            }
        }))
        .requires(&[ServiceNeed::ReadToken])
        .takes(Duration::from_secs(1));
}

fn in_turn(cases: &mut CaseList<'_, Service>) {
    cases
        .case(
            PENDING,
            "verdict.isolation.in-turn",
            "requests over one connection each get their own reference back",
        )
        .steps(steps!(async |context| {
            let references: Vec<String> =
                (0..4).map(|number| context.reference(&format!("{number}"))).collect();
            let drafts = drafts(context, &references);
            let all = context.send_in_turn(context.service(), &drafts).await;
            // A server may close a connection after any answer, so a later request without answer is no fault.
            for ((reference, draft), sent) in references.iter().zip(&drafts).zip(all) {
                context.record(draft, sent.clone());
                if context.found.sent.len() == 1 || sent.reply.is_ok() {
                    context.checks(judge::exact(&answer(context.row(PENDING), reference), &sent.reply));
                }
            }
        }))
        .requires(&[ServiceNeed::ReadToken]);
}

fn drafts(context: &ServiceCaseContext, references: &[String]) -> Vec<edgeproof_http::Draft> {
    let token = context.read_token();
    references.iter().map(|reference| context.verdict(reference).bearer(&token).draft()).collect()
}

/// Methods that the interface does not define for verdicts, unless the version lists them (4).
fn methods(cases: &mut CaseList<'_, Service>) {
    for method in methods::OF_VERDICTS {
        let id = format!("verdict.method.{}", method.to_lowercase());
        if cases.spec.takes(Endpoint::Verdict, method) {
            let title = format!("the answer to {method} for a session with a verdict is the answer to GET");
            let rule = if method == "HEAD" { VerdictRule::Available } else { VerdictRule::Verdict };
            cases
                .case(Endpoint::Verdict.row(), &id, &title)
                .exchange(VerdictExchange::with_verdict().method(method).expect(rule))
                .requires(&[ServiceNeed::ReadToken, ServiceNeed::Session]);
            continue;
        }
        let title = format!("the answer to {method} at the verdict endpoint");
        let exchange = VerdictExchange::unknown("method").method(method).observe(VerdictObservation::Status);
        cases
            .case("statement.verdict-methods", &id, &title)
            .exchange(exchange)
            .requires(&[ServiceNeed::ReadToken]);
    }
}
