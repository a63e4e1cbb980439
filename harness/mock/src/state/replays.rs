use std::collections::{HashMap, VecDeque};
use std::time::{Duration, SystemTime};

use edgeproof_fixtures::seal::ReplayId;
use parking_lot::Mutex;

use crate::decision::Replay;

/// The collections accepted within the replay window.
///
/// Its capacity bounds the memory, at about 150 bytes a collection. It evicts none within the window, as that would
/// admit a copy. At its capacity it refuses new collections with [`Admission::Full`].
#[derive(Debug)]
pub(crate) struct ReplayStore {
    window: Duration,
    capacity: usize,
    remembered: Mutex<Remembered>,
}

/// Result of admitting a collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Admission {
    /// Accepted: the store refuses copies from now on.
    Admitted,
    /// A copy was accepted before.
    Refused(Replay),
    /// The store is full.
    Full,
}

/// Identifies an edge, as far as the service can distinguish edges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EdgeId(pub(crate) u64);

#[derive(Debug, Default)]
struct Remembered {
    accepted: HashMap<ReplayId, Accepted>,
    /// Ids, oldest first.
    order: VecDeque<ReplayId>,
}

#[derive(Debug, Clone, Copy)]
struct Accepted {
    edge: EdgeId,
    at: SystemTime,
}

impl ReplayStore {
    pub(crate) fn new(window: Duration, capacity: usize) -> Self {
        Self { window, capacity, remembered: Mutex::default() }
    }

    /// Checks for an earlier copy.
    pub(crate) fn check(&self, id: &ReplayId, edge: EdgeId, now: SystemTime) -> Replay {
        self.judge(self.remembered.lock().accepted.get(id), edge, now)
    }

    /// Checks and remembers in one step, so that one of several simultaneous copies is admitted.
    pub(crate) fn admit(&self, id: ReplayId, edge: EdgeId, now: SystemTime) -> Admission {
        let mut remembered = self.remembered.lock();
        match self.judge(remembered.accepted.get(&id), edge, now) {
            Replay::Fresh => {}
            copy => return Admission::Refused(copy),
        }
        remembered.evict_expired(|accepted| self.is_expired(accepted, now));
        // After the clock moved back, an expired copy may still follow a later one.
        if let Some(accepted) = remembered.accepted.get_mut(&id) {
            *accepted = Accepted { edge, at: now };
            return Admission::Admitted;
        }
        if remembered.order.len() >= self.capacity {
            return Admission::Full;
        }
        remembered.accepted.insert(id, Accepted { edge, at: now });
        remembered.order.push_back(id);
        Admission::Admitted
    }

    pub(crate) fn clear(&self) {
        *self.remembered.lock() = Remembered::default();
    }

    fn judge(&self, accepted: Option<&Accepted>, edge: EdgeId, now: SystemTime) -> Replay {
        match accepted {
            None => Replay::Fresh,
            Some(accepted) if self.is_expired(accepted, now) => Replay::Fresh,
            Some(accepted) if accepted.edge == edge => Replay::Copy,
            Some(_) => Replay::CopyFromElsewhere,
        }
    }

    /// After the clock moved back, nothing is expired.
    fn is_expired(&self, accepted: &Accepted, now: SystemTime) -> bool {
        now.duration_since(accepted.at).is_ok_and(|age| age >= self.window)
    }
}

impl Remembered {
    fn evict_expired(&mut self, is_expired: impl Fn(&Accepted) -> bool) {
        while let Some(oldest) = self.order.front() {
            if !self.accepted.get(oldest).is_none_or(&is_expired) {
                return;
            }
            self.accepted.remove(oldest);
            self.order.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use edgeproof_fixtures::seal::{Collection, SealKeys, replay_id};
    use proptest::prelude::*;

    use super::*;

    const WINDOW: Duration = Duration::from_secs(600);
    const HERE: EdgeId = EdgeId(1);

    fn ids(count: usize) -> Vec<ReplayId> {
        let keys = SealKeys::fresh();
        let collection = Collection::generated("r", 1, SystemTime::UNIX_EPOCH);
        (0..count).map(|_| replay_id(&collection.seal(keys.current())).unwrap()).collect()
    }

    fn at(seconds: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
    }

    #[test]
    fn copy_is_refused_within_the_window() {
        let (replays, id) = (ReplayStore::new(WINDOW, 10), ids(1)[0]);
        assert_eq!(replays.check(&id, HERE, at(0)), Replay::Fresh);
        assert_eq!(replays.admit(id, HERE, at(0)), Admission::Admitted);
        assert_eq!(replays.admit(id, HERE, at(599)), Admission::Refused(Replay::Copy));
        assert_eq!(replays.admit(id, EdgeId(2), at(1)), Admission::Refused(Replay::CopyFromElsewhere));
        assert_eq!(replays.admit(id, HERE, at(600)), Admission::Admitted);
        assert_eq!(replays.check(&id, HERE, at(0)), Replay::Copy);
    }

    #[test]
    fn full_store_refuses_new_collections_and_copies() {
        let (replays, ids) = (ReplayStore::new(WINDOW, 2), ids(3));
        replays.admit(ids[0], HERE, at(0));
        replays.admit(ids[1], HERE, at(300));
        assert_eq!(replays.admit(ids[2], HERE, at(599)), Admission::Full);
        assert_eq!(replays.admit(ids[0], HERE, at(599)), Admission::Refused(Replay::Copy));
        assert_eq!(replays.admit(ids[2], HERE, at(600)), Admission::Admitted);
        replays.clear();
        assert_eq!(replays.check(&ids[2], HERE, at(600)), Replay::Fresh);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// Between two admissions of one id the clock has shown the end of a window, even if it moves back.
        #[test]
        fn no_collection_is_admitted_twice_within_the_window(
            steps in prop::collection::vec((0usize..6, -400i64..700), 1..200),
        ) {
            let (replays, ids) = (ReplayStore::new(WINDOW, 4), ids(6));
            let (mut now, mut admitted) = (1_000_000i64, HashMap::<usize, (i64, i64)>::new());
            for (which, step) in steps {
                now += step;
                for (_, latest) in admitted.values_mut() {
                    *latest = now.max(*latest);
                }
                if replays.admit(ids[which], HERE, at(now.unsigned_abs())) == Admission::Admitted
                    && let Some((before, latest)) = admitted.insert(which, (now, now))
                {
                    prop_assert!(latest - before >= 600);
                }
                let remembered = replays.remembered.lock();
                prop_assert!(remembered.order.len() <= 4 && remembered.accepted.len() <= 4);
            }
        }
    }
}
