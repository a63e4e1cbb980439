use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};

use edgeproof_reports::load::Quantile;

/// Times in microseconds with three significant digits. Memory depends on the longest time, not on the number
/// of times.
#[derive(Debug, Clone, PartialEq)]
pub struct Histogram(hdrhistogram::Histogram<u64>);

/// A text is not an encoded histogram.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the histogram is invalid: {0}")]
pub struct HistogramError(String);

/// Longest distinguishable time (µs): 2 hours.
const LONGEST: u64 = 2 * 3600 * 1_000_000;

impl Histogram {
    /// Adds a time.
    pub fn record(&mut self, time: Duration) {
        self.record_micros(time.as_micros() as u64);
    }

    /// Adds a time (µs).
    pub fn record_micros(&mut self, us: u64) {
        // Cannot fail: the histogram resizes up to the longest time.
        let _ = self.0.record(us.min(LONGEST));
    }

    /// Adds all times of another histogram.
    pub fn add(&mut self, other: &Self) {
        // Cannot fail, as above.
        let _ = self.0.add(&other.0);
    }

    /// Number of times.
    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// The quantile (µs); 0 without times.
    pub fn at(&self, quantile: Quantile) -> u64 {
        match quantile {
            Quantile::Max => self.max(),
            quantile => self.value_at(quantile.share()),
        }
    }

    /// The time (µs) that this share of the times does not exceed; 0 without times.
    pub fn value_at(&self, share: f64) -> u64 {
        if self.count() == 0 { 0 } else { self.0.value_at_quantile(share).min(self.0.max()) }
    }

    /// The time (µs) with this rank, from 1; 0 without times.
    pub fn value_at_rank(&self, rank: u64) -> u64 {
        // Half a rank less, so that rounding does not reach the next one.
        self.value_at((rank as f64 - 0.5) / self.count().max(1) as f64)
    }

    /// The maximum (µs).
    pub fn max(&self) -> u64 {
        self.0.max()
    }

    /// The minimum (µs); 0 without times.
    pub fn min(&self) -> u64 {
        if self.count() == 0 { 0 } else { self.0.min() }
    }

    /// The mean (µs); 0 without times.
    pub fn mean(&self) -> f64 {
        if self.count() == 0 { 0.0 } else { self.0.mean() }
    }

    /// Number of times up to this limit (µs).
    pub fn up_to(&self, us: u64) -> u64 {
        if self.max() <= us { self.count() } else { self.0.count_between(0, us) }
    }

    /// Removes all times of another histogram. Fails if they are not all in this one.
    pub fn subtract(&mut self, other: &Self) -> Result<(), HistogramError> {
        self.0.subtract(&other.0).map_err(|_| HistogramError("it lacks times that another has".into()))
    }

    /// Non-empty buckets as upper bound (µs) and count.
    pub fn distribution(&self, steps_each_octave: u32) -> Vec<(u64, u64)> {
        let mut found: Vec<(u64, u64)> = Vec::new();
        for value in self.0.iter_recorded() {
            let us = value.value_iterated_to().max(1);
            let step = ((us as f64).log2() * f64::from(steps_each_octave)).ceil();
            let upper = (step / f64::from(steps_each_octave)).exp2().ceil() as u64;
            match found.last_mut() {
                Some((last, count)) if *last == upper => *count += value.count_at_value(),
                _ => found.push((upper, value.count_at_value())),
            }
        }
        found
    }

    /// The interchange format of HDR histograms: V2, deflated, Base64.
    pub fn encode(&self) -> String {
        let mut bytes = Vec::new();
        V2DeflateSerializer::new()
            .serialize(&self.0, &mut bytes)
            .expect("counts fit, and writing to memory does not fail");
        STANDARD.encode(bytes)
    }

    /// Reads the interchange format.
    pub fn decode(text: &str) -> Result<Self, HistogramError> {
        let bytes = STANDARD.decode(text).map_err(|why| HistogramError(why.to_string()))?;
        let mut histogram: hdrhistogram::Histogram<u64> = Deserializer::new()
            .deserialize(&mut bytes.as_slice())
            .map_err(|why| HistogramError(why.to_string()))?;
        if histogram.sigfig() != 3 || histogram.max() > 2 * LONGEST {
            return Err(HistogramError("it does not have 3 digits and microseconds".into()));
        }
        histogram.auto(true);
        Ok(Self(histogram))
    }
}

impl Default for Histogram {
    /// An empty histogram.
    fn default() -> Self {
        let mut histogram = hdrhistogram::Histogram::new_with_bounds(1, 1_000_000, 3)
            .expect("1 µs to 1 s at 3 digits is possible");
        histogram.auto(true);
        Self(histogram)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(times: &[u64]) -> Histogram {
        let mut histogram = Histogram::default();
        for us in times {
            histogram.record_micros(*us);
        }
        histogram
    }

    #[test]
    fn empty_histogram_is_all_zero() {
        let empty = Histogram::default();
        assert_eq!((empty.count(), empty.at(Quantile::P99), empty.max(), empty.up_to(0)), (0, 0, 0, 0));
        assert_eq!(Histogram::decode(&empty.encode()).unwrap(), empty);
    }

    #[test]
    fn longest_time_is_capped() {
        let histogram = of(&[1, u64::MAX]);
        assert_eq!(histogram.count(), 2);
        assert!(histogram.max() >= 7_190_000_000, "{}", histogram.max());
    }

    #[test]
    fn invalid_text_is_rejected() {
        for text in ["", "!", "AAAA", "HISTFAAAAAAA"] {
            assert!(Histogram::decode(text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn quantiles_have_three_digits(mut times in prop::collection::vec(1u64..100_000_000, 1..300)) {
            let histogram = of(&times);
            times.sort_unstable();
            for quantile in Quantile::ALL {
                let rank = ((quantile.share() * times.len() as f64).ceil() as usize).clamp(1, times.len());
                let exact = times[rank - 1] as f64;
                let found = histogram.at(quantile) as f64;
                prop_assert!((found - exact).abs() <= exact / 1000.0 + 1.0, "{}: {found}, not {exact}", quantile.name());
            }
            prop_assert_eq!(histogram.distribution(8).iter().map(|(_, count)| count).sum::<u64>(), times.len() as u64);
        }

        #[test]
        fn sum_equals_recording_in_one_histogram(
            one in prop::collection::vec(0u64..10_000_000, 0..100), two in prop::collection::vec(0u64..10_000_000, 0..100),
        ) {
            let mut sum = Histogram::decode(&of(&one).encode()).unwrap();
            sum.add(&of(&two));
            let all = of(&[one, two].concat());
            prop_assert_eq!(sum.count(), all.count());
            for quantile in Quantile::ALL {
                prop_assert_eq!(sum.at(quantile), all.at(quantile));
            }
        }
    }
}
