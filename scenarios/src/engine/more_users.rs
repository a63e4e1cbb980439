use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use goose::goose::GooseUser;

/// Users that goose starts at most: one that it starts costs several times the memory.
pub(super) const STARTED_BY_GOOSE: u32 = 256;

/// Makes goose users during a run, when those that goose started do not suffice.
pub(super) struct MoreUsers {
    scenarios: Vec<ScenarioUsers>,
    /// Number of the next user.
    next: AtomicU32,
    limit: u32,
}

struct ScenarioUsers {
    /// The first user that goose started.
    first: OnceLock<GooseUser>,
    count: AtomicU32,
    limit: u32,
}

impl MoreUsers {
    /// None so far. `started`: number of users that goose starts. The weights of the scenarios divide the limit.
    pub(super) fn new(
        started: u32,
        limit: u32,
        weights: impl ExactSizeIterator<Item = usize> + Clone,
    ) -> Self {
        let sum: u64 = weights.clone().map(|weight| weight as u64).sum::<u64>().max(1);
        let share = |weight: usize| (u64::from(limit) * weight as u64).div_ceil(sum) as u32;
        let users =
            |weight| ScenarioUsers { first: OnceLock::new(), count: AtomicU32::new(0), limit: share(weight) };
        Self { scenarios: weights.map(users).collect(), next: AtomicU32::new(started), limit }
    }

    /// Notes a user that goose has started.
    pub(super) fn started(&self, scenario: usize, user: &GooseUser) {
        let users = &self.scenarios[scenario];
        users.count.fetch_add(1, Ordering::AcqRel);
        users.first.get_or_init(|| user.clone());
    }

    /// Another user of a scenario; `None` where the limit is reached.
    pub(super) fn make(&self, scenario: usize) -> Option<GooseUser> {
        let users = &self.scenarios[scenario];
        let first = users.first.get()?;
        take_below(users.limit, &users.count)?;
        let number = take_below(self.limit, &self.next)?;
        let mut user = first.clone();
        user.weighted_users_index = number as usize;
        Some(user)
    }

    /// Number of users so far.
    pub(super) fn count(&self) -> u32 {
        self.next.load(Ordering::Acquire)
    }
}

/// Counts one more, unless the limit is reached. Returns the number before.
fn take_below(limit: u32, count: &AtomicU32) -> Option<u32> {
    let more = |count: u32| (count < limit).then_some(count + 1);
    count.fetch_update(Ordering::AcqRel, Ordering::Acquire, more).ok()
}
