use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::{BuildHasher, RandomState};
use std::time::{Duration, Instant};

/// What a scripted service remembers; of everything only the latest, so that its memory is bounded.
#[derive(Debug)]
pub(super) struct Sessions {
    ready: HashMap<String, Instant>,
    order: VecDeque<String>,
    seen: HashSet<u64>,
    seen_order: VecDeque<u64>,
    took: HashMap<u64, Duration>,
    took_order: VecDeque<u64>,
    hasher: RandomState,
}

/// Sessions without a verdict yet that are remembered.
const SESSIONS: usize = 200_000;
/// Collections that are known again.
const SEEN: usize = 200_000;
/// Times that are remembered until they are asked for.
const TIMES: usize = 16_384;

impl Sessions {
    pub(super) fn new() -> Self {
        Self {
            ready: HashMap::new(),
            order: VecDeque::new(),
            seen: HashSet::new(),
            seen_order: VecDeque::new(),
            took: HashMap::new(),
            took_order: VecDeque::new(),
            hasher: RandomState::new(),
        }
    }

    /// Whether this collection was there before.
    pub(super) fn is_copy(&mut self, body: &[u8]) -> bool {
        let hash = self.hasher.hash_one(body);
        if !self.seen.insert(hash) {
            return true;
        }
        self.seen_order.push_back(hash);
        if self.seen_order.len() > SEEN
            && let Some(oldest) = self.seen_order.pop_front()
        {
            self.seen.remove(&oldest);
        }
        false
    }

    /// When the verdict of a session is there: at `ready`, unless it was known before.
    pub(super) fn ready(&mut self, reference: &str, ready: Instant) -> Instant {
        match self.ready.entry(reference.to_owned()) {
            Entry::Occupied(known) => return *known.get(),
            Entry::Vacant(place) => {
                place.insert(ready);
            }
        }
        self.order.push_back(reference.to_owned());
        while self.order.len() > SESSIONS {
            if let Some(oldest) = self.order.pop_front() {
                self.ready.remove(&oldest);
            }
        }
        ready
    }

    /// What the service took for a collection that is looked at.
    pub(super) fn took(&mut self, number: u64, time: Duration) {
        if self.took.insert(number, time).is_none() {
            self.took_order.push_back(number);
        }
        while self.took_order.len() > TIMES {
            if let Some(oldest) = self.took_order.pop_front() {
                self.took.remove(&oldest);
            }
        }
    }

    /// The same, for who asks; once.
    pub(super) fn take_time(&mut self, number: u64) -> Option<Duration> {
        self.took.remove(&number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_forgets_what_is_old() {
        let mut sessions = Sessions::new();
        let now = Instant::now();
        for number in 0..SESSIONS as u64 + 10 {
            sessions.ready(&number.to_string(), now);
            sessions.took(number, Duration::ZERO);
            assert!(!sessions.is_copy(&number.to_le_bytes()));
        }
        assert_eq!((sessions.ready.len(), sessions.seen.len(), sessions.took.len()), (SESSIONS, SEEN, TIMES));
        assert!(sessions.is_copy(&(SESSIONS as u64).to_le_bytes()));
        assert!(!sessions.is_copy(&0u64.to_le_bytes()));
        assert_eq!(sessions.ready("200005", now + Duration::from_secs(1)), now);
    }
}
