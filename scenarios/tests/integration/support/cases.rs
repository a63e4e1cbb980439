use std::collections::VecDeque;
use std::thread;

use parking_lot::Mutex;

/// Cases that are played at a time.
const PARALLEL: usize = 4;

/// Cases that mostly wait: one test plays several at a time. A thread with the name of the case plays it, so the
/// message of a failure names the case.
#[derive(Default)]
pub(crate) struct Cases(VecDeque<(String, Box<dyn FnOnce() + Send>)>);

impl Cases {
    pub(crate) fn case(mut self, name: impl Into<String>, case: impl FnOnce() + Send + 'static) -> Self {
        self.0.push_back((name.into(), Box::new(case)));
        self
    }

    /// Plays all cases, the first ones first. Fails after all have ended.
    pub(crate) fn play(self) {
        let (waiting, failed) = (Mutex::new(self.0), Mutex::new(Vec::new()));
        let take = || waiting.lock().pop_front();
        thread::scope(|scope| {
            for _ in 0..PARALLEL {
                thread::Builder::new()
                    .spawn_scoped(scope, || {
                        while let Some((name, case)) = take() {
                            let case = thread::Builder::new().name(name.clone()).spawn(case).unwrap();
                            if case.join().is_err() {
                                failed.lock().push(name);
                            }
                        }
                    })
                    .unwrap();
            }
        });
        let failed = failed.into_inner();
        assert!(failed.is_empty(), "failed, with the messages above: {failed:#?}");
    }
}

/// Plays an asynchronous case. Its servers run on other threads.
pub(crate) fn block_on<T>(case: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap().block_on(case)
}
