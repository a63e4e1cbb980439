use std::collections::VecDeque;
use std::task::{Context, Poll, Waker};

use parking_lot::Mutex;

/// The users of one scenario that wait for an operation, and the operations that wait for a user. Operations
/// are identified by their index in the plan.
///
/// The user that became idle last gets the next operation, so that no more connections are open than needed.
#[derive(Debug, Default)]
pub(super) struct IdleUsers(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// Indices of idle users; the last one is the most recently used.
    idle: Vec<u32>,
    /// By the index of the user; grows as users appear.
    users: Vec<User>,
    /// Users that were made and have not asked for an operation yet.
    coming: usize,
    waiting: VecDeque<Waiting>,
    ended: bool,
}

/// Who takes an operation.
#[derive(Debug)]
pub(super) enum Taker {
    /// An idle user. This wakes it.
    Idle(Option<Waker>),
    /// A user that was made, as soon as it runs.
    Coming,
    /// The next user that is free.
    Free,
}

#[derive(Debug, Clone, Copy)]
struct Waiting {
    place: u64,
    /// No user was coming for it.
    for_a_free_user: bool,
}

#[derive(Debug, Default)]
struct User {
    now: Activity,
    /// Wakes the user's task.
    waker: Option<Waker>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Activity {
    #[default]
    Busy,
    /// Made, and has not asked for an operation yet.
    Coming,
    Idle,
    /// An idle user got this operation and has not noticed yet.
    Given(u64),
}

impl IdleUsers {
    /// Gives an operation to an idle user. Without one the operation waits.
    pub(super) fn give(&self, place: u64) -> Taker {
        let state = &mut *self.0.lock();
        let Some(user) = state.idle.pop() else {
            let for_a_free_user = state.coming <= state.waiting.len();
            state.waiting.push_back(Waiting { place, for_a_free_user });
            return if for_a_free_user { Taker::Free } else { Taker::Coming };
        };
        let user = &mut state.users[user as usize];
        user.now = Activity::Given(place);
        Taker::Idle(user.waker.clone())
    }

    /// Users for further operations: idle or coming.
    pub(super) fn left(&self) -> usize {
        let state = self.0.lock();
        (state.idle.len() + state.coming).saturating_sub(state.waiting.len())
    }

    /// Notes that a user was made.
    pub(super) fn expect(&self, user: u32) {
        let state = &mut *self.0.lock();
        state.user(user).now = Activity::Coming;
        state.coming += 1;
    }

    /// Takes the next operation for a user, and whether it waited until one was free; `None` at the end. The user becomes idle
    /// while there is none.
    pub(super) fn poll_take(&self, user: u32, cx: &mut Context<'_>) -> Poll<Option<(u64, bool)>> {
        let state = &mut *self.0.lock();
        state.user(user);
        let this = &mut state.users[user as usize];
        if this.now == Activity::Coming {
            this.now = Activity::Busy;
            state.coming -= 1;
        }
        if let Activity::Given(place) = this.now {
            this.now = Activity::Busy;
            return Poll::Ready(Some((place, false)));
        }
        if this.now == Activity::Busy
            && let Some(Waiting { place, for_a_free_user }) = state.waiting.pop_front()
        {
            return Poll::Ready(Some((place, for_a_free_user)));
        }
        if state.ended {
            return Poll::Ready(None);
        }
        if !this.waker.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
            this.waker = Some(cx.waker().clone());
        }
        if this.now == Activity::Busy {
            this.now = Activity::Idle;
            state.idle.push(user);
        }
        Poll::Pending
    }

    /// Notes the waker of a user that may never become idle.
    pub(super) fn register(&self, user: u32, waker: &Waker) {
        let state = &mut *self.0.lock();
        state.user(user).waker = Some(waker.clone());
    }

    /// Notes that no more operations come, and wakes all users.
    pub(super) fn end(&self) {
        let wakers: Vec<Waker> = {
            let state = &mut *self.0.lock();
            state.ended = true;
            state.users.iter().filter_map(|user| user.waker.clone()).collect()
        };
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Operations that no user has taken.
    pub(super) fn untaken(&self) -> Vec<u64> {
        let state = self.0.lock();
        let given = state.users.iter().filter_map(|user| match user.now {
            Activity::Given(place) => Some(place),
            Activity::Busy | Activity::Coming | Activity::Idle => None,
        });
        let mut untaken: Vec<u64> = state.waiting.iter().map(|waiting| waiting.place).chain(given).collect();
        untaken.sort_unstable();
        untaken
    }
}

impl State {
    /// The user with this index.
    fn user(&mut self, user: u32) -> &mut User {
        let place = user as usize;
        if self.users.len() <= place {
            self.users.resize_with(place + 1, User::default);
        }
        &mut self.users[place]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(users: &IdleUsers, user: u32) -> Poll<Option<(u64, bool)>> {
        users.poll_take(user, &mut Context::from_waker(Waker::noop()))
    }

    fn taken(place: u64, waited: bool) -> Poll<Option<(u64, bool)>> {
        Poll::Ready(Some((place, waited)))
    }

    #[test]
    fn operation_of_a_coming_user_does_not_wait_for_a_free_one() {
        let users = IdleUsers::default();
        users.expect(0);
        assert!(matches!(users.give(0), Taker::Coming));
        assert!(matches!(users.give(1), Taker::Free));
        assert_eq!(take(&users, 0), taken(0, false));
        assert_eq!(take(&users, 0), taken(1, true));
        assert!(take(&users, 0).is_pending());
        assert_eq!(users.left(), 1);
    }

    #[test]
    fn most_recently_used_user_gets_the_next_operation() {
        let users = IdleUsers::default();
        assert!((0..3).all(|user| take(&users, user).is_pending()));
        assert!(matches!(users.give(0), Taker::Idle(_)));
        assert_eq!(take(&users, 2), taken(0, false));
        assert!(take(&users, 2).is_pending());
        assert!(matches!(users.give(1), Taker::Idle(_)));
        assert_eq!(take(&users, 2), taken(1, false));
        assert!(matches!(users.give(2), Taker::Idle(_)));
        assert_eq!(take(&users, 1), taken(2, false));
        assert!(take(&users, 0).is_pending());
    }

    #[test]
    fn operations_wait_in_order_for_a_user() {
        let users = IdleUsers::default();
        assert!(matches!(users.give(4), Taker::Free) && matches!(users.give(5), Taker::Free));
        assert_eq!((take(&users, 0), take(&users, 0)), (taken(4, true), taken(5, true)));
        assert!(take(&users, 0).is_pending());
    }

    /// An idle user is polled again without reason, such as by a timer.
    #[test]
    fn idle_user_is_listed_once() {
        let users = IdleUsers::default();
        assert!(take(&users, 0).is_pending() && take(&users, 0).is_pending());
        assert!(matches!(users.give(0), Taker::Idle(_)) && matches!(users.give(1), Taker::Free));
        assert_eq!(users.untaken(), [0, 1]);
    }

    #[test]
    fn end_lets_users_take_the_rest_first() {
        let users = IdleUsers::default();
        assert!(take(&users, 0).is_pending());
        assert!(matches!(users.give(0), Taker::Idle(_)) && matches!(users.give(1), Taker::Free));
        users.end();
        assert_eq!((take(&users, 0), take(&users, 0)), (taken(0, false), taken(1, true)));
        assert_eq!(take(&users, 0), Poll::Ready(None));
    }
}
