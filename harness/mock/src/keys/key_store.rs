use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use edgeproof_fixtures::seal::{SealKeys, SealPublicKey};
use edgeproof_fixtures::verdict::{Grounds, Verdict, VerdictKeys};
use parking_lot::Mutex;

/// Keys of a mock service that change while it runs: verdict keys and seal keys.
#[derive(Debug)]
pub(crate) struct KeyStore {
    /// Time that a retired verdict key stays in the key set.
    retirement: Duration,
    verdict: Mutex<Signing>,
    seal: Mutex<Arc<SealKeys>>,
}

/// The published key set.
#[derive(Debug)]
pub(crate) struct PublishedKeySet {
    pub(crate) body: Bytes,
    pub(crate) etag: String,
}

#[derive(Debug)]
struct Signing {
    keys: Arc<VerdictKeys>,
    /// Former signing keys, with the time when they leave the key set.
    retiring: Vec<(String, SystemTime)>,
    published: Arc<PublishedKeySet>,
}

impl KeyStore {
    pub(crate) fn new(verdict: VerdictKeys, seal: SealKeys, retirement: Duration) -> Self {
        let published = PublishedKeySet::of(&verdict);
        let signing = Signing { keys: Arc::new(verdict), retiring: Vec::new(), published };
        Self { retirement, verdict: Mutex::new(signing), seal: Mutex::new(Arc::new(seal)) }
    }

    /// The key set at this time.
    pub(crate) fn published(&self, now: SystemTime) -> Arc<PublishedKeySet> {
        let mut signing = self.verdict.lock();
        let over = |(_, end): &(String, SystemTime)| now >= *end;
        if signing.retiring.iter().any(over) {
            let Signing { keys, retiring, .. } = &mut *signing;
            let keys = Arc::make_mut(keys);
            retiring.extract_if(.., |entry| over(entry)).for_each(|(kid, _)| {
                keys.retire(&kid);
            });
            signing.published = PublishedKeySet::of(&signing.keys);
        }
        Arc::clone(&signing.published)
    }

    /// Signs with the next key from now on, and returns its id. The previous key stays published for a while.
    pub(crate) fn rotate(&self, now: SystemTime) -> String {
        let mut signing = self.verdict.lock();
        let before = signing.keys.current().to_owned();
        let kid = Arc::make_mut(&mut signing.keys).rotate().to_owned();
        // A time that the system cannot express never comes.
        if let Some(end) = now.checked_add(self.retirement) {
            signing.retiring.push((before, end));
        }
        signing.published = PublishedKeySet::of(&signing.keys);
        kid
    }

    /// Publishes the signing key of the next rotation, and returns its id.
    pub(crate) fn announce(&self) -> String {
        let mut signing = self.verdict.lock();
        let kid = Arc::make_mut(&mut signing.keys).announce().to_owned();
        signing.published = PublishedKeySet::of(&signing.keys);
        kid
    }

    /// Signs a verdict.
    pub(crate) fn issue(&self, grounds: Grounds<'_>) -> Bytes {
        let keys = Arc::clone(&self.verdict.lock().keys);
        Verdict::issue(grounds, &keys).to_json().into()
    }

    /// Keys that open collections.
    pub(crate) fn seal(&self) -> Arc<SealKeys> {
        Arc::clone(&self.seal.lock())
    }

    /// Adds a new seal key. Older keys stay accepted until they are retired.
    pub(crate) fn rotate_seal(&self) -> SealPublicKey {
        let mut keys = self.seal.lock();
        Arc::make_mut(&mut keys).rotate().clone()
    }

    /// Retires a seal key. False for the current key and for unknown keys.
    pub(crate) fn retire_seal(&self, key_id: &str) -> bool {
        let mut keys = self.seal.lock();
        Arc::make_mut(&mut keys).retire(key_id)
    }
}

impl PublishedKeySet {
    fn of(keys: &VerdictKeys) -> Arc<Self> {
        let set = keys.key_set();
        Arc::new(Self { body: set.to_json().into(), etag: set.etag() })
    }
}

#[cfg(test)]
mod tests {
    use edgeproof_fixtures::key_set::KeySet;

    use super::*;

    fn kids(store: &KeyStore, seconds: u64) -> Vec<String> {
        let published = store.published(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
        let set = KeySet::parse(&published.body).unwrap();
        assert_eq!(published.etag, set.etag());
        set.keys().iter().map(|key| key.kid().unwrap().to_owned()).collect()
    }

    #[test]
    fn previous_key_stays_published_until_its_time_is_over() {
        let start = SystemTime::UNIX_EPOCH;
        let keys = VerdictKeys::fresh();
        let first = keys.current().to_owned();
        let store = KeyStore::new(keys, SealKeys::fresh(), Duration::from_secs(420));
        let second = store.rotate(start);
        let third = store.rotate(start + Duration::from_secs(100));
        assert_eq!(kids(&store, 419), [first.clone(), second.clone(), third.clone()]);
        assert_eq!(kids(&store, 420), [second, third.clone()]);
        assert_eq!(kids(&store, 10_000), std::slice::from_ref(&third));
        let fourth = store.announce();
        assert_eq!(kids(&store, 10_000), [third.clone(), fourth.clone()]);
        assert_eq!(store.rotate(start + Duration::from_secs(10_000)), fourth);
        assert_eq!(kids(&store, 10_000), [third, fourth]);
    }
}
