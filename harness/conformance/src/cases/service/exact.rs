use edgeproof_fixtures::credentials::{Credentials, ReadTokenForm};
use edgeproof_fixtures::spec::{Row, Stimulus, Table};
use edgeproof_reports::Level;
use serde_json::Value;

use super::expected::{answer, code};
use crate::cases::{Catalog, Prerequisite, ServiceCaseContext, VerdictRequest};
use crate::judge::{self, AnswerResult, Check};
use edgeproof_mock::{MockService, ReadOutage};

/// Every row of 7.4 by its true cause, exactly as our profile words it: only our mock has the keys to make such tokens.
pub(super) fn add(cases: &mut Catalog<'_>) {
    for form in ReadTokenForm::ALL {
        if let Some(cause) = form.stimulus() {
            refusal(cases, cause, move |_, credentials| credentials.authorization(form), false);
        }
    }
    for outage in ReadOutage::ALL {
        let breaks = move |mock: &MockService, credentials: &Credentials| {
            mock.set_read_outage(Some(outage));
            credentials.authorization(ReadTokenForm::Valid)
        };
        refusal(cases, outage.stimulus(), breaks, true);
    }
}

/// Brings the cause about, and yields what stands in `Authorization`.
type Cause = dyn Fn(&MockService, &Credentials) -> Option<String> + Send + Sync;

fn refusal(
    cases: &mut Catalog<'_>,
    cause: Stimulus,
    bring_about: impl Fn(&MockService, &Credentials) -> Option<String> + Send + Sync + 'static,
    exclusive: bool,
) {
    // Another version of the interface may not have the row.
    let Some(row) = cases.spec.by_stimulus(Table::Verdict, cause).cloned() else { return };
    let id = format!("verdict.exactly.{}", cause.name());
    let title = format!("{} for {}: exactly the answer of our profile", told(&row), cause.name());
    let refused = cases.spec.profile().verdict_refused.clone();
    let row_id = row.id.clone();
    let bring_about: std::sync::Arc<Cause> = std::sync::Arc::new(bring_about);
    let case = cases.service_steps(&row_id, &id, &title, move |context| {
        let (row, refused, bring_about) = (row.clone(), refused.clone(), std::sync::Arc::clone(&bring_about));
        Box::pin(async move {
            let authorization = {
                let Some((mock, credentials)) = context.builtin_mock() else { return };
                bring_about(mock, credentials)
            };
            let reference = context.reference("exactly");
            let mut request = VerdictRequest::new(&reference);
            if let Some(value) = authorization {
                request = request.authorization(&value);
            }
            let reply = context.fetch_verdict(&request).await;
            context.checks(exactly(&row, &refused, &reply));
            context.check(judge::json_content_type(&reply).at(Level::Should));
            with_a_session(context, &request, &reference, &row, &refused).await;
        })
    });
    case.requires(&[Prerequisite::Mock])
        .stimulus(cause)
        .also("statement.error-bodies-json")
        .also("statement.json-content-type");
    if exclusive {
        case.exclusive();
    }
}

/// A refusal stays the same where there is a verdict.
async fn with_a_session(
    context: &mut ServiceCaseContext,
    request: &VerdictRequest,
    reference: &str,
    row: &Row,
    refused: &Value,
) {
    if let Some((mock, _)) = context.builtin_mock() {
        mock.add_session(edgeproof_mock::NewSession::new(reference));
    }
    let reply = context.fetch_verdict(request).await;
    context.checks(exactly(row, refused, &reply));
}

fn told(row: &Row) -> String {
    format!("{} {}", row.status().unwrap_or_default(), row.code().unwrap_or_default())
}

/// The whole answer: the body that the row shows, or the profile's with the row's code, and its suffix, in it.
fn exactly(row: &Row, refused: &Value, reply: &AnswerResult) -> Vec<Check> {
    if row.body().is_some() {
        return judge::exact(&answer(row, ""), reply);
    }
    let Some(code) = code(row) else { return Vec::new() };
    let body: Option<Value> =
        reply.as_ref().ok().and_then(|answer| serde_json::from_slice(&answer.body).ok());
    let seen = body.as_ref().and_then(|body| judge::find_code(std::slice::from_ref(&code), body));
    // What follows the code is the service's own; all around it is the profile's.
    let suffix = seen.and_then(|(member, _)| {
        body.as_ref()?.get(&member)?.as_str()?.strip_prefix(&code.text).map(str::to_owned)
    });
    let reason = format!("{}{}", code.text, suffix.filter(|_| code.suffixed).unwrap_or_default());
    let expected = judge::ExpectedAnswer {
        status: row.status().unwrap_or_default(),
        body: Some(edgeproof_fixtures::spec::fill(refused, &[("<reason>", Value::String(reason))])),
        to_head: false,
    };
    let mut checks = judge::exact(&expected, reply);
    checks.push(judge::has_code(&[code], reply));
    checks
}
