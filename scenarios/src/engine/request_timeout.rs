use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::{Duration, Instant};

use tokio::task::coop::unconstrained;
use tokio::time::{Sleep, sleep_until};

/// The longest time for each of a user's requests. One timer serves them all: it is moved only when it rings, which is rare,
/// while a timer for each request would be set and taken back every time.
#[derive(Debug)]
pub struct RequestTimeout {
    limit: Duration,
    timer: Option<Pin<Box<Sleep>>>,
}

impl RequestTimeout {
    /// For requests that may take so long.
    pub fn new(limit: Duration) -> Self {
        Self { limit, timer: None }
    }

    /// What comes out of a request that was sent at this time; none if the time is over first.
    pub fn limit<T>(
        &mut self,
        sent: Instant,
        // Pinned by the caller: one that is passed on by value would take its room twice.
        mut request: Pin<&mut impl Future<Output = T>>,
    ) -> impl Future<Output = Option<T>> {
        // A limit beyond all time is none.
        let due = sent.checked_add(self.limit);
        poll_fn(move |cx| {
            if let Poll::Ready(done) = request.as_mut().poll(cx) {
                return Poll::Ready(Some(done));
            }
            let Some(due) = due else { return Poll::Pending };
            let timer = self.timer.get_or_insert_with(|| Box::pin(sleep_until(due.into())));
            // Also where the request has used up all that its task may do at once: a peer that never stops must not outlast it.
            while pin!(unconstrained(timer.as_mut())).poll(cx).is_ready() {
                if Instant::now() >= due {
                    return Poll::Ready(None);
                }
                // It rang for a request that has long ended.
                timer.as_mut().reset(due.into());
            }
            Poll::Pending
        })
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use tokio::task::coop::consume_budget;
    use tokio::time::timeout;

    use super::*;

    #[tokio::test]
    async fn each_request_has_the_whole_time() {
        let mut request_timeout = RequestTimeout::new(Duration::from_millis(200));
        assert_eq!(request_timeout.limit(Instant::now(), pin!(ready(7))).await, Some(7));
        // Together longer than the limit: the timer rings within a later one and is moved.
        for _ in 0..4 {
            let most = tokio::time::sleep(Duration::from_millis(80));
            assert_eq!(request_timeout.limit(Instant::now(), pin!(most)).await, Some(()));
        }
    }

    #[tokio::test]
    async fn one_that_takes_longer_is_given_up() {
        let mut request_timeout = RequestTimeout::new(Duration::from_millis(20));
        for _ in 0..2 {
            let sent = Instant::now();
            assert_eq!(request_timeout.limit(sent, pin!(pending::<()>())).await, None);
            assert!(sent.elapsed() >= Duration::from_millis(20));
        }
    }

    /// Whatever a task may do at once is used up by the request each time.
    #[tokio::test]
    async fn a_request_that_leaves_no_budget_is_given_up() {
        let greedy = poll_fn(|cx| {
            while pin!(consume_budget()).poll(cx).is_ready() {}
            Poll::<()>::Pending
        });
        let mut request_timeout = RequestTimeout::new(Duration::from_millis(20));
        let kept =
            timeout(Duration::from_secs(20), request_timeout.limit(Instant::now(), pin!(greedy))).await;
        assert_eq!(kept.expect("the limit is kept"), None);
    }
}
