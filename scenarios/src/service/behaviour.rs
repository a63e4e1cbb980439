use std::time::Duration;

use serde::{Deserialize, Serialize};

/// How a [`RecordingServer`](super::RecordingServer) behaves. The default answers at once.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ServerBehaviour {
    /// When it answers.
    pub delay: Delay,
    /// How it answers.
    pub manner: AnswerManner,
    /// Time from the first request for a verdict to the verdict.
    pub pending: Duration,
    /// Time since the first request after which the server closes all connections and its listener.
    pub dies_at: Option<Duration>,
}

/// Time from the arrival of a request to its answer.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum Delay {
    /// The same for every request.
    Constant(Duration),
    /// Pareto distribution: half of the requests take at most 1.6 times the shortest time, 1 % more than 21 times.
    HeavyTailed {
        /// Shortest time.
        shortest: Duration,
        /// Longest time.
        longest: Duration,
    },
    /// The delay changes at a time since the first request.
    Drifting {
        /// Delay before.
        before: Duration,
        /// Delay afterwards.
        after: Duration,
        /// Time of the change.
        at: Duration,
    },
    /// Requests that arrive in a stall wait for its end. The first stall starts at `at`, further ones a period later.
    Stalling {
        /// Start of the first stall, since the first request.
        at: Duration,
        /// Length of a stall.
        time: Duration,
        /// Time from one stall to the next.
        period: Duration,
    },
    /// A share of the requests is slow.
    Slow {
        /// Share of slow requests, 0 to 1.
        share: f64,
        /// Delay of slow requests.
        slow: Duration,
        /// Delay of the others.
        usual: Duration,
    },
    /// One request after another, at most at this rate (requests per second).
    Limited(f64),
}

/// How a request is answered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub enum AnswerManner {
    /// Accepted, on a connection that stays open.
    #[default]
    Accepted,
    /// A share of the requests is refused.
    Refused {
        /// Share of refused requests, 0 to 1.
        share: f64,
        /// HTTP status of the refusal.
        status: u16,
    },
    /// A share of the requests gets a reset of its connection instead of an answer.
    Reset {
        /// Share of these requests, 0 to 1.
        share: f64,
    },
    /// Each answer announces that the connection closes, and closes it.
    Closed,
    /// The answer arrives in pieces.
    Dripped {
        /// Number of pieces.
        pieces: u32,
        /// Time between two pieces.
        gap: Duration,
    },
}

/// Exponent of the Pareto distribution.
const TAIL: f64 = 1.5;
/// Its multiples, without their integers, are evenly spread over 0 to 1.
const GOLDEN: f64 = 0.618_033_988_749_894_9;

impl Default for Delay {
    fn default() -> Self {
        Self::Constant(Duration::ZERO)
    }
}

impl Delay {
    /// The delay of a request with this number that arrives this long after the first request. `queue` is the
    /// time at which a limited server finishes the requests before it; it moves on by one request.
    pub fn of(&self, number: u64, at: Duration, queue: &mut Duration) -> Duration {
        match *self {
            Self::Constant(delay) => delay,
            Self::HeavyTailed { shortest, longest } => {
                shortest.mul_f64((1.0 - spread(number)).max(1e-9).powf(-1.0 / TAIL)).min(longest)
            }
            Self::Drifting { before, after, at: change } => {
                if at < change {
                    before
                } else {
                    after
                }
            }
            Self::Stalling { at: first, time, period } => match at.checked_sub(first) {
                None => Duration::ZERO,
                Some(since) => {
                    let into = since.as_nanos() % period.as_nanos().max(1);
                    time.saturating_sub(Duration::from_nanos(into as u64))
                }
            },
            Self::Slow { share, slow, usual } => {
                if spread(number) < share {
                    slow
                } else {
                    usual
                }
            }
            Self::Limited(rate) => {
                *queue = at.max(*queue) + Duration::from_secs_f64(1.0 / rate);
                queue.saturating_sub(at)
            }
        }
    }
}

impl AnswerManner {
    /// The status of a refused request; `None` for any other.
    pub fn refusal(&self, number: u64) -> Option<u16> {
        match self {
            Self::Refused { share, status } if spread(number) < *share => Some(*status),
            _ => None,
        }
    }

    /// Whether the connection is reset instead of an answer.
    pub fn resets(&self, number: u64) -> bool {
        matches!(self, Self::Reset { share } if spread(number) < *share)
    }
}

/// A number from 0 to 1 for each request. Any run of consecutive requests covers 0 to 1 evenly.
fn spread(number: u64) -> f64 {
    (number as f64 * GOLDEN).fract()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    /// Sorted delays (ms) of 1000 requests, 1 ms apart.
    fn delays(delay: Delay) -> Vec<u128> {
        let mut queue = Duration::ZERO;
        let one = |number: u64| delay.of(number, MS * number as u32, &mut queue).as_millis();
        let mut delays: Vec<u128> = (0..1000).map(one).collect();
        delays.sort_unstable();
        delays
    }

    #[test]
    fn requests_wait_for_the_end_of_a_stall() {
        let stalls = Delay::Stalling { at: 100 * MS, time: 200 * MS, period: 1000 * MS };
        let at = |ms: u32| stalls.of(0, MS * ms, &mut Duration::default()).as_millis();
        assert_eq!([0, 99, 100, 250, 300, 1150].map(at), [0, 0, 200, 50, 0, 150]);
    }

    #[test]
    fn delays_follow_their_distribution() {
        let slow = delays(Delay::Slow { share: 0.02, slow: 500 * MS, usual: MS });
        assert_eq!((slow[0], slow[979], slow[980], slow[999]), (1, 1, 500, 500));
        let tailed = delays(Delay::HeavyTailed { shortest: 10 * MS, longest: 500 * MS });
        assert!((15..=16).contains(&tailed[500]) && (200..=230).contains(&tailed[990]), "{tailed:?}");
        assert_eq!((tailed[0], tailed[999]), (10, 500));
        let drifting = delays(Delay::Drifting { before: 2 * MS, after: 200 * MS, at: 400 * MS });
        assert_eq!((drifting[399], drifting[400]), (2, 200));
    }

    #[test]
    fn limited_server_queues_what_exceeds_its_rate() {
        // 1000/s for 1 s at 500/s: the last request waits for 1 s.
        let limited = delays(Delay::Limited(500.0));
        assert_eq!(limited[0], 2);
        assert!((1000..=1002).contains(&limited[999]), "{}", limited[999]);
    }
}
