use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};

use super::EdgeTarget;

/// Starts edges with the settings of a case, each in its first state. Each start stops the edge before it.
#[derive(Debug, Clone)]
pub struct FreshEdges(mpsc::UnboundedSender<FreshEdgeRequest>);

/// A request for a new edge. None: it did not start.
pub type FreshEdgeRequest = oneshot::Sender<Option<Arc<EdgeTarget>>>;

impl FreshEdges {
    /// A starter, and the requests that the run has to answer.
    pub fn channel() -> (Self, mpsc::UnboundedReceiver<FreshEdgeRequest>) {
        let (sender, requests) = mpsc::unbounded_channel();
        (Self(sender), requests)
    }

    /// Starts an edge. None: it does not start.
    pub async fn start(&self) -> Option<Arc<EdgeTarget>> {
        let (reply, edge) = oneshot::channel();
        self.0.send(reply).ok()?;
        edge.await.ok().flatten()
    }
}
