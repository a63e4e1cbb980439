//! Fault hooks of an edge that mishandles one value of the model of variation. Many values, such as the pieces of a head,
//! are invisible to an edge's hooks, so the run announces the exchanges with the value.

use std::sync::Arc;

use bytes::Bytes;
use edgeproof_edge::{EdgeAction, EdgeAnswer, EdgeFaultHooks, EdgeRequest, RelayResult};
use http::StatusCode;
use http::header::{ACCESS_CONTROL_ALLOW_ORIGIN, ORIGIN};
use memchr::memmem;
use parking_lot::Mutex;

use crate::mutation::VariationFault;

/// Markers of announced exchanges.
#[derive(Debug, Default)]
pub(super) struct Announced(Mutex<Vec<String>>);

/// Edge that mishandles the announced exchanges.
#[derive(Debug)]
pub(super) struct VariationMutant {
    pub(super) fault: VariationFault,
    pub(super) announced: Arc<Announced>,
    /// Path of the health check.
    pub(super) health: String,
}

impl Announced {
    pub(super) fn add(&self, marker: &str) {
        self.0.lock().push(marker.to_owned());
    }

    /// Whether an exchange was announced.
    fn is_any(&self) -> bool {
        !self.0.lock().is_empty()
    }

    fn concerns(&self, body: &[u8]) -> bool {
        // A case announces hundreds of exchanges, and some bodies are large.
        self.0.lock().iter().any(|marker| memmem::find(body, marker.as_bytes()).is_some())
    }
}

impl EdgeFaultHooks for VariationMutant {
    fn body(&self, _request: &EdgeRequest<'_>, body: Bytes) -> Result<Bytes, Box<EdgeAnswer>> {
        if self.fault == VariationFault::ChangesBody && self.announced.concerns(&body) {
            return Ok([&body[..], b" "].concat().into());
        }
        Ok(body)
    }

    fn conclude(
        &self,
        request: &EdgeRequest<'_>,
        _relayed: Option<&RelayResult>,
        mut right: EdgeAnswer,
    ) -> EdgeAction {
        let health = matches!(self.fault, VariationFault::FailsHealth | VariationFault::SilencesHealth);
        if health {
            if !self.announced.is_any() || request.facts.path != self.health {
                return EdgeAction::Answer(right);
            }
            if self.fault == VariationFault::SilencesHealth {
                return EdgeAction::Silence;
            }
            right.status = StatusCode::SERVICE_UNAVAILABLE;
            return EdgeAction::Answer(right);
        }
        if self.fault != VariationFault::ChangesBody
            && request.body.as_ref().is_some_and(|body| self.announced.concerns(body))
        {
            if let (VariationFault::GrantsOrigin, Some(origin)) = (self.fault, request.headers.get(ORIGIN)) {
                right.headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
            } else {
                right.status = StatusCode::INTERNAL_SERVER_ERROR;
                right.body = Bytes::from_static(br#"{"error":"internal"}"#);
            }
        }
        EdgeAction::Answer(right)
    }
}
