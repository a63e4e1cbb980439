use std::time::Duration;

use edgeproof_reports::load::Ledger;

use super::clock::AnswerDates;
use super::completions::Completions;
use super::histogram::Histogram;
use super::outcome::{Code, RequestOutcome};
use super::response_times::ResponseTimes;
use super::timeline::Timeline;

/// A route, by its index in the plan. Reports show its name, never a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RouteId(pub u8);

/// One completed request.
#[derive(Debug, Clone, Copy)]
pub struct Sample {
    /// The route.
    pub route: RouteId,
    /// The outcome.
    pub outcome: RequestOutcome,
    /// Whether the outcome is the expected one.
    pub expected: bool,
    /// Whether the edge says that it could not relay the request.
    pub unrelayed: bool,
    /// Intended start, since the start of the run.
    pub due: Duration,
    /// Time from the intended start to the end, as measured.
    pub observed: Duration,
    /// The part of `observed` that the generator itself added.
    pub delay: Duration,
    /// Time from sending to the end; zero for a request that was never sent.
    pub service: Duration,
    /// Whether its operation waited for a user.
    pub waited: bool,
    /// Delay of its start that the generator added, if it was due at a time.
    pub lateness: Option<Duration>,
    /// Time that its operation waited for a user; for the first request of an operation that was due at a time.
    pub waiting: Option<Duration>,
    /// Whether the request is inside the measured period.
    pub measured: bool,
}

/// How to count a time of an operation that waited for a user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UserWaits {
    /// As measured, without the wait.
    LeftOut,
    /// As a lower bound: the target held all users up, and with more of them the operation would have waited for the
    /// target.
    LowerBound,
}

/// Measured requests of one route with the same outcome.
#[derive(Debug, Clone, PartialEq)]
pub struct OutcomeSeries {
    /// The route.
    pub route: RouteId,
    /// The outcome.
    pub outcome: RequestOutcome,
    /// Whether the outcome is the expected one.
    pub expected: bool,
    /// Response times: from the intended start, less the delay that the generator added.
    pub response: Histogram,
    /// The part of `response` whose operations waited for a user.
    pub waited: Histogram,
    /// Response times with that delay.
    pub observed: Histogram,
    /// Service times: from sending.
    pub service: Histogram,
}

/// The outcome of an operation, and whether it is the expected one.
pub type OperationEnd = (RequestOutcome, bool);

/// All measurements of a run, or of one part of its recorder. Times count from the start of the run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LoadMeasurements {
    /// Counts of measured operations.
    pub ledger: Ledger,
    /// Counts of warm-up operations.
    pub warm_up: Ledger,
    /// Measured operations that were answered as expected.
    pub completions: Completions,
    /// End of the last request that found the target gone or broken; zero for none.
    pub last_outage: Duration,
    /// End of the last answered request.
    pub last_answer: Duration,
    /// Intended start of the last request without an answer; zero for none.
    pub last_unanswered: Duration,
    /// Measured requests by route, outcome and expectation.
    pub series: Vec<OutcomeSeries>,
    /// Delay that the generator added to each request.
    pub delay: Histogram,
    /// Delay added by the generator: time from the intended start to sending while a connection was free.
    pub lateness: Histogram,
    /// Time that operations waited for a free connection.
    pub waiting: Histogram,
    /// Time from the start of a session to its verdict, less the delay that the generator added. A session that expected a
    /// verdict and got none counts at its age.
    pub verdict: ResponseTimes,
    /// The part of `verdict` whose operations waited for a user.
    pub verdict_waited: Histogram,
    /// Times to verdict with that delay.
    pub verdict_observed: Histogram,
    /// Latency added by the edge: round trip minus the service's own time.
    pub added: Histogram,
    /// Set-up times of connections without TLS, warm-up included.
    pub connects: Histogram,
    /// Durations of TLS handshakes, warm-up included.
    pub tls: Histogram,
    /// Sent bytes of HTTP, warm-up included.
    pub bytes_sent: u64,
    /// Received bytes of HTTP, warm-up included.
    pub bytes_received: u64,
    /// Requests over time, warm-up included.
    pub timeline: Timeline,
    /// `Date`s of the answers on the route whose target all shards share, warm-up included.
    pub dates: AnswerDates,
    /// Counts by route, warm-up included.
    pub counts: Vec<RequestCounts>,
}

/// Counts of the requests on a route.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RequestCounts {
    /// Requests sent.
    pub sent: u64,
    /// Requests without an answer.
    pub unanswered: u64,
    /// Requests that the edge could not relay. They may have reached the service.
    pub unrelayed: u64,
}

/// Largest number of distinct outcomes per route. Further ones count as one, so that a peer cannot exhaust
/// memory.
const MAX_OUTCOMES: usize = 48;

