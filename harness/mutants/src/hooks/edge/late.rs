use std::sync::atomic::{AtomicU32, Ordering};

use bytes::Bytes;
use edgeproof_edge::{
    EdgeAction, EdgeAnswer, EdgeDecision, EdgeFaultHooks, EdgeRequest, NoEdgeFaults, RelayResult,
};

use super::state::EdgeMutant;

/// Collections that the edge handles correctly.
const CORRECT: u32 = 5;

/// Fault hooks of an edge that behaves correctly at first. Settings and log destination, which are read at start, stay
/// correct.
#[derive(Debug)]
pub(super) struct LateEdgeMutant {
    mutant: EdgeMutant,
    /// Collections so far.
    collections: AtomicU32,
}

impl LateEdgeMutant {
    pub(super) fn new(mutant: EdgeMutant) -> Self {
        Self { mutant, collections: AtomicU32::new(0) }
    }

    /// The hooks in effect now.
    fn active(&self) -> &dyn EdgeFaultHooks {
        if self.collections.load(Ordering::Relaxed) > CORRECT { &self.mutant } else { &NoEdgeFaults }
    }
}

impl EdgeFaultHooks for LateEdgeMutant {
    fn decide(&self, request: &EdgeRequest<'_>, right: EdgeDecision) -> EdgeDecision {
        if right == EdgeDecision::Relay {
            self.collections.fetch_add(1, Ordering::Relaxed);
        }
        self.active().decide(request, right)
    }

    fn partial_body(&self, part: Bytes) -> Option<Bytes> {
        self.active().partial_body(part)
    }

    fn body(&self, request: &EdgeRequest<'_>, body: Bytes) -> Result<Bytes, Box<EdgeAnswer>> {
        self.active().body(request, body)
    }

    fn before(&self, body: &Bytes) -> Option<Bytes> {
        self.active().before(body)
    }

    fn again(&self, times: u32, relayed: &RelayResult) -> bool {
        self.active().again(times, relayed)
    }

    fn conclude(
        &self,
        request: &EdgeRequest<'_>,
        relayed: Option<&RelayResult>,
        right: EdgeAnswer,
    ) -> EdgeAction {
        self.active().conclude(request, relayed, right)
    }
}
