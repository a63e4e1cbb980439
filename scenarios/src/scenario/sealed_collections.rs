use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use edgeproof_fixtures::seal::{Collection as Contents, SealPublicKey, Sealer};
use parking_lot::{Condvar, Mutex};
use rustix::time::{ClockId, clock_gettime};
use tokio::sync::Notify;

use super::opaque_collections::{OpaqueCollections, OutgoingCollection};
use crate::plan::Shard;

/// Collections sealed in advance on separate threads, so that sealing delays no request. Dropping it ends the
/// threads.
#[derive(Debug)]
pub struct SealedCollections {
    queue: Arc<SealQueue>,
    threads: Vec<JoinHandle<()>>,
}

/// The cost of sealing.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SealingCost {
    /// Sealed collections.
    pub sealed: u64,
    /// CPU time per collection.
    pub each: Duration,
    /// Collections used.
    pub taken: u64,
    /// Collections that were not ready when needed: the generator delayed their requests.
    pub not_in_time: u64,
}

#[derive(Debug)]
struct SealQueue {
    names: OpaqueCollections,
    shard: Shard,
    capacity: usize,
    ready: Mutex<VecDeque<OutgoingCollection>>,
    /// Signals free capacity.
    room: Condvar,
    /// Signals a new collection.
    more: Notify,
    ended: AtomicBool,
    begun: AtomicU64,
    sealed: AtomicU64,
    nanos: AtomicU64,
    taken: AtomicU64,
    not_in_time: AtomicU64,
}

impl SealedCollections {
    /// Starts sealing for this key. Shards never share a reference.
    pub fn start(
        key: &SealPublicKey,
        names: OpaqueCollections,
        shard: Shard,
        capacity: usize,
    ) -> std::io::Result<Self> {
        let queue = Arc::new(SealQueue {
            names,
            shard,
            capacity: capacity.max(1),
            ready: Mutex::new(VecDeque::with_capacity(capacity)),
            room: Condvar::new(),
            more: Notify::new(),
            ended: AtomicBool::new(false),
            begun: AtomicU64::new(0),
            sealed: AtomicU64::new(0),
            nanos: AtomicU64::new(0),
            taken: AtomicU64::new(0),
            not_in_time: AtomicU64::new(0),
        });
        let threads = std::thread::available_parallelism().map_or(1, |count| count.get() / 2).max(1);
        let start = |_| {
            let (queue, sealer) = (Arc::clone(&queue), Sealer::new(key.clone()));
            std::thread::Builder::new().name("sealer".into()).spawn(move || queue.seal_on(&sealer))
        };
        let threads = (0..threads).map(start).collect::<std::io::Result<_>>()?;
        Ok(Self { queue, threads })
    }

    /// Waits until the queue is full.
    pub async fn filled(&self) {
        loop {
            let more = self.queue.more.notified();
            if self.queue.ready.lock().len() >= self.queue.capacity {
                return;
            }
            more.await;
        }
    }

    /// The next collection. Waits, and counts the wait, if none is ready.
    pub async fn take(&self) -> OutgoingCollection {
        self.queue.taken.fetch_add(1, Ordering::Relaxed);
        let mut waited = false;
        loop {
            let more = self.queue.more.notified();
            if let Some(collection) = self.queue.ready.lock().pop_front() {
                self.queue.room.notify_one();
                return collection;
            }
            if !waited {
                waited = true;
                self.queue.not_in_time.fetch_add(1, Ordering::Relaxed);
            }
            more.await;
        }
    }

    /// The cost so far.
    pub fn cost(&self) -> SealingCost {
        let sealed = self.queue.sealed.load(Ordering::Relaxed);
        SealingCost {
            sealed,
            each: Duration::from_nanos(self.queue.nanos.load(Ordering::Relaxed) / sealed.max(1)),
            taken: self.queue.taken.load(Ordering::Relaxed),
            not_in_time: self.queue.not_in_time.load(Ordering::Relaxed),
        }
    }

    /// Resets the counters at the start of the run.
    pub fn begin(&self) {
        self.queue.taken.store(0, Ordering::Relaxed);
        self.queue.not_in_time.store(0, Ordering::Relaxed);
    }
}

impl Drop for SealedCollections {
    fn drop(&mut self) {
        {
            // Set under the lock, so that no thread misses it between its check and its wait.
            let _ready = self.queue.ready.lock();
            self.queue.ended.store(true, Ordering::Release);
        }
        self.queue.room.notify_all();
        for thread in self.threads.drain(..) {
            // A thread that panicked has ended as well.
            let _ = thread.join();
        }
    }
}

impl SealQueue {
    fn seal_on(&self, sealer: &Sealer) {
        while self.has_room() {
            let number = self.shard.number(self.begun.fetch_add(1, Ordering::Relaxed));
            let before = thread_time();
            let reference = self.names.reference(number);
            let contents = Contents::generated(reference.clone(), number, SystemTime::now());
            let body = Bytes::from(sealer.seal(&contents));
            let took = thread_time().saturating_sub(before);
            self.nanos.fetch_add(took.as_nanos() as u64, Ordering::Relaxed);
            self.sealed.fetch_add(1, Ordering::Relaxed);
            self.ready.lock().push_back(OutgoingCollection { reference, body });
            self.more.notify_waiters();
        }
    }

    /// Waits for free capacity; false when the queue is dropped.
    fn has_room(&self) -> bool {
        let mut ready = self.ready.lock();
        loop {
            if self.ended.load(Ordering::Acquire) {
                return false;
            }
            if ready.len() < self.capacity {
                return true;
            }
            self.room.wait(&mut ready);
        }
    }
}

fn thread_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
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
        let cost = one.cost();
        assert!(cost.each > Duration::ZERO && cost.sealed >= 10 && cost.taken == 10, "{cost:?}");
    }
}
