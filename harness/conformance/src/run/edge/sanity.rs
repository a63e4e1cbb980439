use edgeproof_fixtures::credentials::Redactor;
use edgeproof_fixtures::spec::{Fact, Spec, Table};
use edgeproof_http::Answer;
use edgeproof_launch::LogTail;
use edgeproof_mock::Script;
use edgeproof_reports::CaseLevel;
use edgeproof_reports::escape::visible;
use serde_json::Value;

use super::capabilities::needs_plain_reasons;
use super::foreign::check_foreign;
use super::lease_error::LeaseError;
use super::pool::EdgePool;
use super::pool_options::EdgeUpstream;
use crate::cases::{CaseFindings, collection};
use crate::judge::excerpt;
use crate::run::reason_probe::{hides_reason, reason_probes};
use crate::run::runner::{Limitation, SanityResult};
use crate::run::runner_context::RunnerContext;

/// Lines of a launched edge's log in a finding.
const LOG_SHOWN: usize = 8;

/// Finds out whether an edge can be judged, also where the filters leave out the case `sanity.first`.
pub(super) async fn check_edges(pool: &EdgePool, context: &RunnerContext) -> SanityResult {
    if let EdgeUpstream::Foreign { intended, origin } = &pool.options().upstream {
        return check_foreign(pool, context, *intended, origin.as_deref()).await;
    }
    let probed = match probe(pool, context).await {
        Ok((found, log)) => judge(&pool.options().spec, &found, log.as_deref()),
        Err(why) => SanityResult::unusable_because(&why),
    };
    if !matches!(probed, SanityResult::Usable) {
        return probed;
    }
    match reply_without_reasons(pool, context).await {
        Some(reply) => SanityResult::Limited(unread_reasons(&reply)),
        None => SanityResult::Usable,
    }
}

/// Sends a collection that the mock service accepts, and another one if it does not arrive. Yields the last lines that a
/// launched edge wrote, too.
async fn probe(
    pool: &EdgePool,
    context: &RunnerContext,
) -> Result<(CaseFindings, Option<String>), LeaseError> {
    let lease = pool.lease_standard().await?;
    let edge = &lease.instance.edge;
    let mut tries = 0;
    loop {
        tries += 1;
        let mut case =
            lease.instance.case_context("probe", CaseLevel::Must, false, context.request_timeout());
        case.script(Script::accept(&pool.options().profile));
        case.send(&collection()).await;
        let found = case.end();
        if !found.arrivals.is_empty() || tries == 2 {
            let log = edge.log().filter(|_| edge.pid().is_some());
            return Ok((found, log.map(|log| last_lines(log, &pool.options().redactor))));
        }
    }
}

/// The last lines of a log, redacted.
fn last_lines(log: &LogTail, redactor: &Redactor) -> String {
    let lines = log.last(LOG_SHOWN);
    lines
        .iter()
        .flat_map(|line| ["\n  | ".into(), redactor.redact(&visible(&line.text)).into_owned()])
        .collect()
}

/// The mock service's refusal, if the edge reads no reason from any refusal.
async fn reply_without_reasons(pool: &EdgePool, context: &RunnerContext) -> Option<String> {
    let lease = pool.lease_standard().await.ok()?;
    lease.instance.context.service.as_ref()?;
    let (spec, shape) = (&pool.options().spec, &pool.options().reply_shape);
    let probes = reason_probes(spec);
    for (status, reason) in &probes {
        let mut case =
            lease.instance.case_context("probe", CaseLevel::Must, false, context.request_timeout());
        case.script(Script::refuse(shape, *status, reason));
        if !hides_reason(spec, *status, &case.send(&collection()).await.reply) {
            return None;
        }
    }
    probes.first().map(|(status, reason)| shape.render(*status, reason).to_string())
}

/// Every refusal comes back as unknown: one finding, not one for each reason.
fn unread_reasons(reply: &str) -> Limitation {
    let finding = format!(
        "the edge turns every reason of the mock service into `unknown`. The mock service replies {reply}; the edge \
         expects another shape. Describe the reply of your service with --reply-shape FILE, for example \
         {{\"code\":\"{{reason}}\"}}"
    );
    Limitation {
        finding,
        concerns: needs_plain_reasons,
        because: "the edge reads no reason of the mock service: see the finding",
    }
}

/// Judges the probe. Where no collection arrives, hardly any case can run. `log`: last lines of a launched edge.
fn judge(spec: &Spec, found: &CaseFindings, log: Option<&str>) -> SanityResult {
    if !found.arrivals.is_empty() {
        return SanityResult::Usable;
    }
    let Some(exchange) = found.sent.first() else {
        return SanityResult::Unusable("no collection was sent".into());
    };
    let wrote = match log {
        Some("") => "\nit wrote nothing to its log".to_owned(),
        Some(lines) => format!("\nits last log lines:{lines}"),
        None => String::new(),
    };
    let answer = match &exchange.sent.reply {
        Ok(answer) => answer,
        Err(why) => {
            return SanityResult::Unusable(format!("the edge does not answer a collection: {why}{wrote}"));
        }
    };
    let answered = format!("it answers {} {}", answer.status, excerpt(&answer.body));
    if !is_edge_answer(spec, answer) {
        return SanityResult::Unusable(format!(
            "the collection did not reach the mock service, and the answer is not that of an edge: {answered}. Check that \
             this address is an edge of this interface{wrote}"
        ));
    }
    let advice = match log {
        Some(_) => {
            "Check that it posts to SERVICE_URL, trusts the CA in SERVICE_CA_FILE, and can read EDGE_CLIENT_CERT_FILE and \
             EDGE_CLIENT_KEY_FILE"
        }
        None => {
            "Point its SERVICE_URL, SERVICE_CA_FILE, EDGE_CLIENT_CERT_FILE and EDGE_CLIENT_KEY_FILE at the settings that \
             `edgeproof mint edge-settings` wrote, check that the edge's machine can reach the mock service, and restart the \
             edge; or use --no-service"
        }
    };
    SanityResult::Unusable(format!(
        "this edge does not reach the mock service: {answered}, and no collection arrived. {advice}{wrote}"
    ))
}

/// Whether the interface gives an edge this answer.
pub(super) fn is_edge_answer(spec: &Spec, answer: &Answer) -> bool {
    let Ok(body) = serde_json::from_slice::<Value>(&answer.body) else { return false };
    spec.table(Table::Edge).any(|row| match &row.fact {
        Fact::Answer { body: Some(shape), .. } => has_shape(shape, &body),
        _ => false,
    })
}

/// Whether a body has the members of a row's body, and its texts except placeholders such as `<reason>`.
fn has_shape(shape: &Value, body: &Value) -> bool {
    match (shape, body) {
        (Value::Object(shape), Value::Object(body)) => {
            shape.len() == body.len()
                && shape.iter().all(|(key, shape)| body.get(key).is_some_and(|body| has_shape(shape, body)))
        }
        (Value::String(shape), _) if shape.starts_with('<') => true,
        (shape, body) => shape == body,
    }
}
