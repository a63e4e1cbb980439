use std::future::{self, Future};
use std::sync::Arc;

use edgeproof_reports::{AddedLatency, CaseReport};
use tokio::sync::Semaphore;

use super::edge_pool::EdgePool;
use super::edge_sanity::{self, SanityResult};
use super::latency;
use super::play::Player;
use crate::cases::Case;

/// Where cases are played: the edges of a edge_pool, or the runner of a service. Plan, tally, pins, baseline and reports do
/// not know the difference.
pub trait Runner: Sized + Send + Sync + 'static {
    /// Whether anything can be proven here, found out before any case.
    fn sanity(player: &Player<Self>) -> impl Future<Output = SanityResult> + Send;

    /// Plays a case once, when a job is free.
    fn play_once(
        player: &Player<Self>,
        case: &Arc<Case>,
        jobs: &Semaphore,
    ) -> impl Future<Output = CaseReport> + Send;

    /// Latency that the target adds, where both of its sides are seen.
    fn added_latency(_player: &Player<Self>) -> impl Future<Output = Option<AddedLatency>> + Send {
        future::ready(None)
    }
}

impl Runner for EdgePool {
    async fn sanity(player: &Player<Self>) -> SanityResult {
        edge_sanity::of_edges(player).await
    }

    async fn play_once(player: &Player<Self>, case: &Arc<Case>, jobs: &Semaphore) -> CaseReport {
        player.play_on_an_edge(case, jobs).await
    }

    async fn added_latency(player: &Player<Self>) -> Option<AddedLatency> {
        latency::measure(player).await
    }
}
