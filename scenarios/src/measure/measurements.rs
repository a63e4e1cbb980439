use std::time::Duration;

use super::histogram::Histogram;
use super::outcome::{Code, Outcome};
use super::timeline::Timeline;

/// A route of the run, by its place in the plan. Reports name it, never an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RouteId(pub u8);

/// A request that came to an end.
#[derive(Debug, Clone, Copy)]
pub struct Sample {
    /// Where it went.
    pub route: RouteId,
    /// How it came out.
    pub outcome: Outcome,
    /// That is what was to come out.
    pub expected: bool,
    /// When it was to begin, since the start of the run.
    pub due: Duration,
    /// From then to its end.
    pub response: Duration,
    /// From when it was sent to its end; nothing where it never was.
    pub service: Duration,
    /// It is within the measured time.
    pub measured: bool,
}

/// The measured requests of a route that came out in one way.
#[derive(Debug, Clone, PartialEq)]
pub struct OutcomeSeries {
    /// The route.
    pub route: RouteId,
    /// How they came out.
    pub outcome: Outcome,
    /// That is what was to come out.
    pub expected: bool,
    /// Times from the intended start.
    pub response: Histogram,
    /// Times from the sending.
    pub service: Histogram,
}

/// Everything that is recorded, in one place; several of them are added up in the end.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Measurements {
    /// ComparedRun requests, by route, outcome and whether that was expected.
    pub series: Vec<OutcomeSeries>,
    /// How late the generator itself was: a connection was free, and the request went out later than intended.
    pub lateness: Histogram,
    /// How long operations waited because every connection was busy.
    pub waiting: Histogram,
    /// Times from the start of a session until its verdict was there.
    pub verdict: Histogram,
    /// What the edge adds: a round trip less the service's own part of it.
    pub added: Histogram,
    /// The run, moment by moment, warm-up and all.
    pub timeline: Timeline,
    /// Requests that were sent, measured or not, by route.
    pub sent: Vec<u64>,
    /// Requests without an answer, measured or not, by route.
    pub unanswered: Vec<u64>,
    /// Requests that an edge said it could not relay, measured or not, by route: they may have arrived or not.
    pub unrelayed: Vec<u64>,
}

/// Ways to come out that are told apart on a route; what a peer makes up beyond them counts as one.
const MOST: usize = 48;

impl Measurements {
    /// Records a request.
    pub fn record(&mut self, sample: &Sample) {
        let place = usize::from(sample.route.0);
        if self.sent.len() <= place {
            self.sent.resize(place + 1, 0);
            self.unanswered.resize(place + 1, 0);
            self.unrelayed.resize(place + 1, 0);
        }
        if sample.outcome.was_sent() {
            self.sent[place] += 1;
            self.unanswered[place] += u64::from(!matches!(sample.outcome, Outcome::Answer { .. }));
            self.unrelayed[place] += u64::from(matches!(sample.outcome, Outcome::Answer { status: 502, .. }));
        }
        self.timeline.record(sample.due, sample.response, sample.expected);
        if !sample.measured {
            return;
        }
        let series = self.series_for(sample.route, sample.outcome, sample.expected);
        series.response.record(sample.response);
        if sample.outcome.was_sent() {
            series.service.record(sample.service);
        }
    }

    /// Adds another's.
    pub fn add(&mut self, other: &Self) {
        for series in &other.series {
            let own = self.series_for(series.route, series.outcome, series.expected);
            own.response.add(&series.response);
            own.service.add(&series.service);
        }
        self.lateness.add(&other.lateness);
        self.waiting.add(&other.waiting);
        self.verdict.add(&other.verdict);
        self.added.add(&other.added);
        self.timeline.add(&other.timeline);
        for (own, theirs) in [
            (&mut self.sent, &other.sent),
            (&mut self.unanswered, &other.unanswered),
            (&mut self.unrelayed, &other.unrelayed),
        ] {
            own.resize(own.len().max(theirs.len()), 0);
            own.iter_mut().zip(theirs).for_each(|(own, theirs)| *own += theirs);
        }
    }

    fn series_for(&mut self, route: RouteId, outcome: Outcome, expected: bool) -> &mut OutcomeSeries {
        let of_route = || self.series.iter().filter(|series| series.route == route).count();
        let find = |measurements: &[OutcomeSeries], outcome| {
            measurements.iter().position(|series| {
                series.route == route && series.outcome == outcome && series.expected == expected
            })
        };
        let mut outcome = outcome;
        let mut found = find(&self.series, outcome);
        if found.is_none() && of_route() >= MOST {
            outcome = Outcome::Answer { status: 0, code: Code::Unlisted };
            found = find(&self.series, outcome);
        }
        let place = found.unwrap_or_else(|| {
            let (response, service) = (Histogram::new(), Histogram::new());
            self.series.push(OutcomeSeries { route, outcome, expected, response, service });
            self.series.len() - 1
        });
        &mut self.series[place]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(status: u16, ms: u64, measured: bool) -> Sample {
        Sample {
            route: RouteId(0),
            outcome: Outcome::Answer { status, code: Code::Plain },
            expected: status == 200,
            due: Duration::from_secs(1),
            response: Duration::from_millis(ms),
            service: Duration::from_millis(ms / 2),
            measured,
        }
    }

    #[test]
    fn outcomes_stay_apart_and_the_warm_up_is_left_out() {
        let mut measurements = Measurements::default();
        for sample in
            [sample(200, 10, true), sample(200, 30, true), sample(500, 2, true), sample(200, 900, false)]
        {
            measurements.record(&sample);
        }
        measurements.record(&sample(502, 1, false));
        assert_eq!((&measurements.sent[..], &measurements.unrelayed[..]), (&[5][..], &[1][..]));
        let found: Vec<_> =
            measurements.series.iter().map(|series| (series.expected, series.response.count())).collect();
        assert_eq!(found, [(true, 2), (false, 1)]);
        assert_eq!(measurements.series[0].response.max() / 1000, 30);
        let mut sum = measurements.clone();
        sum.add(&measurements);
        assert_eq!(
            (sum.sent[0], sum.unrelayed[0], sum.series.len(), sum.series[0].service.count()),
            (10, 2, 2, 4)
        );
    }

    #[test]
    fn a_peer_cannot_make_up_outcomes_without_end() {
        let mut measurements = Measurements::default();
        (100..1000).for_each(|status| measurements.record(&sample(status, 1, true)));
        assert!(measurements.series.len() <= MOST + 2, "{}", measurements.series.len());
        assert_eq!(measurements.series.iter().map(|series| series.response.count()).sum::<u64>(), 900);
    }
}
