//! The log of `edgeproof mock`: a line of JSON for each request, on standard error.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use fixtures::spec::Spec;
use serde_json::{Value, json};

use crate::admin::{Hide, log_line};
use crate::mock::edge::LogSink;
use crate::mock::{Arrival, Observer};

/// Where log lines go. Who serves a request never waits for them.
#[derive(Clone)]
pub(super) struct Log {
    lines: Option<SyncSender<String>>,
    spec: Arc<Spec>,
    hide: Arc<Hide>,
}

/// Ends when every line is written.
pub(super) struct Written(Receiver<()>);

/// Time for lines that nobody reads, at the end.
const PATIENCE: Duration = Duration::from_secs(1);

/// Lines that wait for whoever reads; further ones are not written.
const WAITING: usize = 4096;

impl Log {
    /// Writes nothing where it is quiet.
    pub(super) fn new(quiet: bool, spec: Arc<Spec>, hide: Arc<Hide>) -> (Self, Written) {
        let (done, written) = sync_channel(0);
        let lines = (!quiet).then(|| {
            let (lines, received) = sync_channel::<String>(WAITING);
            std::thread::spawn(move || {
                for line in received {
                    // Whoever closed it wants no log.
                    let _ = io::stderr().lock().write_all(line.as_bytes());
                }
                drop(done);
            });
            lines
        });
        (Self { lines, spec, hide }, Written(written))
    }

    /// Writes a line for each request to the service.
    pub(super) fn observer(&self) -> Option<Observer> {
        self.lines.as_ref()?;
        let log = self.clone();
        Some(Observer::new(move |arrival: &Arrival| log.write(&log_line(arrival, &log.spec, &log.hide))))
    }

    /// Takes the lines of the edge.
    pub(super) fn edge_sink(self) -> LogSink {
        LogSink::new(move |line| {
            let time = humantime::format_rfc3339_millis(std::time::SystemTime::now()).to_string();
            self.write(&json!({ "time": time, "endpoint": "edge", "message": self.hide.text(&line) }));
        })
    }

    fn write(&self, line: &Value) {
        if let Some(lines) = &self.lines {
            // Full or closed: the mock goes on.
            let _ = lines.try_send(format!("{line}\n"));
        }
    }
}

impl Written {
    /// Waits until what was logged is written; everything that logs has to be gone. Not for ever, for nobody may read.
    pub(super) fn wait(self) {
        let _ = self.0.recv_timeout(PATIENCE);
    }
}
