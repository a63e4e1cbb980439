use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::engine::{LoadRunContext, LoadUser, OperationEnd, Scenario as _};
use crate::measure::Codes;
use crate::plan::ScheduledOperation;
use crate::scenario::AnyScenario;
use edgeproof_cli::Failure;

/// Number of probes, and the time after which no further one starts.
const MAX_PROBES: u64 = 8;
const PROBING_LIMIT: Duration = Duration::from_secs(1);

/// Result of the probes.
pub(super) struct LatencyProbe {
    /// Latency of an operation: the second longest of the probes.
    pub(super) latency: Duration,
    /// Requests sent, by route.
    pub(super) sent: Vec<u64>,
}

/// Measures the latency of an operation by several sequential probes. Fails if the target does not answer.
pub(super) async fn probe_latency(
    codes: &Codes,
    scenario: &AnyScenario,
    timeout: Duration,
) -> Result<LatencyProbe, Failure> {
    let run = Arc::new(LoadRunContext::new(codes.clone(), timeout, false));
    run.start();
    let mut client = LoadUser::new(0, scenario, Arc::clone(&run));
    let mut times = Vec::new();
    let started = Instant::now();
    for number in 0..MAX_PROBES {
        if times.len() >= 2 && started.elapsed() > PROBING_LIMIT {
            break;
        }
        let begun = Instant::now();
        // Numbers that no run reaches.
        let scheduled = ScheduledOperation { number: (1 << 39) + number, at: Duration::ZERO, measured: true };
        client.set_measured(true);
        let end = scenario.play(&mut client, scheduled, begun).await;
        if end == OperationEnd::Failed {
            let measurements = run.recorder.sum().measurements;
            let observed =
                measurements.series.first().map_or_else(String::new, |series| codes.label(series.outcome));
            return Err(Failure::usage(
                format!("cannot reach the target before the run: {observed}"),
                "check its URL and that it runs; with TLS, check that its certificate covers this host and that --edge-ca or \
                 --service-ca names its CA file",
            )
            .incomplete());
        }
        times.push(begun.elapsed());
    }
    times.sort();
    Ok(LatencyProbe { latency: times[times.len() - 2], sent: run.recorder.sum().measurements.sent })
}
