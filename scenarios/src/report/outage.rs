use std::time::Duration;

use edgeproof_reports::load::{InjectedFault, micros};

use crate::engine::RunData;
use crate::measure::LoadMeasurements;

/// A target without an answer for this long before the end counts as gone.
const GONE_AFTER: Duration = Duration::from_secs(1);

/// Since when the target was gone. It is not gone if nothing was due after its last answer.
pub(super) fn gone(data: &RunData, measurements: &LoadMeasurements) -> Option<String> {
    let unanswered: u64 = measurements.unanswered.iter().sum();
    let end = data.took.saturating_sub(data.drained);
    let silent = end.checked_sub(data.last_answer)?;
    let was_asked = unanswered > 0 && data.last_unanswered >= data.last_answer;
    if data.interrupted.is_some() || !was_asked || silent < GONE_AFTER.min(end / 4) {
        return None;
    }
    Some(if data.last_answer.is_zero() {
        "the target never answered".to_owned()
    } else {
        let last = micros(data.last_answer.as_micros() as u64);
        format!("the target was gone from {last} after the start to the end")
    })
}

pub(super) fn faults(faults: Vec<InjectedFault>, data: &RunData) -> Vec<InjectedFault> {
    let measurements = &data.recorded.measurements;
    let last_outage = data.last_outage.map_or(0, |at| at.as_millis() as u64);
    let end = data.took.saturating_sub(data.drained).as_millis() as u64;
    let recovery = |fault: InjectedFault| {
        let Some(ended) = fault.ended_ms else { return fault };
        let recovered = last_outage + 250 < end && ended < end;
        InjectedFault {
            hit: measurements.unrelayed.iter().chain(&measurements.unanswered).sum(),
            recovery_ms: recovered.then(|| last_outage.saturating_sub(ended)),
            ..fault
        }
    };
    faults.into_iter().map(recovery).collect()
}
