use std::io::Write;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

/// Writes log lines to an output that may be slow, full or closed, without blocking the caller.
#[derive(Clone)]
pub struct LogWriter(SyncSender<String>);

/// Handle that waits until all log lines are written.
pub struct LogEnd(Receiver<()>);

/// Longest wait for a slow reader at the end.
const END_TIMEOUT: Duration = Duration::from_secs(1);

/// Lines that wait for a slow reader; more are dropped.
const QUEUE_LENGTH: usize = 4096;

impl LogWriter {
    /// Starts a thread that writes and flushes each line.
    pub fn start(mut output: impl Write + Send + 'static) -> (Self, LogEnd) {
        let (done, end) = sync_channel(0);
        let (lines, received) = sync_channel::<String>(QUEUE_LENGTH);
        std::thread::spawn(move || {
            for line in received {
                // A closed output wants no log.
                let _ = output.write_all(line.as_bytes()).and_then(|()| output.flush());
            }
            drop::<SyncSender<()>>(done);
        });
        (Self(lines), LogEnd(end))
    }

    /// Queues a line, given without its line end.
    pub fn write(&self, line: impl Into<String>) {
        // Dropped if the queue is full or the output closed: the program goes on.
        let _ = self.0.try_send(line.into() + "\n");
    }
}

impl LogEnd {
    /// Waits until all lines are written, at most one second. Drop every [`LogWriter`] first.
    pub fn wait(self) {
        let _ = self.0.recv_timeout(END_TIMEOUT);
    }
}
