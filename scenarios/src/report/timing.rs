use std::time::Duration;

use edgeproof_reports::load::{Percentiles, TimelineFigures, TimelineMoment, Timing};

use crate::measure::{self, Histogram, ResponseTimes};
use crate::plan::Quantile as Q;

/// Percentiles, curve, distribution and histogram of times that all have an answer.
pub fn timing(times: &Histogram) -> Timing {
    response_timing(&ResponseTimes::from(times.clone()))
}

/// Percentiles, curve, distribution and histogram. Samples without an answer rank last.
pub fn response_timing(times: &ResponseTimes) -> Timing {
    let at = |quantile| times.at(quantile).us;
    let all = times.all();
    let answered = &times.answered;
    let unanswered = times.unanswered.count();
    let figures = Percentiles {
        count: all.count(),
        unanswered,
        min_us: if answered.count() > 0 { answered.min() } else { all.min() },
        mean_us: (all.mean() * 10.0).round() / 10.0,
        p50_us: at(Q::P50),
        p90_us: at(Q::P90),
        p95_us: at(Q::P95),
        p99_us: at(Q::P99),
        p999_us: at(Q::P999),
        max_us: at(Q::Max),
    };
    let nines = (1..=24).map(|step| 1.0 - 10f64.powf(-f64::from(step) / 4.0));
    let shares = (0..10).map(|tenth| f64::from(tenth) / 10.0).chain(nines).filter(|share| {
        // No point beyond the slowest request, nor one whose time is unknown.
        (1.0 - share) * all.count() as f64 >= 1.0 && !figures.is_lower_bound(*share)
    });
    let mut shares: Vec<f64> = shares.collect();
    shares.sort_by(f64::total_cmp);
    shares.dedup();
    let point = |share: f64| (share, answered.value_at_rank(Percentiles::rank(share, all.count())));
    let mut curve: Vec<(f64, u64)> = shares.into_iter().map(point).collect();
    if all.count() > 0 && unanswered == 0 {
        curve.push((1.0, answered.max()));
    }
    Timing {
        figures,
        curve,
        distribution: answered.distribution(4),
        histogram: all.encode(),
        unanswered_histogram: if unanswered > 0 { times.unanswered.encode() } else { String::new() },
    }
}

/// The timeline of a run. `asked` returns the number of operations due between two times.
pub fn timeline(timeline: &measure::Timeline, asked: impl Fn(Duration, Duration) -> f64) -> TimelineFigures {
    let width = timeline.width();
    let micros = |time: Option<Duration>| time.map(|time| time.as_micros() as u64);
    let document = |(place, moment): (usize, &measure::TimelineBucket)| TimelineMoment {
        asked: asked(width * place as u32, width * (place as u32 + 1)),
        due: moment.due,
        ended: moment.ended,
        errors: moment.errors,
        p50_us: micros(moment.quantile(0.5)),
        p99_us: micros(moment.quantile(0.99)),
        steps: moment.steps.clone(),
    };
    let moments = timeline.buckets().iter().enumerate().map(document).collect();
    TimelineFigures { width_ms: width.as_millis() as u64, moments }
}
