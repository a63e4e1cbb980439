//! The log of `edgeproof mock`: a line of JSON for each request, on standard error.

use std::io;
use std::sync::Arc;

use edgeproof_fixtures::spec::Spec;
use serde_json::{Value, json};

use edgeproof_cli::{Lines, Written};
use edgeproof_edge::LogSink;
use edgeproof_mock::admin::{TokenRedactor, log_line};
use edgeproof_mock::{Arrival, Observer};

/// Where log lines go.
#[derive(Clone)]
pub(super) struct Log {
    lines: Option<Lines>,
    spec: Arc<Spec>,
    redactor: Arc<TokenRedactor>,
}

impl Log {
    /// Writes nothing where it is quiet.
    pub(super) fn new(quiet: bool, spec: Arc<Spec>, redactor: Arc<TokenRedactor>) -> (Self, Option<Written>) {
        let (lines, written) = (!quiet).then(|| Lines::to(io::stderr())).unzip();
        (Self { lines, spec, redactor }, written)
    }

    /// Writes a line for each request to the service.
    pub(super) fn observer(&self) -> Option<Observer> {
        self.lines.as_ref()?;
        let log = self.clone();
        Some(Observer::new(move |arrival: &Arrival| log.write(&log_line(arrival, &log.spec, &log.redactor))))
    }

    /// Takes the lines of the edge.
    pub(super) fn edge_sink(self) -> LogSink {
        LogSink::new(move |line| {
            let time = humantime::format_rfc3339_millis(std::time::SystemTime::now()).to_string();
            self.write(&json!({ "time": time, "endpoint": "edge", "message": self.redactor.text(&line) }));
        })
    }

    fn write(&self, line: &Value) {
        if let Some(lines) = &self.lines {
            lines.write(line.to_string());
        }
    }
}
