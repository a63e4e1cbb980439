use edgeproof_fixtures::spec::Profile;
use edgeproof_reports::Observation;

use crate::run::plan::Pins;

/// Marks the observations that differ from the profile at points where that often is a mistake. A pinned point is known.
pub(super) fn mark_doubtful(observations: &mut [Observation], profile: &Profile, pins: &Pins) {
    for observation in observations {
        let Some(point) = profile.point(&observation.point).filter(|_| !pins.has(&observation.point)) else {
            continue;
        };
        if !point.value.is_seen_as(&observation.observed, point.caseless) {
            observation.often_a_mistake.clone_from(&point.often_a_mistake);
            observation.profile = point.often_a_mistake.as_ref().map(|_| point.value.to_string());
        }
    }
}
