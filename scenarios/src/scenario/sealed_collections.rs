use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use edgeproof_fixtures::seal::{Collection as Contents, SealPublicKey, Sealer};
use edgeproof_reports::load::Seal;
use parking_lot::Mutex;
use rustix::time::{ClockId, clock_gettime};
use tokio::sync::Semaphore;

use super::collections::{OpaqueCollections, OutgoingCollection};
use crate::plan::Shard;

/// Collections sealed in advance on separate threads, so that sealing delays no request. Dropping it ends the
/// threads.
#[derive(Debug)]
pub struct SealedCollections {
    ready: Mutex<mpsc::Receiver<OutgoingCollection>>,
    capacity: usize,
    threads: Vec<JoinHandle<()>>,
    sealing: Arc<Sealing>,
    /// Collections that were not ready when needed: the generator delayed their requests.
    not_in_time: AtomicU64,
}

/// What the threads share.
#[derive(Debug)]
struct Sealing {
    names: OpaqueCollections,
    shard: Shard,
    /// A permit for each collection in the queue.
    available: Semaphore,
    begun: AtomicU64,
    nanos: AtomicU64,
}

/// Time between two looks at the queue before a run.
const LOOK: Duration = Duration::from_millis(1);

impl SealedCollections {
    /// Starts sealing for this key. Shards never share a reference.
    pub fn start(
        key: &SealPublicKey,
        names: OpaqueCollections,
        shard: Shard,
        capacity: usize,
    ) -> std::io::Result<Self> {
        let (queue, ready) = mpsc::sync_channel(capacity);
        let [begun, nanos] = [0; 2].map(AtomicU64::new);
        let sealing = Arc::new(Sealing { names, shard, available: Semaphore::new(0), begun, nanos });
        let threads = thread::available_parallelism().map_or(1, |count| count.get() / 2).max(1);
        let start = |_| {
            let (sealing, queue, sealer) = (Arc::clone(&sealing), queue.clone(), Sealer::new(key.clone()));
            let seal = move || {
                // A closed queue ends the thread.
                while queue.send(sealing.seal(&sealer)).is_ok() {
                    sealing.available.add_permits(1);
                }
            };
            thread::Builder::new().name("sealer".into()).spawn(seal)
        };
        let threads = (0..threads).map(start).collect::<std::io::Result<_>>()?;
        Ok(Self { ready: Mutex::new(ready), capacity, threads, sealing, not_in_time: AtomicU64::new(0) })
    }

    /// Waits until the queue is full.
    pub async fn filled(&self) {
        while self.sealing.available.available_permits() < self.capacity {
            tokio::time::sleep(LOOK).await;
        }
    }

    /// The next collection. Waits, and counts the wait, if none is ready.
    pub async fn take(&self) -> OutgoingCollection {
        let available = &self.sealing.available;
        if let Ok(one) = available.try_acquire() {
            one.forget();
        } else {
            self.not_in_time.fetch_add(1, Ordering::Relaxed);
            available.acquire().await.expect("it is never closed").forget();
        }
        self.ready.lock().recv().expect("each permit is a collection")
    }

    /// The cost so far: CPU time for each collection, and late collections.
    pub fn cost(&self) -> Seal {
        let [nanos, begun] = [&self.sealing.nanos, &self.sealing.begun].map(|of| of.load(Ordering::Relaxed));
        let cost_us = (nanos / begun.max(1)) as f64 / 1000.0;
        Seal::Real { cost_us, not_in_time: self.not_in_time.load(Ordering::Relaxed) }
    }

    /// Resets the count at the start of the run.
    pub fn begin(&self) {
        self.not_in_time.store(0, Ordering::Relaxed);
    }
}

impl Drop for SealedCollections {
    fn drop(&mut self) {
        // Closes the queue.
        *self.ready.get_mut() = mpsc::channel().1;
        for thread in self.threads.drain(..) {
            // A thread that panicked has ended as well.
            let _ = thread.join();
        }
    }
}

impl Sealing {
    fn seal(&self, sealer: &Sealer) -> OutgoingCollection {
        let number = self.shard.number(self.begun.fetch_add(1, Ordering::Relaxed));
        let before = thread_time();
        let reference = self.names.reference(number);
        let contents = Contents::generated(reference.clone(), number, SystemTime::now());
        let body = Bytes::from(sealer.seal(&contents));
        let took = thread_time().saturating_sub(before);
        self.nanos.fetch_add(took.as_nanos() as u64, Ordering::Relaxed);
        OutgoingCollection { reference, body }
    }
}

fn thread_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use edgeproof_fixtures::seal::{SealKeys, open};

    use super::*;

    #[tokio::test]
    async fn each_collection_is_unique_and_opens() {
        let keys = SealKeys::fresh();
        let start = |index| {
            let shard = Shard::new(index, 2).unwrap();
            SealedCollections::start(keys.current(), OpaqueCollections::new(7), shard, 4).unwrap()
        };
        let (one, other) = (start(0), start(1));
        one.filled().await;
        one.begin();
        let mut references = HashSet::new();
        for ahead in [&one, &other] {
            for _ in 0..10 {
                let collection = ahead.take().await;
                let opened = open(&collection.body, &keys).unwrap();
                assert_eq!(opened.contents.session_ref, collection.reference);
                assert!(references.insert(collection.reference));
            }
        }
        let Seal::Real { cost_us, not_in_time } = one.cost() else { panic!("collections are sealed") };
        assert!(cost_us > 0.0 && not_in_time <= 10, "{cost_us} µs, {not_in_time} not in time");
    }
}
