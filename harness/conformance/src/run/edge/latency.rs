use std::time::Duration;

use edgeproof_mock::Script;
use edgeproof_reports::{AddedLatency, CaseLevel};
use tokio::time::timeout;

use super::pool::EdgePool;
use crate::cases::collection;
use crate::run::runner_context::RunnerContext;

/// Number of measured collections. As many are sent before them to warm up.
const SAMPLES: usize = 64;

/// Measures the latency that an edge adds: its round trip less the mock service's share. Sends one collection after the
/// other over one connection, while nothing else runs.
pub(super) async fn measure(pool: &EdgePool, context: &RunnerContext) -> Option<AddedLatency> {
    let lease = pool.lease_standard().await.ok()?;
    lease.instance.context.service.as_ref()?;
    let mut case = lease.instance.case_context("latency", CaseLevel::Open, false, context.request_timeout());
    case.script(Script::accept(&pool.options().profile));
    let drafts = vec![case.fill(&collection()); 2 * SAMPLES];
    let sending = case.exchange_in_turn(&drafts);
    // A slow edge gets no figure: it must not delay the end of the run.
    let sent = timeout(context.options.case_timeout, sending).await.ok()?;
    let arrivals = case.arrivals();
    if arrivals.len() != sent.len() {
        return None;
    }
    let mut added: Vec<Duration> = Vec::new();
    for (sent, arrival) in sent.iter().zip(&arrivals).skip(SAMPLES) {
        sent.reply.as_ref().ok()?;
        added.push(sent.took.saturating_sub(arrival.answered?.duration_since(arrival.at)));
    }
    added.sort();
    let percentile = |share: f64| {
        let index = ((added.len() - 1) as f64 * share) as usize;
        u64::try_from(added[index].as_micros()).unwrap_or(u64::MAX)
    };
    let measured =
        || AddedLatency { samples: added.len(), p50_us: percentile(0.5), p99_us: percentile(0.99) };
    (!added.is_empty()).then(measured)
}