impl UserWaits {
    /// Counts a part of the answered samples, whose operations waited for a user.
    fn apply(self, times: &mut ResponseTimes, waited: &Histogram) {
        if self == Self::LowerBound {
            times.answered.subtract(waited).expect("`waited` is a part of the answered samples");
            times.unanswered.add(waited);
        }
    }
}

impl Sample {
    /// Response time: from the intended start to the end, less the delay that the generator added.
    pub fn response(&self) -> Duration {
        self.observed.saturating_sub(self.delay)
    }
}

impl RequestCounts {
    fn add(&mut self, other: Self) {
        self.sent += other.sent;
        self.unanswered += other.unanswered;
        self.unrelayed += other.unrelayed;
    }
}

impl LoadMeasurements {
    /// Records a request.
    pub fn record(&mut self, sample: &Sample) {
        let place = usize::from(sample.route.0);
        if self.counts.len() <= place {
            self.counts.resize_with(place + 1, RequestCounts::default);
        }
        if sample.outcome.was_sent() {
            self.counts[place].add(RequestCounts {
                sent: 1,
                unanswered: u64::from(!sample.outcome.is_answer()),
                unrelayed: u64::from(sample.unrelayed),
            });
        }
        let (ended, answered) = (sample.due + sample.observed, sample.outcome.is_answer());
        if !sample.expected && sample.outcome.is_outage() {
            self.last_outage = self.last_outage.max(ended);
        }
        match sample.outcome {
            RequestOutcome::Answer { .. } => self.last_answer = self.last_answer.max(ended),
            // Its requests were answered.
            RequestOutcome::GivenUp => {}
            _ => self.last_unanswered = self.last_unanswered.max(sample.due),
        }
        self.timeline.record(sample.due, sample.response(), sample.expected, answered);
        if !sample.measured {
            return;
        }
        self.delay.record(sample.delay);
        sample.lateness.into_iter().for_each(|lateness| self.lateness.record(lateness));
        sample.waiting.into_iter().for_each(|waiting| self.waiting.record(waiting));
        let series = self.series_for(sample.route, sample.outcome, sample.expected);
        series.response.record(sample.response());
        if sample.waited {
            series.waited.record(sample.response());
        }
        series.observed.record(sample.observed);
        if sample.outcome.was_sent() {
            series.service.record(sample.service);
        }
    }

    /// Records the end of an operation.
    pub fn record_operation(&mut self, measured: bool, end: OperationEnd, due: Duration, ended: Duration) {
        let ledger = if measured { &mut self.ledger } else { &mut self.warm_up };
        ledger.scheduled += 1;
        match end {
            (RequestOutcome::Answer { .. } | RequestOutcome::GivenUp, expected) => {
                ledger.answered += 1;
                ledger.unexpected += u64::from(!expected);
                if expected && measured {
                    self.completions.record(due, ended);
                }
            }
            (RequestOutcome::Failed(_), _) => ledger.failed += 1,
            (RequestOutcome::Dropped, _) => ledger.dropped += 1,
            (RequestOutcome::Open, _) => ledger.open += 1,
        }
    }

    /// Records what a connection did.
    pub fn record_traffic(&mut self, traffic: &ConnectionTraffic) {
        traffic.connect.into_iter().for_each(|connect| self.connects.record(connect));
        traffic.tls.into_iter().for_each(|tls| self.tls.record(tls));
        self.bytes_sent += traffic.bytes_sent;
        self.bytes_received += traffic.bytes_received;
    }

    /// Adds other measurements.
    pub fn add(&mut self, other: &Self) {
        self.ledger.add(&other.ledger);
        self.warm_up.add(&other.warm_up);
        self.completions.add(&other.completions);
        self.last_outage = self.last_outage.max(other.last_outage);
        self.last_answer = self.last_answer.max(other.last_answer);
        self.last_unanswered = self.last_unanswered.max(other.last_unanswered);
        for series in &other.series {
            let own = self.series_for(series.route, series.outcome, series.expected);
            own.response.add(&series.response);
            own.waited.add(&series.waited);
            own.observed.add(&series.observed);
            own.service.add(&series.service);
        }
        self.delay.add(&other.delay);
        self.lateness.add(&other.lateness);
        self.waiting.add(&other.waiting);
        self.verdict.add(&other.verdict);
        self.verdict_waited.add(&other.verdict_waited);
        self.verdict_observed.add(&other.verdict_observed);
        self.added.add(&other.added);
        self.connects.add(&other.connects);
        self.tls.add(&other.tls);
        self.bytes_sent += other.bytes_sent;
        self.bytes_received += other.bytes_received;
        self.timeline.add(&other.timeline);
        self.dates.add(&other.dates);
        self.counts.resize_with(self.counts.len().max(other.counts.len()), RequestCounts::default);
        self.counts.iter_mut().zip(&other.counts).for_each(|(own, theirs)| own.add(*theirs));
    }

    /// Counts of the requests on a route, by its index.
    pub fn counts_of(&self, route: usize) -> RequestCounts {
        self.counts.get(route).copied().unwrap_or_default()
    }

