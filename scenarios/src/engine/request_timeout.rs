use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::{Duration, Instant};

use tokio::task::coop::unconstrained;
use tokio::task::yield_now;
use tokio::time::{Sleep, sleep_until};

/// The timeout of a user's requests. One timer serves all of them and is only reset when it fires. A timer
/// per request would be set and cancelled each time.
#[derive(Debug)]
pub struct RequestTimeout {
    limit: Duration,
    timer: Option<Pin<Box<Sleep>>>,
}

impl RequestTimeout {
    /// A timeout of this length.
    pub fn new(limit: Duration) -> Self {
        Self { limit, timer: None }
    }

    /// Runs a request whose time counts from `since`; `None` if it times out.
    pub fn limit<T>(
        &mut self,
        since: Instant,
        // Pinned by the caller: a future passed by value takes its space twice.
        mut request: Pin<&mut impl Future<Output = T>>,
    ) -> impl Future<Output = Option<T>> {
        // An overflow means no timeout.
        let due = since.checked_add(self.limit);
        let mut looked_again = false;
        poll_fn(move |cx| {
            if let Poll::Ready(done) = request.as_mut().poll(cx) {
                return Poll::Ready(Some(done));
            }
            let Some(due) = due else { return Poll::Pending };
            let timer = self.timer.get_or_insert_with(|| Box::pin(sleep_until(due.into())));
            // Unconstrained: a peer that never stops sending uses up the task's budget, and must still time
            // out.
            while pin!(unconstrained(timer.as_mut())).poll(cx).is_ready() {
                if Instant::now() >= due {
                    // An answer may have arrived in time while this process had no CPU. The runtime looks for
                    // it before this task runs again.
                    if !std::mem::replace(&mut looked_again, true) {
                        let _ = pin!(yield_now()).poll(cx);
                        return Poll::Pending;
                    }
                    return Poll::Ready(None);
                }
                // The timer fired for an earlier request.
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
    async fn each_request_has_the_full_timeout() {
        let mut request_timeout = RequestTimeout::new(Duration::from_millis(200));
        assert_eq!(request_timeout.limit(Instant::now(), pin!(ready(7))).await, Some(7));
        // Longer than the timeout in total: the timer fires during a later request and is reset.
        for _ in 0..4 {
            let most = tokio::time::sleep(Duration::from_millis(80));
            assert_eq!(request_timeout.limit(Instant::now(), pin!(most)).await, Some(()));
        }
    }

    #[tokio::test]
    async fn slow_request_times_out() {
        let mut request_timeout = RequestTimeout::new(Duration::from_millis(20));
        for _ in 0..2 {
            let sent = Instant::now();
            assert_eq!(request_timeout.limit(sent, pin!(pending::<()>())).await, None);
            assert!(sent.elapsed() >= Duration::from_millis(20));
        }
    }

    /// The request uses up the task's budget at every poll.
    #[tokio::test]
    async fn request_without_task_budget_times_out() {
        let greedy = poll_fn(|cx| {
            while pin!(consume_budget()).poll(cx).is_ready() {}
            Poll::<()>::Pending
        });
        let mut request_timeout = RequestTimeout::new(Duration::from_millis(20));
        let kept =
            timeout(Duration::from_secs(20), request_timeout.limit(Instant::now(), pin!(greedy))).await;
        assert_eq!(kept.expect("the request times out"), None);
    }
}
