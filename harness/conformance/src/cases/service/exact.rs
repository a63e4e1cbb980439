use edgeproof_fixtures::credentials::ReadTokenForm;
use edgeproof_fixtures::spec::{Row, Spec, Stimulus, Table};
use edgeproof_mock::ReadOutage;
use edgeproof_mock::states::StateRequest;
use edgeproof_reports::CaseLevel;

use super::expected::{answer, code, status};
use crate::cases::{CaseList, Service, ServiceCaseContext, ServiceNeed, VerdictRequest};
use crate::judge::{self, AnswerResult, Check};
use crate::states::StateNeed;

/// Every refusal of 7.4 by its real cause. The service provides the credential, or the outage, that leads to it.
pub(super) fn add(cases: &mut CaseList<'_, Service>) {
    for form in ReadTokenForm::ALL {
        if let Some(stimulus) = form.stimulus() {
            refusal(cases, stimulus, None);
        }
    }
    for outage in ReadOutage::ALL {
        refusal(cases, outage.stimulus(), Some(outage));
    }
}

fn refusal(cases: &mut CaseList<'_, Service>, stimulus: Stimulus, outage: Option<ReadOutage>) {
    // A version of the interface may lack the row.
    let Some(row) = cases.spec.by_stimulus(Table::Verdict, stimulus).cloned() else { return };
    let id = format!("verdict.exactly.{}", stimulus.name());
    let fault = stimulus.meaning().trim().trim_end_matches('.');
    let title = format!("the service answers {} to this fault of a read token: {fault}", rendered(&row));
    let row_id = row.id.clone();
    let need = match (outage, stimulus) {
        (Some(_), _) => vec![ServiceNeed::ReadToken, ServiceNeed::State(StateNeed::Outage)],
        (None, Stimulus::ReadTokenMissing) => Vec::new(),
        (None, _) => vec![ServiceNeed::State(StateNeed::Credential(stimulus))],
    };
    let case = cases.case(&row_id, &id, &title).steps(steps!(with(row), async |context| {
        if outage.is_some() {
            let code = row.code().map(str::to_owned);
            if context.provide(StateRequest::Outage { code }).await.is_none() {
                return;
            }
        }
        refused(context, &row, stimulus, outage.is_some()).await;
        if outage.is_some() {
            context.provide(StateRequest::Outage { code: None }).await;
        }
    }));
    case.requires(&need)
        .stimulus(stimulus)
        .also("statement.error-bodies-json")
        .also("statement.json-content-type");
    if outage.is_some() {
        case.exclusive();
    }
}

/// The refusal is the same for a session with a verdict and for none.
async fn refused(context: &mut ServiceCaseContext, row: &Row, stimulus: Stimulus, by_outage: bool) {
    let authorization = if by_outage {
        Some(format!("Bearer {}", context.read_token()))
    } else {
        context.credential(stimulus)
    };
    let reference = context.reference("exactly");
    let request = |context: &ServiceCaseContext, reference: &str| {
        let request = context.verdict(reference);
        match &authorization {
            Some(value) => request.authorization(value),
            None => request,
        }
    };
    let ask: VerdictRequest = request(context, &reference);
    let reply = context.fetch_verdict(&ask).await;
    context.checks(exactly(context.spec(), row, &reply));
    context.check(judge::json_content_type(&reply).at(CaseLevel::Should));
    if !context.supports(StateNeed::Verdict) {
        return;
    }
    let Some(reference) = context.made(StateRequest::verdict(reference)).await else { return };
    let reply = context.fetch_verdict(&request(context, &reference)).await;
    context.checks(exactly(context.spec(), row, &reply));
}

fn rendered(row: &Row) -> String {
    format!("{} {}", row.status().unwrap_or_default(), row.code().unwrap_or_default())
}

/// The row's body, or its status and its code in JSON.
fn exactly(spec: &Spec, row: &Row, reply: &AnswerResult) -> Vec<Check> {
    if row.body().is_some() {
        return judge::exact(&answer(row, ""), reply);
    }
    let mut checks = vec![status(spec, &row.id, reply), judge::is_json(reply)];
    checks.extend(code(row).map(|code| judge::has_code(&[code], reply)));
    checks
}
