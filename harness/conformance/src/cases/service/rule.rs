use std::collections::BTreeSet;
use std::time::Duration;

use edgeproof_fixtures::spec::{Advice, Row, Spec};
use edgeproof_http::{NoAnswer, Sent};
use edgeproof_reports::CaseLevel;
use edgeproof_reports::difference::{DifferenceKind, HeaderRule, Secrets, TimeRule};
use serde_json::Value;

use super::expected::{
    AVAILABLE, EXPIRED, Expected, PENDING, UNAUTHORIZED, answer, status, status_of, verdict,
};
use super::token_echo::token_echo;
use crate::cases::{ServiceCaseContext, summary};
use crate::judge::{self, AnswerResult, Check, ReasonCode};

/// The open point of a verdict's format.
const VERDICT_FORM: &str = "verdict.form";

/// What the answer to a [`VerdictExchange`](super::VerdictExchange) has to be, or what is observed of it.
#[derive(Debug, Clone)]
pub enum VerdictRule {
    /// Pending, with the requested reference.
    Pending,
    /// The answer to a request without a read token.
    Unauthorized,
    /// The refusal of an expired read token.
    Expired,
    /// The refusal of a damaged read token, with one of these codes.
    Damaged(Vec<ReasonCode>),
    /// The verdict.
    Verdict,
    /// Status 200.
    Available,
    /// Any answer that is not a server error.
    NoServerError,
    /// Content type JSON.
    JsonContentType,
    /// A challenge with the scheme Bearer.
    BearerChallenge,
    /// No token of the request.
    NoToken,
    /// No permission for shared caches.
    NotShared,
    /// In time: a `should`.
    Within {
        /// Why the answer has to come by then.
        rule: TimeRule,
        /// Longest time.
        longest: Duration,
        /// Advice to a late service.
        advice: Option<Advice>,
    },
    /// No server error, or no answer yet after the timeout.
    Waits,
    /// Behaviour at the open point that has the case's id. The format has a point of its own.
    Observe(VerdictObservation),
}

/// What a case observes of an answer.
#[derive(Debug, Clone)]
pub enum VerdictObservation {
    /// The status or the lack of an answer.
    Status,
    /// The JSON member that contains one of these codes.
    Member(Vec<ReasonCode>),
    /// The status, and the time compared with this wait.
    Wait(Duration),
    /// `Cache-Control`.
    Caching,
    /// The format of the verdict.
    Format,
}

impl VerdictRule {
    /// Compares an answer with the rule. `token`: the token of the request.
    pub(super) fn judge(&self, context: &mut ServiceCaseContext, reference: &str, token: &str, sent: &Sent) {
        let reply = &sent.reply;
        let answered = |expected: Expected| expected.judge(context.spec(), reply);
        let checks = match self {
            Self::Pending => answered(Expected::Pending(reference.to_owned())),
            Self::Unauthorized => answered(Expected::Unauthorized),
            Self::Expired => answered(Expected::Expired),
            Self::Damaged(codes) => {
                let [status, json] = refused(codes, context.spec(), reply);
                vec![status, json, judge::has_code(codes, reply)]
            }
            Self::Verdict => verdict(context.spec(), reply),
            Self::Available => vec![status(context.spec(), AVAILABLE, reply)],
            Self::JsonContentType => vec![judge::json_content_type(reply)],
            Self::BearerChallenge => {
                let names_bearer = |value: &str| value.to_ascii_lowercase().contains("bearer");
                vec![judge::header_has("www-authenticate", HeaderRule::Bearer, names_bearer, reply)]
            }
            Self::NoToken => vec![not_shown(token, reply)],
            Self::NotShared => vec![judge::not_shared(reply)],
            Self::Within { rule, longest, advice } => {
                let check = Check::timed(*rule, sent.took, *longest).at(CaseLevel::Should);
                vec![match advice {
                    Some(advice) => check.advise(advice.clone()),
                    None => check,
                }]
            }
            Self::Waits if is_held(reply) => {
                let waited = sent.took;
                vec![Check::judged(DifferenceKind::time(TimeRule::MayWait, None, waited), true)]
            }
            Self::NoServerError | Self::Waits => vec![no_server_error(reply)],
            Self::Observe(_) => Vec::new(),
        };
        context.checks(checks);
        match self {
            Self::Waits if is_held(reply) => context.observe_case("waits"),
            Self::Waits => context.observe_case(summary::status(reply)),
            Self::Observe(seen) => match (seen, seen.of(sent)) {
                (VerdictObservation::Format, Some(format)) => context.observe(VERDICT_FORM, format),
                (_, Some(observed)) => context.observe_case(observed),
                (_, None) => {}
            },
            _ => {}
        }
    }

