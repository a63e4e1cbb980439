use edgeproof_fixtures::credentials::Redactor;
use edgeproof_fixtures::spec::Spec;
use edgeproof_http::NoAnswer;
use edgeproof_launch::LogTail;
use edgeproof_mock::Script;
use edgeproof_reports::CaseLevel;
use edgeproof_reports::difference::{DeathEvidence, LastExchange, ProcessDeath, Wire};
use edgeproof_targets::RunningEdge;

use super::edge_answer::is_edge_answer;
use super::foreign::check_foreign;
use super::lease_error::LeaseError;
use super::pool::EdgePool;
use super::pool_options::EdgeUpstream;
use crate::cases::{CaseFindings, Edge, EdgeNeed, collection};
use crate::judge::{silence, status_and_body};
use crate::run::reason_probe::{hides_reason, reason_probes};
use crate::run::runner::{Limitation, SanityResult};
use crate::run::runner_context::RunnerContext;
use std::time::Duration;
use tokio::time::timeout;

/// Longest wait for the exit of an edge that broke the connection.
const EXIT_TIMEOUT: Duration = Duration::from_secs(1);
/// Longest wait for a first line of the log of an edge that reaches no service.
const LOG_TIMEOUT: Duration = Duration::from_secs(1);
/// Lines of a launched edge's log in a finding.
const LOG_SHOWN: usize = 8;

/// Finds out whether an edge can be judged, also where the filters leave out the case `sanity.first`.
pub(super) async fn check_edges(pool: &EdgePool, context: &RunnerContext) -> SanityResult<EdgeNeed> {
    if let EdgeUpstream::Foreign { intended, origin } = &pool.options().upstream {
        return check_foreign(pool, context, *intended, origin.as_deref()).await;
    }
    let probed = match probe(pool, context).await {
        Ok(Probe { reached: true, .. }) => SanityResult::Usable,
        Ok(Probe { died: Some(death), found, .. }) => {
            SanityResult::Died { death: Box::new(death), found: Box::new(found) }
        }
        Ok(Probe { found, log, .. }) => judge(&pool.options().spec, &found, log.as_deref()),
        Err(why) => SanityResult::unusable_because(&why),
    };
    match probed {
        SanityResult::Usable => {}
        SanityResult::Unusable(why) => {
            return SanityResult::Unusable(with_renamed(&why, &pool.options().spec));
        }
        probed => return probed,
    }
    match reply_without_reasons(pool, context).await {
        Some(reply) => SanityResult::Limited(unread_reasons(&reply)),
        None => SanityResult::Usable,
    }
}

/// Result of the collections that precede all cases.
struct Probe {
    found: CaseFindings,
    /// A collection arrived at the mock service, changed or not: the cases judge the rest.
    reached: bool,
    /// How the edge died of the collection, if it did.
    died: Option<ProcessDeath>,
    /// Last lines of a launched edge's log.
    log: Option<String>,
}

/// Sends a collection that the mock service accepts, and another one if none arrives.
async fn probe(pool: &EdgePool, context: &RunnerContext) -> Result<Probe, LeaseError> {
    let lease = pool.lease_standard().await?;
    let edge = &lease.instance.edge;
    let mut tries = 0;
    loop {
        tries += 1;
        let mut case =
            lease.instance.case_context("probe", CaseLevel::Must, false, context.request_timeout());
        case.script(Script::accept(&pool.options().profile));
        let mark = case.service_mark();
        let sent = case.send(&collection()).await;
        let arrived =
            case.target.service.as_ref().map(|service| service.arrivals_since(mark)).unwrap_or_default();
        let reached = arrived.iter().any(|arrival| arrival.request.method == "POST");
        let found = case.end();
        context.pace.learn::<Edge>(&found);
        let died = if sent.reply.is_err() { death(edge).await } else { None };
        if reached && died.is_none() || died.is_some() || tries == 2 {
            let log = edge.log().filter(|_| edge.pid().is_some());
            if let Some(log) = log.filter(|_| !reached) {
                // Its lines can come later than its answer.
                log.wait(0, LOG_TIMEOUT, |lines| !lines.is_empty()).await;
            }
            let lines = log.map(|log| last_lines(log, &pool.options().redactor));
            let died = died.map(|evidence| ProcessDeath {
                evidence,
                after: LastExchange::FirstCollection,
                others: Vec::new(),
                is_replaced: false,
                log: lines.iter().flatten().map(Wire::from).collect(),
            });
            let log = lines.map(|lines| lines.iter().flat_map(|line| ["\n  | ", line]).collect());
            return Ok(Probe { found, reached: reached && died.is_none(), died, log });
        }
    }
}

/// How an edge died that answered before, if it did.
async fn death(edge: &RunningEdge) -> Option<DeathEvidence> {
    if edge.pid().is_some() {
        let exit = timeout(EXIT_TIMEOUT, edge.died()).await.ok().or_else(|| edge.exited());
        return exit.map(|exit| DeathEvidence::Exit(exit.status.to_string().into()));
    }
    match edge.probe(EXIT_TIMEOUT).await {
        Err(why @ NoAnswer::NotConnected(_)) => Some(DeathEvidence::Refused(silence(&why))),
        _ => None,
    }
}

/// The last lines of a log, redacted.
fn last_lines(log: &LogTail, redactor: &Redactor) -> Vec<String> {
    log.last(LOG_SHOWN).iter().map(|line| redactor.redact(&line.visible()).into_owned()).collect()
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
fn unread_reasons(reply: &str) -> Limitation<EdgeNeed> {
    let finding = format!(
        "the edge turns every reason of the mock service into `unknown`. The mock service replies {reply}; the edge \
         expects another shape. Describe the reply of your service with --reply-shape FILE, for example \
         {{\"code\":\"{{reason}}\"}}"
    );
    Limitation {
        finding,
        concerned: vec![EdgeNeed::PlainReasons],
        because: "the edge reads no reason of the mock service: see the finding",
    }
}

/// Why an edge is unusable, and what a tested version calls otherwise: an edge of the current version does not know it.
fn with_renamed(why: &str, spec: &Spec) -> String {
    let renamed = spec.renamed();
    if renamed.is_empty() {
        return why.to_owned();
    }
    let texts: Vec<String> =
        renamed.iter().map(|(before, now)| format!("{now} in place of {before}")).collect();
    let hint = format!("the version {} has {}: does this edge follow it?", spec.version(), texts.join(", "));
    // The other lines are the edge's own.
    let (first, rest) = why.split_at(why.find('\n').unwrap_or(why.len()));
    let first = spec.in_words(first);
    format!("{first}\n{hint}{rest}")
}

/// Judges a probe of which nothing arrived at the service: hardly any case can run. `log`: last lines of a launched edge.
fn judge(spec: &Spec, found: &CaseFindings, log: Option<&str>) -> SanityResult<EdgeNeed> {
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
    let answered = format!("it answers {}", status_and_body(answer));
    if !is_edge_answer(spec, answer) {
        let advice = match log {
            Some(_) => {
                "Check that the command starts an edge of this interface. If it is one, it failed to post to SERVICE_URL: \
                 check that it trusts the CA in SERVICE_CA_FILE"
            }
            None => "Check that this address is an edge of this interface",
        };
        return SanityResult::Unusable(format!(
            "the collection did not reach the mock service, and the answer is not that of an edge: {answered}. \
             {advice}{wrote}"
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
