use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};

use edgeproof_fixtures::spec::VerdictPath;
use edgeproof_http::{Draft, Sent};
use edgeproof_reports::{CaseLevel, Hop};
use parking_lot::Mutex;
use percent_encoding::percent_decode_str;

/// All exchanges with one service and its key set during a run.
#[derive(Debug, Default)]
pub struct ServiceTraffic {
    exchanges: Mutex<Vec<ServiceExchange>>,
    sessions: Mutex<BTreeSet<String>>,
    key_changes: AtomicU64,
}

/// A request to a service or a key set, with its answer.
#[derive(Debug, Clone)]
pub struct ServiceExchange {
    /// Id of the case, or what the run itself did.
    pub case: String,
    /// Level of the case, or a weaker one of this request.
    pub level: CaseLevel,
    /// Sender and receiver.
    pub hop: Hop,
    /// The request as drafted.
    pub draft: Draft,
    /// Request and answer.
    pub sent: Sent,
    /// The change of keys before it; 0 without one.
    pub key_change: u64,
}

impl ServiceTraffic {
    /// Records an exchange.
    pub fn push(&self, exchange: ServiceExchange) {
        self.exchanges.lock().push(exchange);
    }

    /// Records that there is a session with this reference, of any license and any age.
    pub fn note_session(&self, reference: &str) {
        self.sessions.lock().insert(reference.to_owned());
    }

    /// Number of a change of the keys that a case asked for, from 1.
    pub fn change_keys(&self) -> u64 {
        self.key_changes.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Number of exchanges so far.
    pub fn count(&self) -> usize {
        self.exchanges.lock().len()
    }

    /// All exchanges so far.
    pub fn exchanges(&self) -> Vec<ServiceExchange> {
        self.exchanges.lock().clone()
    }

    /// The references of all sessions.
    pub fn sessions(&self) -> BTreeSet<String> {
        self.sessions.lock().clone()
    }
}

impl ServiceExchange {
    /// Decoded session reference. None: not a request for a verdict.
    pub fn reference(&self, verdict: &VerdictPath) -> Option<String> {
        let path = self.draft.path.split('?').next().unwrap_or_default();
        let written = path.strip_prefix(verdict.prefix())?;
        Some(percent_decode_str(written).decode_utf8_lossy().into_owned())
    }

    /// The request carries `Authorization`.
    pub fn has_authorization(&self) -> bool {
        self.draft.header_value("authorization").is_some()
    }
}
