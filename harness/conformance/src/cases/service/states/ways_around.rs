use edgeproof_http::Draft;
use edgeproof_mock::states::StateRequest;
use edgeproof_reports::difference::{AnswerSubject, DifferenceKind, Statuses};

use super::customers::without_reference;
use crate::cases::service::METHODS;
use crate::cases::service::expected::{AVAILABLE, UNAUTHORIZED};
use crate::cases::{CaseList, Service, ServiceCaseContext, ServiceNeed};
use crate::judge::{self, AnswerResult, Check};
use crate::states::StateNeed;

const ROW: &str = "statement.no-oracle";

/// Writes a path in another way.
type Spelling = fn(&str) -> String;

/// Other spellings of the path, that no way around the token and the license may be (3, 5).
const PATHS: [(&str, Spelling); 8] = [
    ("with two slashes", |path| format!("/{path}")),
    ("with two slashes inside", |path| path.replacen("/verdict/", "//verdict/", 1)),
    ("with a final slash", |path| format!("{path}/")),
    ("in capitals", |path| path.replacen("/verdict/", "/VERDICT/", 1)),
    ("with a dot segment", |path| format!("/.{path}")),
    ("with an encoded letter", |path| path.replacen("/v1/", "/%761/", 1)),
    ("with a parameter", |path| format!("{path};a=b")),
    ("with a suffix", |path| format!("{path}.json")),
];

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
                for (name, spelling) in PATHS {
                    let draft = Draft { path: spelling(&draft.path), ..draft.clone() };
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
    Some(answer.status) == context.row(AVAILABLE).status()
        && content_type(&answer.headers) == content_type(&verdict.headers)
        && judge::has_verdict(reply).ok
}

/// No method reveals a session to those who may not read it.
fn methods(cases: &mut CaseList<'_, Service>) {
    cases
        .case(ROW, "verdict.around.method", "no method reveals a session without its token")
        .steps(steps!(async |context| {
            let Some(known) = context.made(StateRequest::verdict(context.reference("known--"))).await else {
                return;
            };
            let unknown = context.reference("unknown");
            for method in METHODS {
                for token in
                    [None, context.target.inputs.other_token.is_some().then(|| context.other_token())]
                {
                    let request = |context: &ServiceCaseContext, reference: &str| {
                        let request = context.verdict(reference).method(method);
                        match &token {
                            Some(token) => request.bearer(token),
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
