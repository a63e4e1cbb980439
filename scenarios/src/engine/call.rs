use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use edgeproof_http::ServerAddress;
use serde_json::value::RawValue;

use super::outgoing_request::OutgoingRequest;
use super::user_connection::{ExchangeTimes, MAX_BODY};
use crate::measure::{Code, Codes, RequestOutcome, RouteId};

/// A request and its expected result.
pub struct Call<'a> {
    /// The route.
    pub route: RouteId,
    /// Where to send it. Each user has a connection of its own to each endpoint.
    pub endpoint: &'a Arc<ServerAddress>,
    /// The request.
    pub request: OutgoingRequest,
    /// The expected result.
    pub expect: Expectation<'a>,
}

/// The expected result of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expectation<'a> {
    /// A collection is accepted.
    Accepted,
    /// Refused with this status and code; `None` accepts any code of the tables.
    Refused(u16, Option<Code>),
    /// The verdict of this reference, or the answer that it is pending.
    VerdictOrPending(&'a str),
    /// The answer that the verdict of this reference is pending.
    Pending(&'a str),
}

/// The outcome of an answer, and whether it is the expected one.
pub fn classify(codes: &Codes, expect: Expectation<'_>, status: u16, body: &[u8]) -> (RequestOutcome, bool) {
    let (code, expected) = match expect {
        Expectation::Accepted if status == codes.accepted.status => plain(codes.accepted.has_body(body, "")),
        // Nothing can be said against a verdict that is too long to be stored.
        Expectation::VerdictOrPending(reference) if status == codes.available.status => {
            plain(body.len() >= MAX_BODY || is_verdict(body, reference))
        }
        Expectation::VerdictOrPending(reference) | Expectation::Pending(reference)
            if status == codes.pending.status =>
        {
            let pending = codes.pending.has_body(body, reference);
            (if pending { codes.pending_code } else { Code::Unrecognized }, pending)
        }
        // An acceptance instead of a refusal is wrong, whatever its body is.
        _ if status == codes.accepted.status => (Code::Plain, false),
        Expectation::Refused(wanted, code) => {
            let body_code = codes.read(body);
            let listed = matches!(body_code, Code::Known(_));
            (body_code, wanted == status && code.map_or(listed, |code| code == body_code))
        }
        _ => (codes.read(body), false),
    };
    (RequestOutcome::Answer { status, code }, expected)
}

fn plain(expected: bool) -> (Code, bool) {
    (if expected { Code::Plain } else { Code::Unrecognized }, expected)
}

/// Whether the body is a JSON object without a foreign `ref`. The interface does not show the other members
/// of a verdict (7.4).
fn is_verdict(body: &[u8], reference: &str) -> bool {
    // Raw: a verdict can be long.
    let Ok(members) = serde_json::from_slice::<HashMap<String, &RawValue>>(body) else { return false };
    members
        .get("ref")
        .is_none_or(|named| serde_json::from_str::<String>(named.get()).is_ok_and(|named| named == reference))
}

/// Times of a call, from its intended start. Before its end they are those of a call that ended when it was sent.
#[derive(Debug, Clone, Copy)]
pub(super) struct CallTimes {
    pub(super) route: RouteId,
    /// Intended start.
    pub(super) due: Instant,
    /// Time from the intended start that the operation waited for a user.
    pub(super) waited: Duration,
    /// When the request was sent.
    pub(super) sent: Instant,
    /// When the answer arrived, or the call failed.
    pub(super) received: Instant,
    /// When the answer was read, or the call failed.
    pub(super) ended: Instant,
    /// The part from sending to `ended` that the generator itself added.
    late_reads: Duration,
}

impl CallTimes {
    /// A call that is sent now.
    pub(super) fn start(route: RouteId, due: Instant, waited: Duration) -> Self {
        let now = Instant::now();
        Self { route, due, waited, sent: now, received: now, ended: now, late_reads: Duration::ZERO }
    }

    /// Times of the call with its answer.
    pub(super) fn answered(self, exchange: &ExchangeTimes) -> Self {
        let ExchangeTimes { received, ended, .. } = *exchange;
        Self { received, ended, late_reads: exchange.delay(), ..self }
    }

    /// Times of the call if it ends now without an answer.
    pub(super) fn unanswered(self) -> Self {
        let now = Instant::now();
        Self { received: now, ended: now, ..self }
    }

    /// Time from the intended start to the end.
    pub(super) fn observed(&self) -> Duration {
        self.ended.saturating_duration_since(self.due)
    }

    /// Time from the intended start to sending.
    fn late_by(&self) -> Duration {
        self.sent.saturating_duration_since(self.due)
    }

    /// Time from the intended start to sending, less the time that the operation waited for a user.
    pub(super) fn lateness(&self) -> Duration {
        self.late_by().saturating_sub(self.waited)
    }

    /// The delay that the generator added before the answer arrived.
    pub(super) fn late_start(&self) -> Duration {
        let late_read = self.ended.saturating_duration_since(self.received);
        self.late_by() + self.late_reads.saturating_sub(late_read)
    }

    /// The delay that the generator added: a late start, and late reads.
    pub(super) fn delay(&self) -> Duration {
        self.late_by() + self.late_reads
    }

    /// Time from the intended start to the end, less the delay that the generator added.
    pub(super) fn response(&self) -> Duration {
        self.observed().saturating_sub(self.delay())
    }

    /// Time from sending to the arrival of the answer.
    pub(super) fn service(&self) -> Duration {
        self.ended.saturating_duration_since(self.sent).saturating_sub(self.late_reads)
    }
}

#[cfg(test)]
mod tests {
    use edgeproof_fixtures::spec::{Spec, Version};
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("accepted", 200, r#"{"ok":true}"#, "200", true)]
    #[case("accepted", 200, r#"{ "ok" : true }"#, "200", true)]
    #[case("accepted", 200, r#"{"ok":true,"more":1}"#, "200 with another body", false)]
    #[case("accepted", 200, "", "200 with another body", false)]
    #[case(
        "accepted",
        409,
        r#"{"error":"service_rejected","reason":"replayed_bundle","status":409}"#,
        "409 replayed_bundle",
        false
    )]
    #[case("accepted", 502, r#"{"error":"service_unreachable"}"#, "502 service_unreachable", false)]
    #[case(
        "replayed",
        409,
        r#"{"error":"service_rejected","reason":"replayed_bundle","status":409}"#,
        "409 replayed_bundle",
        true
    )]
    #[case(
        "replayed",
        409,
        r#"{"error":"service_rejected","reason":"bad_seal","status":409}"#,
        "409 bad_seal",
        false
    )]
    #[case("replayed", 200, r#"{"ok":true}"#, "200", false)]
    #[case("verdict", 200, r#"{"ref":"r"}"#, "200", true)]
    #[case("verdict", 200, r#"{"session":"r"}"#, "200", true)]
    #[case("verdict", 200, r#"{"ref":"other"}"#, "200 with another body", false)]
    #[case("verdict", 200, r#"{"ref":["r"]}"#, "200 with another body", false)]
    #[case("verdict", 200, r#"{"ref":null}"#, "200 with another body", false)]
    #[case("verdict", 200, r#"["r"]"#, "200 with another body", false)]
    #[case("verdict", 200, "[]", "200 with another body", false)]
    #[case("verdict", 404, r#"{"status":"pending","ref":"r"}"#, "404 pending", true)]
    #[case("verdict", 404, r#"{"status":"pending","ref":"other"}"#, "404 with another body", false)]
    #[case("verdict", 401, r#"{"error":"expired"}"#, "401 expired", false)]
    #[case("pending", 404, r#"{"status":"pending","ref":"r"}"#, "404 pending", true)]
    #[case("pending", 200, r#"{"ref":"r"}"#, "200", false)]
    #[case("any 401", 401, r#"{"error":"expired"}"#, "401 expired", true)]
    #[case("any 401", 401, r#"{"error":"made_up"}"#, "401 with a code not in the tables", false)]
    #[case("any 401", 403, r#"{"error":"expired"}"#, "403 expired", false)]
    fn answers_are_classified(
        #[case] expect: &str,
        #[case] status: u16,
        #[case] body: &str,
        #[case] label: &str,
        #[case] expected: bool,
    ) {
        let codes = Codes::new(&Spec::builtin(Version::Current));
        let expect = match expect {
            "accepted" => Expectation::Accepted,
            "replayed" => Expectation::Refused(409, Some(codes.find("replayed_bundle"))),
            "verdict" => Expectation::VerdictOrPending("r"),
            "pending" => Expectation::Pending("r"),
            _ => Expectation::Refused(401, None),
        };
        let (outcome, as_expected) = classify(&codes, expect, status, body.as_bytes());
        assert_eq!((codes.label(outcome).as_str(), as_expected), (label, expected));
    }

    /// Only a part of a very long answer is stored. The rest is not the target's fault.
    #[test]
    fn very_long_verdict_is_a_verdict() {
        let codes = Codes::new(&Spec::builtin(Version::Current));
        let body = [&br#"{"ref":"r","evidence":""#[..], &vec![b'x'; MAX_BODY]].concat();
        let outcome = classify(&codes, Expectation::VerdictOrPending("r"), 200, &body[..MAX_BODY]);
        assert_eq!(outcome, (RequestOutcome::Answer { status: 200, code: Code::Plain }, true));
    }

    #[test]
    fn delay_is_what_the_generator_added() {
        let ms = Duration::from_millis;
        let due = Instant::now();
        let times = CallTimes {
            sent: due + ms(103),
            received: due + ms(150),
            ended: due + ms(157),
            late_reads: ms(9),
            ..CallTimes::start(RouteId(0), due, ms(100))
        };
        assert_eq!((times.observed(), times.lateness(), times.delay()), (ms(157), ms(3), ms(112)));
        // A part of the TLS handshake was read 2 ms late, which delayed the answer.
        assert_eq!((times.late_start(), times.response(), times.service()), (ms(105), ms(45), ms(45)));
    }
}
