use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// What the service took for some of the collections: those that somebody asked for, known by their bytes. It remembers
/// only what is asked for and not fetched yet.
#[derive(Debug, Default)]
pub struct Watch {
    hasher: RandomState,
    watched: Mutex<HashMap<u64, Option<Duration>>>,
}

impl Watch {
    /// Asks for this collection, before it is sent. What is asked for is to be fetched.
    pub fn ask(&self, body: &[u8]) -> u64 {
        let key = self.hasher.hash_one(body);
        self.watched().insert(key, None);
        key
    }

    /// What the service took; none if it never saw the collection.
    pub fn fetch(&self, key: u64) -> Option<Duration> {
        self.watched().remove(&key).flatten()
    }

    /// The service is through with a collection.
    pub(super) fn saw(&self, body: &[u8], took: Duration) {
        if self.watched().is_empty() {
            return;
        }
        let key = self.hasher.hash_one(body);
        if let Some(place) = self.watched().get_mut(&key) {
            *place = Some(took);
        }
    }

    fn watched(&self) -> MutexGuard<'_, HashMap<u64, Option<Duration>>> {
        // A panic elsewhere leaves nothing half done in here.
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_asked_for_is_remembered() {
        let watch = Watch::default();
        let took = Duration::from_millis(3);
        watch.saw(b"a", took);
        let (a, b) = (watch.ask(b"a"), watch.ask(b"b"));
        watch.saw(b"a", took);
        watch.saw(b"c", took);
        assert_eq!((watch.fetch(a), watch.fetch(a), watch.fetch(b)), (Some(took), None, None));
        assert!(watch.watched().is_empty());
    }
}
