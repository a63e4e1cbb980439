use std::time::Duration;

use edgeproof_reports::{AddedLatency, CaseLevel as Level};
use tokio::time::timeout;

use super::edge_pool::EdgePool;
use super::play::Player;
use crate::cases::collection;
use crate::target::Setup;
use edgeproof_mock::Script;

/// Collections that are measured, after as many again that only warm up.
const SAMPLES: usize = 64;

/// Latency that the edge adds, one collection after the other over one connection, when nothing else runs: what
/// passes between sending and answer, less what the mock service took of it.
pub(super) async fn measure(player: &Player<EdgePool>) -> Option<AddedLatency> {
    let lease = player.runner.lease(player.runner.reserve(Setup::Standard, false).await).await.ok()?;
    lease.instance.context.service.as_ref()?;
    let mut context = player.context(&lease.instance, false, Level::Open);
    context.script(Script::accept(&player.runner.options().profile));
    let draft = context.fill(&collection());
    let drafts = vec![draft; 2 * SAMPLES];
    let sending = edgeproof_http::send_in_turn(&lease.instance.context.endpoint, &drafts, context.timeout);
    // An edge that is slow is not measured: the run does not wait for a figure.
    let sent = timeout(player.options.case_timeout, sending).await.ok()?;
    let arrivals = context.arrivals();
    if arrivals.len() != sent.len() {
        return None;
    }
    let mut added: Vec<Duration> = Vec::new();
    for (sent, arrival) in sent.iter().zip(&arrivals).skip(SAMPLES) {
        sent.reply.as_ref().ok()?;
        added.push(sent.took.saturating_sub(arrival.answered?.duration_since(arrival.at)));
    }
    added.sort();
    let at = |share: f64| {
        u64::try_from(added[((added.len() - 1) as f64 * share) as usize].as_micros()).unwrap_or(u64::MAX)
    };
    (!added.is_empty()).then(|| AddedLatency { samples: added.len(), p50_us: at(0.5), p99_us: at(0.99) })
}
