use std::io;
use std::sync::Arc;
use std::time::SystemTime;

use edgeproof_cli::{LogEnd, LogWriter};
use edgeproof_edge::LogSink;
use edgeproof_fixtures::spec::Spec;
use edgeproof_mock::admin::{TokenRedactor, log_line};
use edgeproof_mock::{Arrival, Observer};
use serde_json::{Value, json};

/// Request log on standard error, one line of JSON for each request.
#[derive(Clone)]
pub(super) struct RequestLog {
    writer: Option<LogWriter>,
    spec: Arc<Spec>,
    redactor: Arc<TokenRedactor>,
}

impl RequestLog {
    /// `quiet`: logs nothing.
    pub(super) fn new(quiet: bool, spec: Arc<Spec>, redactor: Arc<TokenRedactor>) -> (Self, Option<LogEnd>) {
        let (writer, end) = (!quiet).then(|| LogWriter::start(io::stderr())).unzip();
        (Self { writer, spec, redactor }, end)
    }

    /// Logs each request to the service.
    pub(super) fn observer(&self) -> Option<Observer> {
        self.writer.as_ref()?;
        let log = self.clone();
        Some(Observer::new(move |arrival: &Arrival| log.write(&log_line(arrival, &log.spec, &log.redactor))))
    }

    /// Logs the lines of the edge.
    pub(super) fn edge_sink(self) -> LogSink {
        LogSink::new(move |line| {
            let time = humantime::format_rfc3339_millis(SystemTime::now()).to_string();
            self.write(&json!({ "time": time, "endpoint": "edge", "message": self.redactor.text(&line) }));
        })
    }

    fn write(&self, line: &Value) {
        if let Some(writer) = &self.writer {
            writer.write(line.to_string());
        }
    }
}
