use std::time::Duration;

use edgeproof_reports::load::{Percentiles, TimelineFigures, TimelineMoment, Timing};

use crate::measure::{self, Histogram};
use crate::plan::Quantile as Q;

/// Percentiles, curve, distribution and histogram.
pub fn timing(times: &Histogram) -> Timing {
    let at = |quantile| times.at(quantile);
    let figures = Percentiles {
        count: times.count(),
        min_us: times.min(),
        mean_us: (times.mean() * 10.0).round() / 10.0,
        p50_us: at(Q::P50),
        p90_us: at(Q::P90),
        p95_us: at(Q::P95),
        p99_us: at(Q::P99),
        p999_us: at(Q::P999),
        max_us: at(Q::Max),
    };
    let nines = (1..=24).map(|step| 1.0 - 10f64.powf(-f64::from(step) / 4.0));
    let shares = (0..10).map(|tenth| f64::from(tenth) / 10.0).chain(nines).filter(|share| {
        // No point beyond the slowest request.
        (1.0 - share) * times.count() as f64 >= 1.0
    });
    let mut shares: Vec<f64> = shares.collect();
    shares.sort_by(f64::total_cmp);
    shares.dedup();
    let mut curve: Vec<(f64, u64)> = shares.into_iter().map(|share| (share, times.value_at(share))).collect();
    if times.count() > 0 {
        curve.push((1.0, times.max()));
    }
    Timing { figures, curve, distribution: times.distribution(4), histogram: times.encode() }
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
