use std::time::Duration;

use serde::{Deserialize, Serialize};

use edgeproof_reports::load::Quantile;

/// A request as the server saw it, by its own clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServedRequest {
    /// Number of the operation; for verdict requests, the order of arrival.
    pub number: u64,
    /// When it arrived, since the Unix epoch; by the kernel's timestamp where the system has one.
    pub arrived: Duration,
    /// The answer ended between these two times: just before and just after writing its last byte.
    pub ended: (Duration, Duration),
    /// Whether the server gave an answer, even if the client had gone.
    pub answered: bool,
}

/// All requests that the server saw, in order of arrival.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerRecord(pub Vec<ServedRequest>);

/// Times that a generator should report, each between a lower and an upper bound.
#[derive(Debug, Clone, Default)]
pub struct TrueTimes {
    shortest: Vec<Duration>,
    longest: Vec<Duration>,
}

impl ServerRecord {
    /// Times from arrival to the end of the answer, for this many operations from this number on. Operations
    /// that never arrived, and requests without an answer, take forever.
    pub fn response(&self, first: u64, count: u64) -> TrueTimes {
        self.times(first, count, |request, ended| ended.saturating_sub(request.arrived))
    }

    /// The same from the intended start: operation n was due `n / rate` seconds after the start.
    ///
    /// The start is not known to the server. It is the latest time at which no request arrived before it was due.
    pub fn from_schedule(&self, first: u64, count: u64, rate: f64) -> TrueTimes {
        let offset = |request: &ServedRequest| Duration::from_secs_f64(request.number as f64 / rate);
        let start = self
            .0
            .iter()
            .map(|request| request.arrived.saturating_sub(offset(request)))
            .min()
            .unwrap_or_default();
        self.times(first, count, |request, ended| ended.saturating_sub(start + offset(request)))
    }

    fn times(
        &self,
        first: u64,
        count: u64,
        time: impl Fn(&ServedRequest, Duration) -> Duration,
    ) -> TrueTimes {
        let measured = first..first + count;
        let served = self.0.iter().filter(|request| measured.contains(&request.number));
        let (mut shortest, mut longest): (Vec<Duration>, Vec<Duration>) = served
            .map(|request| {
                if request.answered {
                    (time(request, request.ended.0), time(request, request.ended.1))
                } else {
                    (Duration::MAX, Duration::MAX)
                }
            })
            .unzip();
        for times in [&mut shortest, &mut longest] {
            times.resize(times.len().max(count as usize), Duration::MAX);
            times.sort_unstable();
        }
        TrueTimes { shortest, longest }
    }
}

impl TrueTimes {
    /// Bounds of a percentile; `Duration::MAX` if it falls on a request without an answer.
    pub fn at(&self, quantile: Quantile) -> (Duration, Duration) {
        self.at_share(quantile.share())
    }

    /// Bounds of the time that this share of the requests does not exceed.
    pub fn at_share(&self, share: f64) -> (Duration, Duration) {
        let count = self.shortest.len();
        let Some(last) = count.checked_sub(1) else { return Default::default() };
        let rank = ((share * count as f64).ceil() as usize).saturating_sub(1).min(last);
        (self.shortest[rank], self.longest[rank])
    }

    /// Number of times that are longer than this, by their upper bound.
    pub fn longer_than(&self, limit: Duration) -> u64 {
        self.longest.iter().filter(|time| **time > limit).count() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    /// Ten operations at 100/s that take 3 to 4 ms. Operation 4 is sent 2 s late, operation 9 never.
    fn record() -> ServerRecord {
        let request = |number: u32| {
            let late = if number == 4 { 2000 * MS } else { Duration::ZERO };
            let arrived = 5000 * MS + 10 * MS * number + late;
            let ended = (arrived + 3 * MS, arrived + 4 * MS);
            ServedRequest { number: number.into(), arrived, ended, answered: number != 8 }
        };
        ServerRecord((0..9).map(request).collect())
    }

    #[test]
    fn record_survives_its_text() {
        let text = serde_json::to_string(&record()).unwrap();
        assert_eq!(serde_json::from_str::<ServerRecord>(&text).unwrap(), record());
        assert!(serde_json::from_str::<ServerRecord>("[1, 2, 3]").is_err());
    }

    #[test]
    fn operations_without_an_answer_take_forever() {
        let times = record().response(0, 10);
        assert_eq!(times.at(Quantile::P50), (3 * MS, 4 * MS));
        assert_eq!(times.at(Quantile::P90), (Duration::MAX, Duration::MAX));
        assert_eq!(times.longer_than(5 * MS), 2);
        assert_eq!(record().response(0, 8).at(Quantile::Max), (3 * MS, 4 * MS));
        assert_eq!(TrueTimes::default().at(Quantile::Max), (Duration::ZERO, Duration::ZERO));
    }

    #[test]
    fn schedule_shows_what_was_sent_late() {
        let times = record().from_schedule(2, 5, 100.0);
        assert_eq!(times.at(Quantile::P50), (3 * MS, 4 * MS));
        assert_eq!(times.at(Quantile::Max), (2003 * MS, 2004 * MS));
    }
}
