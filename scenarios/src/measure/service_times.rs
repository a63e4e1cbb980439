use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

use std::time::Duration;

use parking_lot::Mutex;

/// One request in this many is sampled for the service's own time.
pub const SAMPLED: u64 = 16;

/// The service's own time for sampled collections, by the hash of the body. An entry is removed when it is
/// taken.
#[derive(Debug, Default)]
pub struct ServiceTimes {
    hasher: RandomState,
    tracked: Mutex<HashMap<u64, Option<Duration>>>,
}

impl ServiceTimes {
    /// Tracks a collection that is about to be sent, and returns its key.
    pub fn track(&self, body: &[u8]) -> u64 {
        let key = self.hasher.hash_one(body);
        self.tracked.lock().insert(key, None);
        key
    }

    /// Removes and returns the service's time; `None` if the collection did not arrive.
    pub fn take(&self, key: u64) -> Option<Duration> {
        self.tracked.lock().remove(&key).flatten()
    }

    /// Records the time for a collection, if it is tracked.
    pub fn record(&self, body: &[u8], took: Duration) {
        if self.tracked.lock().is_empty() {
            return;
        }
        let key = self.hasher.hash_one(body);
        if let Some(place) = self.tracked.lock().get_mut(&key) {
            *place = Some(took);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_tracked_collections_are_stored() {
        let times = ServiceTimes::default();
        let took = Duration::from_millis(3);
        times.record(b"a", took);
        let (a, b) = (times.track(b"a"), times.track(b"b"));
        times.record(b"a", took);
        times.record(b"c", took);
        assert_eq!((times.take(a), times.take(a), times.take(b)), (Some(took), None, None));
        assert!(times.tracked.lock().is_empty());
    }
}
