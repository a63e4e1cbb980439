//! Lines of a log, on their way to an output that may be slow, full or closed.

use std::io::Write;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

/// Where log lines go. Who hands one over never waits: who serves a request has better things to do.
#[derive(Clone)]
pub struct Lines(SyncSender<String>);

/// Ends when every line is written.
pub struct Written(Receiver<()>);

/// Time for lines that nobody reads, at the end.
const PATIENCE: Duration = Duration::from_secs(1);

/// Lines that wait for whoever reads; further ones are not written.
const WAITING: usize = 4096;

impl Lines {
    /// Lines that are written to this output, each at once.
    pub fn to(mut output: impl Write + Send + 'static) -> (Self, Written) {
        let (done, written) = sync_channel(0);
        let (lines, received) = sync_channel::<String>(WAITING);
        std::thread::spawn(move || {
            for line in received {
                // Whoever closed it wants no log.
                let _ = output.write_all(line.as_bytes()).and_then(|()| output.flush());
            }
            drop::<SyncSender<()>>(done);
        });
        (Self(lines), Written(written))
    }

    /// Hands a line over, without its end.
    pub fn write(&self, line: impl Into<String>) {
        // Full or closed: the work goes on.
        let _ = self.0.try_send(line.into() + "\n");
    }
}

impl Written {
    /// Waits until what was logged is written; everything that logs has to be gone. Not for ever, for nobody may read.
    pub fn wait(self) {
        let _ = self.0.recv_timeout(PATIENCE);
    }
}
