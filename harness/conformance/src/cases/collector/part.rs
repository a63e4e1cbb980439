use std::convert::Infallible;

use edgeproof_reports::difference::Subject;
use strum::VariantArray;

use crate::cases::{CollectorMonitor, CollectorTarget, Part, RateLimitRule};
use crate::causes::Fingerprints;

/// The collector, in pages of a browser.
#[derive(Debug, Clone, Copy)]
pub struct Collector;

impl Part for Collector {
    const NAME: &'static str = "collector";
    const SUBJECT: Subject = Subject::Collector;
    const RATE_LIMIT: RateLimitRule = RateLimitRule::NotOfTarget;
    const MONITORS: &'static [CollectorMonitor] = CollectorMonitor::VARIANTS;

    type Need = Infallible;
    type Settings = ();
    type Exchange = Infallible;
    type Target = CollectorTarget;
    type Monitor = CollectorMonitor;

    fn fingerprints() -> &'static Fingerprints {
        Fingerprints::of_collectors()
    }
}
