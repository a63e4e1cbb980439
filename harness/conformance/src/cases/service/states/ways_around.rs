use edgeproof_http::Draft;
use edgeproof_mock::states::StateRequest;
use edgeproof_reports::difference::{AnswerSubject, DifferenceKind, Statuses};

use super::customers::without_reference;
use crate::cases::service::expected::{AVAILABLE, UNAUTHORIZED};
use crate::cases::service::{METHODS, TokenChoice};
use crate::cases::{CaseList, Service, ServiceCaseContext, ServiceNeed};
use crate::judge::{self, AnswerResult, Check};
use crate::states::StateNeed;

const ROW: &str = "statement.no-oracle";

/// Writes a path in another way: the part before the reference, and the reference.
type Spelling = fn(&str, &str) -> String;

/// Other spellings of the path, that no way around the token and the license may be (3, 5).
const PATHS: [(&str, Spelling); 8] = [
    ("with two slashes", |prefix, reference| format!("/{prefix}{reference}")),
    ("with two slashes inside", |prefix, reference| format!("{prefix}/{reference}")),
    ("with a final slash", |prefix, reference| format!("{prefix}{reference}/")),
    ("in capitals", |prefix, reference| format!("{}{reference}", prefix.to_ascii_uppercase())),
    ("with a dot segment", |prefix, reference| format!("/.{prefix}{reference}")),
    ("with an encoded letter", |prefix, reference| format!("{}{reference}", encoded(prefix))),
    ("with a parameter", |prefix, reference| format!("{prefix}{reference};a=b")),
    ("with a suffix", |prefix, reference| format!("{prefix}{reference}.json")),
];

/// A path with its first letter as an escape (RFC 3986 §2.1).
fn encoded(path: &str) -> String {
    match path.find(|character: char| character.is_ascii_alphabetic()) {
        Some(at) => format!("{}%{:02X}{}", &path[..at], path.as_bytes()[at], &path[at + 1..]),
        None => path.to_owned(),
    }
}

/// Requests in other spellings and with other methods.
pub(super) fn add(cases: &mut CaseList<'_, Service>) {
    paths(cases);
    methods(cases);
}

/// No spelling of the path returns a verdict without a token of its license.
fn paths(cases: &mut CaseList<'_, Service>) {
    cases
        .case(ROW, "verdict.around.path", "no spelling of the path is a way around the read token")
        .steps(steps!(async |context| {
            let Some(reference) = context.session().await else { return };
            let plain = context.with_token(&reference).draft();
            let verdict = context.send(&plain, context.timeout).await.reply;
            let mut asked = vec![("without a token", context.verdict(&reference).draft())];
            if context.target.inputs.other_token.is_some() {
                let other = context.verdict(&reference).bearer(&context.other_token());
                asked.push(("with the read token of another license", other.draft()));
            }
            for (who, draft) in &asked {
                let prefix = context.spec().verdict_path().prefix().to_owned();
                let written = draft.path.strip_prefix(&prefix).unwrap_or_default();
                for (name, spelling) in PATHS {
                    let draft = Draft { path: spelling(&prefix, written), ..draft.clone() };
                    let reply = context.send(&draft, context.timeout).await.reply;
                    context.found.varied += 1;
                    let kind = DifferenceKind::Status {
                        expected: Statuses::OneOf(context.row(UNAUTHORIZED).status().into_iter().collect()),
                        actual: reply.as_ref().ok().map(|answer| answer.status),
                    };
                    let check = Check::judged(kind, !shows(context, &verdict, &reply));
                    context.check(check.which(&format!("{who}, {name}")));
                }
            }
        }))
        .requires(&[ServiceNeed::ReadToken, ServiceNeed::Session]);
}

/// Whether an answer is the verdict: a server may answer a path that it does not know with a page.
fn shows(context: &ServiceCaseContext, verdict: &AnswerResult, reply: &AnswerResult) -> bool {
    let (Ok(verdict), Ok(answer)) = (verdict, reply) else { return false };
    let content_type = |headers: &http::HeaderMap| headers.get("content-type").cloned();
    context.has_status(AVAILABLE, reply)
        && content_type(&answer.headers) == content_type(&verdict.headers)
        && judge::has_verdict(reply).ok
}

/// No method reveals a session to those who may not read it.
fn methods(cases: &mut CaseList<'_, Service>) {
    cases
        .case(ROW, "verdict.around.method", "no method reveals a session without its token")
        .steps(steps!(async |context| {
            let Some(known) = context.made(StateRequest::verdict(context.reference("known-1"))).await else {
                return;
            };
            let unknown = context.reference("unknown");
            let mut tokens = vec![TokenChoice::Missing];
            tokens.extend(context.target.inputs.other_token.is_some().then_some(TokenChoice::OtherLicense));
            for method in METHODS {
                for token in &tokens {
                    let authorization = token.authorization(context).unwrap_or_default();
                    let request = |context: &ServiceCaseContext, reference: &str| {
                        let request = context.verdict(reference).method(method);
                        match &authorization {
                            Some(value) => request.authorization(value),
                            None => request,
                        }
                    };
                    let none = context.fetch_verdict(&request(context, &unknown)).await;
                    let seen = context.fetch_verdict(&request(context, &known)).await;
                    context.found.varied += 2;
                    let check = judge::same_answer(
                        AnswerSubject::ForAnyReason,
                        &without_reference(&none, &unknown),
                        &without_reference(&seen, &known),
                    );
                    context.check(check.which(&format!("with {method}")));
                    if method == "HEAD" && known.len() == unknown.len() {
                        context.checks(judge::same_length(&none, &seen).into_iter().collect());
                    }
                }
            }
        }))
        .requires(&[
            ServiceNeed::ReadToken,
            ServiceNeed::State(StateNeed::Verdict),
            // References of one length.
            ServiceNeed::State(StateNeed::ChosenReference),
        ]);
}
