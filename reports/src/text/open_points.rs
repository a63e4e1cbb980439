//! Open points in the summary of a run.

use std::collections::BTreeSet;

use super::escape::one_line;
use super::units::counted;
use crate::model::Report;

/// Pinned points that one line names.
const PINS_SHOWN: usize = 5;

/// How many open points a run observed, and how to record them. None: it observed none.
pub(crate) fn observed(report: &Report) -> Option<String> {
    let points: BTreeSet<&str> = report.observations.iter().map(|seen| seen.point.as_str()).collect();
    let (count, them) = (counted(points.len(), "open point"), if points.len() == 1 { "it" } else { "them" });
    let text = format!("{count} observed: --record FILE writes {them}, --pin FILE asserts {them}");
    (!points.is_empty()).then_some(text)
}

/// The pinned points that the run did not observe. None: it observed each.
pub(crate) fn unchecked_pins(report: &Report) -> Option<String> {
    let pins = &report.unchecked_pins;
    let mut named: Vec<_> = pins.iter().take(PINS_SHOWN).map(|point| one_line(point)).collect();
    let more = pins.len() - named.len();
    if more > 0 {
        named.push(format!("and {more} more").into());
    }
    let count = counted(pins.len(), "pinned point");
    let text = format!("{count} not checked; this run did not observe {}", named.join(", "));
    (!pins.is_empty()).then_some(text)
}

/// The observations that often are a mistake, each with the profile and what it may mean.
pub(crate) fn doubtful(report: &Report) -> Vec<String> {
    let doubtful = report.observations.iter().filter_map(|seen| {
        let named =
            |value: &str| if value.is_empty() { "empty".to_owned() } else { one_line(value).into_owned() };
        let (profile, meaning) =
            (named(seen.profile.as_deref()?), one_line(seen.often_a_mistake.as_deref()?));
        let (point, actual) = (one_line(&seen.point), named(&seen.observed));
        Some(format!("{point} is {actual}, not {profile} as in the profile; {meaning}"))
    });
    doubtful.collect()
}
