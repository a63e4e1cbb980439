use std::sync::{Arc, mpsc};
use std::time::Instant;

use super::workload::Workload;

/// The thread that releases the operations of a workload. Dropping it stops the thread.
pub(super) struct Pacer {
    stop: Option<mpsc::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Pacer {
    pub(super) fn start(workload: Arc<Workload>, started: Instant) -> std::io::Result<Self> {
        let (stop, stopped) = mpsc::channel();
        let thread = std::thread::Builder::new()
            .name("pacer".into())
            .spawn(move || workload.pace(started, &stopped))?;
        Ok(Self { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Pacer {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // The thread ends as soon as its channel is closed.
            let _ = thread.join();
        }
    }
}
