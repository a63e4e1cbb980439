use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::cases::{CaseFindings, Part};

/// Time of an exchange for which the timeouts of cases are made: cases with many exchanges have time for this.
const USUAL: Duration = Duration::from_millis(100);
/// Most that a slow target extends the timeout of a case.
const LONGEST: f64 = 20.0;

/// How fast the target answers at best. The number of its exchanges must not fail a case of a slow target.
#[derive(Debug)]
pub(super) struct Pace {
    /// Shortest time of an exchange through the whole target (µs).
    fastest: AtomicU64,
}

impl Default for Pace {
    fn default() -> Self {
        Self { fastest: AtomicU64::new(u64::MAX) }
    }
}

impl Pace {
    /// Learns from the exchanges of a case.
    pub(super) fn learn<P: Part>(&self, found: &CaseFindings) {
        let sent = found.sent.iter().map(|exchange| &exchange.sent);
        if let Some(fastest) = sent.filter(|sent| P::is_whole(sent)).map(|sent| sent.took).min() {
            let fastest = u64::try_from(fastest.as_micros()).unwrap_or(u64::MAX);
            self.fastest.fetch_min(fastest, Ordering::Relaxed);
        }
    }

    /// How many times longer a case may take than with a usual target.
    pub(super) fn factor(&self) -> f64 {
        match self.fastest.load(Ordering::Relaxed) {
            u64::MAX => 1.0,
            fastest => factor(Duration::from_micros(fastest)),
        }
    }
}

fn factor(fastest: Duration) -> f64 {
    fastest.div_duration_f64(USUAL).clamp(1.0, LONGEST)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::fast(2, 1.0)]
    #[case::usual(100, 1.0)]
    #[case::slow(1_000, 10.0)]
    #[case::too_slow(10_000, 20.0)]
    fn slow_target_extends_timeouts(#[case] fastest_ms: u64, #[case] expected: f64) {
        assert!((factor(Duration::from_millis(fastest_ms)) - expected).abs() < 1e-9);
    }
}
