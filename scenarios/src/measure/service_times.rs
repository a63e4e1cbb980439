use std::collections::HashMap;
use std::time::Duration;

use bytes::Bytes;
use parking_lot::Mutex;

/// One request in this many is sampled for the service's own time.
pub const SAMPLED: u64 = 16;

/// The service's own time for sampled collections, by their body. An entry is removed when it is taken.
#[derive(Debug, Default)]
pub struct ServiceTimes(Mutex<HashMap<Bytes, Option<Duration>>>);

impl ServiceTimes {
    /// Tracks a collection that is about to be sent.
    pub fn track(&self, body: &Bytes) {
        self.0.lock().insert(body.clone(), None);
    }

    /// Removes and returns the service's time; `None` if the collection did not arrive.
    pub fn take(&self, body: &[u8]) -> Option<Duration> {
        self.0.lock().remove(body).flatten()
    }

    /// Records the time for a collection, if it is tracked.
    pub fn record(&self, body: &[u8], took: Duration) {
        if let Some(place) = self.0.lock().get_mut(body) {
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
        let [a, b] = ["a", "b"].map(Bytes::from);
        times.track(&a);
        times.track(&b);
        times.record(b"a", took);
        times.record(b"c", took);
        assert_eq!((times.take(&a), times.take(&a), times.take(&b)), (Some(took), None, None));
        assert!(times.0.lock().is_empty());
    }
}
