use strum::{EnumIter, EnumString, IntoStaticStr};

/// A percentile of measured times, or the maximum. Iterates from the median outwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumIter, EnumString, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Quantile {
    /// The median.
    P50,
    /// The 90th percentile.
    P90,
    /// The 95th percentile.
    P95,
    /// The 99th percentile.
    P99,
    /// The 99.9th percentile.
    #[strum(serialize = "p99.9")]
    P999,
    /// The maximum.
    Max,
}

impl Quantile {
    /// The name in thresholds and reports, such as `p99.9`.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The share of times at or below the percentile, 0 to 1.
    pub fn share(self) -> f64 {
        match self {
            Self::P50 => 0.5,
            Self::P90 => 0.9,
            Self::P95 => 0.95,
            Self::P99 => 0.99,
            Self::P999 => 0.999,
            Self::Max => 1.0,
        }
    }
}