    /// The open point that the rule observes. `case`: id of the case.
    pub(super) fn point<'a>(&self, case: &'a str) -> Option<&'a str> {
        match self {
            Self::Observe(VerdictObservation::Format) => Some(VERDICT_FORM),
            Self::Observe(_) | Self::Waits => Some(case),
            _ => None,
        }
    }

    /// What the rule expects, in a line. `reference`: that of the request.
    pub(super) fn describe(&self, spec: &Spec, reference: &str) -> Option<String> {
        let row = |id: &str| {
            let row = spec.row(id)?;
            Some(format!("expected answer: {}", answer(row, reference)))
        };
        let codes =
            |codes: &[ReasonCode]| codes.iter().map(|code| code.text.as_str()).collect::<Vec<_>>().join(", ");
        Some(match self {
            Self::Pending => row(PENDING)?,
            Self::Unauthorized => row(UNAUTHORIZED)?,
            Self::Expired => row(EXPIRED)?,
            Self::Damaged(accepted) => {
                let statuses: BTreeSet<String> =
                    accepted.iter().map(|code| code.status.to_string()).collect();
                let statuses: Vec<_> = statuses.into_iter().collect();
                let (statuses, codes) = (statuses.join(" or "), codes(accepted));
                format!("expected answer: {statuses} and JSON with one of these codes: {codes}")
            }
            Self::Verdict | Self::Available => {
                format!("expected answer: {} and the verdict", spec.row(AVAILABLE)?.status()?)
            }
            Self::NoServerError => "expected answer: any status below 500".to_owned(),
            Self::JsonContentType => "the answer has Content-Type: application/json".to_owned(),
            Self::BearerChallenge => "the answer has WWW-Authenticate: Bearer".to_owned(),
            Self::NoToken => "the answer does not contain the token of the request".to_owned(),
            Self::NotShared => "the answer does not permit shared caches to store it".to_owned(),
            Self::Within { longest, .. } => {
                format!("the answer should come within {}", humantime::format_duration(*longest))
            }
            Self::Waits => "expected answer: any status below 500, or none yet".to_owned(),
            Self::Observe(_) => return None,
        })
    }
}

impl VerdictObservation {
    fn of(&self, sent: &Sent) -> Option<String> {
        let reply = &sent.reply;
        Some(match self {
            Self::Status => summary::status(reply),
            Self::Member(codes) => {
                member(codes, reply).unwrap_or_else(|| "no code of the interface".to_owned())
            }
            Self::Wait(wait) => format!("{}, {}", summary::status(reply), length(*wait, sent.took)),
            Self::Caching => cache_control(reply),
            Self::Format => verdict_format(&reply.as_ref().ok()?.body),
        })
    }
}

/// The answer contains neither the token, in any encoding, nor a piece of its signature. Header and claims are public: a
/// verdict token of the same issuer shares them.
pub(super) fn not_shown(token: &str, reply: &AnswerResult) -> Check {
    judge::no_secrets(Secrets::Token, token_echo(token), reply).advise(Advice::TokenEchoed)
}

/// No server error, also for an excessive wait.
pub(super) fn no_server_error(reply: &AnswerResult) -> Check {
    judge::no_server_error(reply).advise(Advice::WaitUnbounded)
}

/// The status of these codes, and a JSON body.
fn refused(codes: &[ReasonCode], spec: &Spec, reply: &AnswerResult) -> [Check; 2] {
    let status = status_of(codes, reply);
    let is_of = |id: &str, status| spec.row(id).and_then(Row::status) == Some(status);
    let accepted = |status| is_of(AVAILABLE, status) || is_of(PENDING, status);
    let accepted = reply.as_ref().is_ok_and(|answer| accepted(answer.status));
    [if accepted { status.advise(Advice::TokenAccepted) } else { status }, judge::is_json(reply)]
}

fn is_held(reply: &AnswerResult) -> bool {
    matches!(reply, Err(NoAnswer::TimedOut(_)))
}

fn member(codes: &[ReasonCode], reply: &AnswerResult) -> Option<String> {
    let body: Value = serde_json::from_slice(&reply.as_ref().ok()?.body).ok()?;
    let (member, _) = judge::find_code(codes, &body)?;
    Some(if member.is_empty() { "the body is the code".into() } else { member })
}

fn length(wait: Duration, took: Duration) -> &'static str {
    match took {
        took if took < wait / 2 => "answered at once",
        took if took < wait => "answered early",
        took if took < wait + Duration::from_secs(2) => "answered after as long as was asked for",
        _ => "answered later than was asked for",
    }
}

fn cache_control(reply: &AnswerResult) -> String {
    match reply {
        Ok(answer) => match answer.headers.get("cache-control").map(|value| value.to_str()) {
            Some(Ok(value)) => format!("Cache-Control: {value}"),
            Some(Err(_)) => "Cache-Control in something other than ASCII".into(),
            None => "no Cache-Control".into(),
        },
        Err(why) => why.to_string(),
    }
}

/// Format of a verdict. The interface does not show its fields.
fn verdict_format(body: &[u8]) -> String {
    match serde_json::from_slice::<Value>(body) {
        Ok(Value::Object(members)) => {
            let mut names: Vec<&str> = members.keys().map(String::as_str).collect();
            names.sort_unstable();
            format!("a JSON object with {}", names.join(", "))
        }
        Ok(_) => "JSON, but no object".into(),
        Err(_) if judge::is_jws(&String::from_utf8_lossy(body)) => "a signed token".into(),
        Err(_) => "not JSON".into(),
    }
}
