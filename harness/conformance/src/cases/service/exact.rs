use std::sync::Arc;

use edgeproof_fixtures::credentials::{Credentials, ReadTokenForm};
use edgeproof_fixtures::spec::{Row, Stimulus, Table};
use edgeproof_reports::CaseLevel;
use serde_json::Value;

use super::expected::{answer, code};
use crate::cases::{CaseList, Service, ServiceCaseContext, ServiceNeed, VerdictRequest};
use crate::judge::{self, AnswerResult, Check};
use edgeproof_mock::{MockService, ReadOutage};

/// Every row of 7.4 by its real stimulus, with exactly the answer of the reference profile. Only the built-in mock has the
/// keys to mint such tokens.
pub(super) fn add(cases: &mut CaseList<'_, Service>) {
    for form in ReadTokenForm::ALL {
        if let Some(stimulus) = form.stimulus() {
            refusal(cases, stimulus, move |_, credentials| credentials.authorization(form), false);
        }
    }
    for outage in ReadOutage::ALL {
        let outage_on = move |mock: &MockService, credentials: &Credentials| {
            mock.set_read_outage(Some(outage));
            credentials.authorization(ReadTokenForm::Valid)
        };
        refusal(cases, outage.stimulus(), outage_on, true);
    }
}

/// Triggers the stimulus and returns the value of `Authorization`.
type Prepare = dyn Fn(&MockService, &Credentials) -> Option<String> + Send + Sync;

fn refusal(
    cases: &mut CaseList<'_, Service>,
    stimulus: Stimulus,
    prepare: impl Fn(&MockService, &Credentials) -> Option<String> + Send + Sync + 'static,
    exclusive: bool,
) {
    // A version of the interface may lack the row.
    let Some(row) = cases.spec.by_stimulus(Table::Verdict, stimulus).cloned() else { return };
    let id = format!("verdict.exactly.{}", stimulus.name());
    let title = format!("the mock answers {} as its profile says: {}", stimulus.name(), rendered(&row));
    let refused = cases.spec.profile().verdict_refused.clone();
    let row_id = row.id.clone();
    let prepare: Arc<Prepare> = Arc::new(prepare);
    let case = cases.case(&row_id, &id, &title).steps(steps!(with(row, refused, prepare), async |context| {
        let authorization = {
            let Some((mock, credentials)) = context.builtin_mock() else { return };
            prepare(mock, credentials)
        };
        let reference = context.reference("exactly");
        let mut request = context.verdict(&reference);
        if let Some(value) = authorization {
            request = request.authorization(&value);
        }
        let reply = context.fetch_verdict(&request).await;
        context.checks(exactly(&row, &refused, &reply));
        context.check(judge::json_content_type(&reply).at(CaseLevel::Should));
        with_a_session(context, &request, &reference, &row, &refused).await;
    }));
    case.requires(&[ServiceNeed::Mock])
        .stimulus(stimulus)
        .also("statement.error-bodies-json")
        .also("statement.json-content-type");
    if exclusive {
        case.exclusive();
    }
}

/// The refusal is the same for a session with a verdict.
async fn with_a_session(
    context: &mut ServiceCaseContext,
    request: &VerdictRequest,
    reference: &str,
    row: &Row,
    refused: &Value,
) {
    if let Some((mock, _)) = context.builtin_mock() {
        mock.add_session(edgeproof_mock::NewSession::new(reference));
        context.target.traffic.note_session(reference);
    }
    let reply = context.fetch_verdict(request).await;
    context.checks(exactly(row, refused, &reply));
}

fn rendered(row: &Row) -> String {
    format!("{} {}", row.status().unwrap_or_default(), row.code().unwrap_or_default())
}

/// The whole answer: the row's body, or the profile's body with the row's code and its suffix.
fn exactly(row: &Row, refused: &Value, reply: &AnswerResult) -> Vec<Check> {
    if row.body().is_some() {
        return judge::exact(&answer(row, ""), reply);
    }
    let Some(code) = code(row) else { return Vec::new() };
    let body: Option<Value> =
        reply.as_ref().ok().and_then(|answer| serde_json::from_slice(&answer.body).ok());
    let seen = body.as_ref().and_then(|body| judge::find_code(std::slice::from_ref(&code), body));
    // The suffix is the service's choice; the profile gives the rest.
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
