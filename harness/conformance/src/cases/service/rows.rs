use edgeproof_fixtures::credentials::{Credentials, ReadTokenForm};
use edgeproof_fixtures::spec::{Row, Stimulus, Table};
use edgeproof_reports::CaseLevel as Level;
use serde_json::Value;

use super::super::backend::Reply;
use super::super::{Ask, Backend, Catalog, Need, summary};
use super::{answer, code};
use crate::judge::{self, Check};
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
    alone: bool,
) {
    // Another version of the interface may not have the row.
    let Some(row) = cases.spec.by_stimulus(Table::Verdict, cause).cloned() else { return };
    let id = format!("verdict.exactly.{}", cause.name());
    let title = format!("{} for {}: exactly the answer of our profile", told(&row), cause.name());
    let refused = cases.spec.profile().verdict_refused.clone();
    let row_id = row.id.clone();
    let bring_about: std::sync::Arc<Cause> = std::sync::Arc::new(bring_about);
    let case = cases.asks(&row_id, &id, &title, move |backend| {
        let (row, refused, bring_about) = (row.clone(), refused.clone(), std::sync::Arc::clone(&bring_about));
        Box::pin(async move {
            let authorization = {
                let Some((mock, credentials)) = backend.ours() else { return };
                bring_about(mock, credentials)
            };
            let reference = backend.reference("exactly");
            let mut ask = Ask::new(&reference);
            if let Some(value) = authorization {
                ask = ask.authorization(&value);
            }
            let reply = backend.ask(&ask).await;
            backend.checks(exactly(&row, &refused, &reply));
            backend.check(summary::json_content_type(&reply).at(Level::Should));
            with_a_session(backend, &ask, &reference, &row, &refused).await;
        })
    });
    case.needs(&[Need::Mock])
        .stimulus(cause)
        .also("statement.error-bodies-json")
        .also("statement.json-content-type");
    if alone {
        case.alone();
    }
}

/// A refusal stays the same where there is a verdict.
async fn with_a_session(backend: &mut Backend, ask: &Ask, reference: &str, row: &Row, refused: &Value) {
    if let Some((mock, _)) = backend.ours() {
        mock.add_session(edgeproof_mock::NewSession::new(reference));
    }
    let reply = backend.ask(ask).await;
    backend.checks(exactly(row, refused, &reply));
}

fn told(row: &Row) -> String {
    format!("{} {}", row.status().unwrap_or_default(), row.code().unwrap_or_default())
}

/// The whole answer: the body that the row shows, or the profile's with the row's code, and its suffix, in it.
fn exactly(row: &Row, refused: &Value, reply: &Reply) -> Vec<Check> {
    if row.body().is_some() {
        return judge::exact(&answer(row, ""), reply);
    }
    let Some(code) = code(row) else { return Vec::new() };
    let body: Option<Value> =
        reply.as_ref().ok().and_then(|answer| serde_json::from_slice(&answer.body).ok());
    let seen = body.as_ref().and_then(|body| judge::place_of(std::slice::from_ref(&code), body));
    // What follows the code is the service's own; all around it is the profile's.
    let suffix = seen.and_then(|(member, _)| {
        body.as_ref()?.get(&member)?.as_str()?.strip_prefix(&code.text).map(str::to_owned)
    });
    let reason = format!("{}{}", code.text, suffix.filter(|_| code.suffixed).unwrap_or_default());
    let expected = judge::Expected {
        status: row.status().unwrap_or_default(),
        body: Some(edgeproof_fixtures::spec::fill(refused, &[("<reason>", Value::String(reason))])),
        headless: false,
    };
    let mut checks = judge::exact(&expected, reply);
    checks.push(judge::tells(&[code], reply));
    checks
}