    /// Counts of all requests.
    pub fn all_counts(&self) -> RequestCounts {
        let mut sum = RequestCounts::default();
        self.counts.iter().for_each(|counts| sum.add(*counts));
        sum
    }

    /// Times to verdict. `waits`: how to count a session whose operation waited for a user.
    pub fn verdicts(&self, waits: UserWaits) -> ResponseTimes {
        let mut times = self.verdict.clone();
        waits.apply(&mut times, &self.verdict_waited);
        times
    }

    /// The sum of one histogram over these series.
    pub fn times(
        &self,
        takes: impl Fn(&OutcomeSeries) -> bool,
        of: impl Fn(&OutcomeSeries) -> &Histogram,
    ) -> ResponseTimes {
        let mut sum = ResponseTimes::default();
        for series in self.series.iter().filter(|series| takes(series)) {
            sum.part(series.outcome.is_answer()).add(of(series));
        }
        sum
    }

    /// Response times of these series. `waits`: how to count a request whose operation waited for a user.
    pub fn responses(&self, takes: impl Fn(&OutcomeSeries) -> bool, waits: UserWaits) -> ResponseTimes {
        let mut times = self.times(&takes, |series| &series.response);
        for series in self.series.iter().filter(|series| takes(series) && series.outcome.is_answer()) {
            waits.apply(&mut times, &series.waited);
        }
        times
    }

    fn series_for(&mut self, route: RouteId, outcome: RequestOutcome, expected: bool) -> &mut OutcomeSeries {
        let of_route = || self.series.iter().filter(|series| series.route == route).count();
        let find = |measurements: &[OutcomeSeries], outcome| {
            measurements.iter().position(|series| {
                series.route == route && series.outcome == outcome && series.expected == expected
            })
        };
        let mut outcome = outcome;
        let mut found = find(&self.series, outcome);
        if found.is_none() && of_route() >= MAX_OUTCOMES {
            outcome = RequestOutcome::Answer { status: 0, code: Code::Unlisted };
            found = find(&self.series, outcome);
        }
        let place = found.unwrap_or_else(|| {
            let [response, waited, observed, service] = [(); 4].map(|()| Histogram::default());
            self.series.push(OutcomeSeries { route, outcome, expected, response, waited, observed, service });
            self.series.len() - 1
        });
        &mut self.series[place]
    }
}

/// What a connection did for a request. A user's connection collects it, and the user records it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ConnectionTraffic {
    /// Time until a new connection was open, without TLS.
    pub connect: Option<Duration>,
    /// Duration of its TLS handshake; `None` without TLS.
    pub tls: Option<Duration>,
    /// Bytes of HTTP written to the connection.
    pub bytes_sent: u64,
    /// Bytes of HTTP read from the connection.
    pub bytes_received: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(status: u16, ms: u64, measured: bool) -> Sample {
        Sample {
            route: RouteId(0),
            outcome: RequestOutcome::Answer { status, code: Code::Plain },
            expected: status == 200,
            unrelayed: status == 502,
            due: Duration::from_secs(1),
            observed: Duration::from_millis(ms + 5),
            delay: Duration::from_millis(5),
            service: Duration::from_millis(ms / 2),
            waited: false,
            lateness: None,
            waiting: None,
            measured,
        }
    }

    #[test]
    fn outcomes_are_separate_and_warm_up_is_excluded() {
        let mut measurements = LoadMeasurements::default();
        for sample in
            [sample(200, 10, true), sample(200, 30, true), sample(500, 2, true), sample(200, 900, false)]
        {
            measurements.record(&sample);
        }
        measurements.record(&sample(502, 1, false));
        assert_eq!(&measurements.counts[..], [RequestCounts { sent: 5, unanswered: 0, unrelayed: 1 }]);
        let found: Vec<_> =
            measurements.series.iter().map(|series| (series.expected, series.response.count())).collect();
        assert_eq!(found, [(true, 2), (false, 1)]);
        assert_eq!(measurements.series[0].response.max() / 1000, 30);
        assert_eq!(measurements.series[0].observed.max() / 1000, 35);
        let mut sum = measurements.clone();
        sum.add(&measurements);
        assert_eq!(
            (
                sum.all_counts().sent,
                sum.counts_of(0).unrelayed,
                sum.series.len(),
                sum.series[0].service.count()
            ),
            (10, 2, 2, 4)
        );
    }

    #[test]
    fn number_of_outcomes_is_bounded() {
        let mut measurements = LoadMeasurements::default();
        (100..1000).for_each(|status| measurements.record(&sample(status, 1, true)));
        assert!(measurements.series.len() <= MAX_OUTCOMES + 2, "{}", measurements.series.len());
        assert_eq!(measurements.series.iter().map(|series| series.response.count()).sum::<u64>(), 900);
    }
}
