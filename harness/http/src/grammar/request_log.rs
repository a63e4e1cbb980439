use std::sync::Arc;

use parking_lot::Mutex;

use super::Violation;
use super::request_reader::RequestReader;

/// A rule of HTTP/1 that a request broke.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestViolation {
    /// Number of the connection on its listener, from 0.
    pub connection: u64,
    /// Number of the request on its connection, from 0. A request that cannot be read counts.
    pub request: usize,
    /// The rule, and what breaks it.
    pub violation: Violation,
}

/// Violations of the requests to one server.
#[derive(Debug, Clone, Default)]
pub(crate) struct RequestLog(Arc<Mutex<Vec<RequestViolation>>>);

/// Checks the requests on one connection.
pub(crate) struct RequestCheck {
    log: RequestLog,
    connection: u64,
    reader: RequestReader,
}

/// Maximum number of kept violations.
const MAX_KEPT: usize = 4096;

impl RequestLog {
    /// All of them, in the order of arrival.
    pub(crate) fn all(&self) -> Vec<RequestViolation> {
        self.0.lock().clone()
    }

    /// A check that adds the violations of this connection.
    pub(crate) fn of_connection(self, connection: u64) -> RequestCheck {
        RequestCheck { log: self, connection, reader: RequestReader::new() }
    }
}

impl RequestCheck {
    /// Checks received bytes.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let found = self.reader.push(bytes);
        if found.is_empty() {
            return;
        }
        let mut log = self.log.0.lock();
        let connection = self.connection;
        let found = found.into_iter();
        log.extend(found.map(|(request, violation)| RequestViolation { connection, request, violation }));
        log.truncate(MAX_KEPT);
    }
}
