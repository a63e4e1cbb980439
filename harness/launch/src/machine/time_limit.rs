use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::time::timeout;

use super::ProcessorTime;

/// Timeout. Time in which other programs kept the processors from this one and its child processes does not count.
#[derive(Debug, Clone)]
pub struct TimeLimit {
    /// On a free machine.
    limit: Duration,
    /// On this machine, if it stays as busy as it was.
    expected: Duration,
    processors: Arc<ProcessorTime>,
}

/// A busy machine extends a timeout by this factor at most.
const LONGEST: u32 = 10;
/// Shortest extension. A shorter one says nothing new about the processors.
const SHORTEST: Duration = Duration::from_millis(250);

impl TimeLimit {
    /// The timeout that is `limit` on a free machine. It begins as long as the machine needs now.
    pub fn new(limit: Duration, processors: Arc<ProcessorTime>) -> Self {
        let expected = limit.div_f64(processors.latest_share());
        Self { limit, expected, processors }
    }

    /// The timeout on a free machine.
    pub fn duration(&self) -> Duration {
        self.limit
    }

    /// This timeout several times.
    #[must_use]
    pub fn times(self, count: u32) -> Self {
        Self { limit: self.limit * count, expected: self.expected * count, ..self }
    }

    /// What a future yields in time. None: it took longer.
    pub async fn within<F: Future>(&self, future: F) -> Option<F::Output> {
        let began = Instant::now();
        let mut future = pin!(future);
        let mut wait = self.expected;
        loop {
            if let Ok(output) = timeout(wait, &mut future).await {
                return Some(output);
            }
            self.processors.read();
            wait = extension(self.limit, began.elapsed(), self.processors.share_since(began))?;
        }
    }
}

/// How much longer a future may take after this time, in which this share of the processors was left. None: no longer.
fn extension(limit: Duration, elapsed: Duration, share: f64) -> Option<Duration> {
    let missing = limit.saturating_sub(elapsed.mul_f64(share));
    let most = (limit * LONGEST).saturating_sub(elapsed);
    // The ticks of the processors' times are not exact.
    let is_over = missing < limit / 50 || most.is_zero();
    (!is_over).then(|| missing.div_f64(share).clamp(SHORTEST, most.max(SHORTEST)))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::free(10_000, 10_000, 1.0, None)]
    #[case::nearly_free(10_000, 10_000, 0.99, None)]
    #[case::half(10_000, 10_000, 0.5, Some(10_000))]
    #[case::free_again(10_000, 20_000, 0.5, None)]
    #[case::short(1_000, 1_000, 0.9, Some(250))]
    #[case::longest(1_000, 9_900, 0.05, Some(250))]
    #[case::over(1_000, 10_000, 0.05, None)]
    fn busy_machine_extends_a_limit(
        #[case] limit_ms: u64,
        #[case] elapsed_ms: u64,
        #[case] share: f64,
        #[case] expected_ms: Option<u64>,
    ) {
        let ms = Duration::from_millis;
        assert_eq!(extension(ms(limit_ms), ms(elapsed_ms), share), expected_ms.map(ms));
    }

    #[tokio::test]
    async fn silent_future_ends() {
        let limit = TimeLimit::new(Duration::from_millis(20), Arc::new(ProcessorTime::start()));
        assert_eq!(limit.within(std::future::ready(1)).await, Some(1));
        assert_eq!(limit.within(std::future::pending::<()>()).await, None);
    }
}
