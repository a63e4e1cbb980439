use std::str::FromStr;
use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, Instant};
use std::{fmt, io};

use clap::Args;
use edgeproof_cli::args::parse_duration;
use edgeproof_fixtures::credentials::Credentials;
use edgeproof_fixtures::spec::{Spec, Stimulus, Table};
use edgeproof_http::Limits;
use edgeproof_mock::{
    Action, Arrival, ArrivalAnswer, ListenerMode, Match, MockService, NewSession, Observer, Ready, Reply,
    Script, Scripted, ServiceEndpoint, ServiceOptions,
};
use edgeproof_reports::load::InjectedFault;
use parking_lot::Mutex;

use crate::measure::ServiceTimes;
use crate::plan::{PlanError, Share};
use crate::scenario::{OpaqueCollections, SessionState};

/// The mock service of a load run. It verifies read tokens and signs verdicts. Dropping it ends it.
pub struct LoadMock {
    /// The service.
    pub mock: Arc<MockService>,
    /// Its own times for sampled collections.
    pub service_times: Arc<ServiceTimes>,
    options: LoadMockOptions,
    faults: OnceLock<(Instant, InjectedFaults)>,
    /// Scripts that count collections and verdict requests, and inject faults.
    scripts: Mutex<[Scripted; 2]>,
}

/// Options of the mock.
#[derive(Debug, Clone)]
pub struct LoadMockOptions {
    /// Tables.
    pub spec: Arc<Spec>,
    /// Certificate and known tokens.
    pub credentials: Arc<Credentials>,
    /// Whether it opens each collection and refuses replays. Otherwise it accepts every collection unopened: cheap, and
    /// unable to detect replays.
    pub verifies: bool,
    /// Time from a collection to its verdict.
    pub verdict_after: Duration,
    /// Whether collections come through an edge: then it registers their sessions and samples its own time.
    pub behind_edge: bool,
}

/// Largest number of connections.
const CONNECTIONS: usize = 65_536;
/// Length of the repeating pattern of failures.
const FAILURE_PATTERN: u64 = 10_000;

impl LoadMock {
    /// Starts it on a free local port, with TLS.
    pub async fn start(options: LoadMockOptions) -> io::Result<Self> {
        let service_times = Arc::new(ServiceTimes::default());
        let service: Arc<OnceLock<Weak<MockService>>> = Arc::default();
        let defaults = ServiceOptions::new(Arc::clone(&options.spec), Arc::clone(&options.credentials));
        let observer = options.behind_edge.then(|| observer(&options, &service_times, &service));
        let mock = MockService::start_with(ServiceOptions {
            limits: Limits { connections: CONNECTIONS, ..defaults.limits },
            // The scripts count, so a journal is not needed.
            journal: 1,
            verdict_delay: options.verdict_after,
            observer,
            ..defaults
        })
        .await?;
        let mock = Arc::new(mock);
        let _ = service.set(Arc::downgrade(&mock));
        let scripts = Mutex::new(scripts(&mock, options.verifies, InjectedFaults::default()));
        Ok(Self { mock, service_times, options, faults: OnceLock::new(), scripts })
    }

    /// Injects these faults, and resets the counters.
    pub fn begin(&self, started: Instant, faults: InjectedFaults) {
        if self.faults.set((started, faults)).is_ok() {
            *self.scripts.lock() = scripts(&self.mock, self.options.verifies, faults);
        }
    }

    /// Goes down and comes back according to its faults. Returns when it is back.
    pub async fn go_down(self: Arc<Self>) {
        let Some((started, InjectedFaults { service_down_at: Some(down), .. })) = self.faults.get() else {
            return;
        };
        tokio::time::sleep_until((*started + down.at).into()).await;
        let mode = self.mock.mode();
        // Cannot fail: the same change worked at the start.
        let _ = self.mock.set_mode(ListenerMode::Closes).await;
        tokio::time::sleep_until((*started + down.at + down.time).into()).await;
        let _ = self.mock.set_mode(mode).await;
    }

    /// Collections and verdict requests that arrived.
    pub fn counts(&self) -> (u64, u64) {
        let [relay, verdicts] = &*self.scripts.lock();
        (relay.count() as u64, verdicts.count() as u64)
    }

    /// The injected faults, and how many requests they hit. The report counts those that failed while the service was
    /// down.
    pub fn hits(&self) -> Vec<InjectedFault> {
        let Some((_, faults)) = self.faults.get() else { return Vec::new() };
        let (collections, verdict_requests) = self.counts();
        let failed = (0..collections).filter(|number| fails(*faults, *number)).count() as u64;
        let back = faults.service_down_at.map(|down| (down.at + down.time).as_millis() as u64);
        let hits = [(collections + verdict_requests, None), (failed, None), (0, back)];
        let named = faults.names().into_iter().zip(hits);
        let fault = |(name, (hit, ended_ms)): (Option<String>, _)| {
            Some(InjectedFault { fault: name?, hit, ended_ms, recovery_ms: None })
        };
        named.filter_map(fault).collect()
    }

    /// Registers a session as if its collection had been accepted, now or long ago.
    pub fn register_session(&self, reference: &str, state: SessionState) {
        let session = NewSession::new(reference);
        let session = match state {
            SessionState::Unknown => return,
            SessionState::GetsVerdict => session.ready(Ready::After(self.options.verdict_after)),
            SessionState::TooOld => session.ready(Ready::Since(self.too_old())),
            SessionState::OtherLicense => session.license_id(self.options.credentials.other_license_id()),
        };
        self.mock.add_session(session);
    }

    /// An age beyond which the mock has no verdict.
    fn too_old(&self) -> Duration {
        self.options
            .spec
            .limit("limit.verdict-age")
            .unwrap_or_default()
            .saturating_add(Duration::from_secs(60))
    }
}

fn fails(faults: InjectedFaults, number: u64) -> bool {
    faults.service_failing.unwrap_or_default().takes(number % FAILURE_PATTERN)
}

fn scripts(mock: &MockService, verifies: bool, faults: InjectedFaults) -> [Scripted; 2] {
    let late = |script: Script| Reply {
        delay: faults.service_slow.unwrap_or_default(),
        ..script.replies.into_iter().next().expect("a script has at least one reply")
    };
    let usual = late(if verifies { Script::decide() } else { Script::accept(mock.profile()) });
    // The refusal of a failed license check.
    let failing = || {
        let row = mock.spec().by_stimulus(Table::Relay, Stimulus::LicenseCheckFails)?;
        Some(Script::refuse(mock.reply_shape(), row.status()?, row.code()?))
    };
    let is_failing = faults.service_failing.is_some_and(|failing| failing > Share::default());
    let replies = match failing().filter(|_| is_failing) {
        None => vec![usual],
        Some(failing) => {
            let failing = late(failing);
            let one = |number| if fails(faults, number) { failing.clone() } else { usual.clone() };
            (0..FAILURE_PATTERN).map(one).chain([Reply::now(Action::Again)]).collect()
        }
    };
    let verdicts = Script { replies: vec![late(Script::decide())] };
    [mock.script(Match::Everything, Script { replies }), mock.script(Match::Verdicts, verdicts)]
}

fn observer(
    options: &LoadMockOptions,
    service_times: &Arc<ServiceTimes>,
    service: &Arc<OnceLock<Weak<MockService>>>,
) -> Observer {
    let (service_times, service) = (Arc::clone(service_times), Arc::clone(service));
    let (verifies, verdict_after) = (options.verifies, options.verdict_after);
    Observer::new(move |arrival: &Arrival| {
        if arrival.endpoint != ServiceEndpoint::Relay {
            return;
        }
        let body = &arrival.request.body;
        if let Some(answered) = arrival.answered {
            service_times.record(body, answered.saturating_duration_since(arrival.at));
        }
        let accepted = arrival.answer.as_ref().and_then(ArrivalAnswer::status) == Some(200);
        // A verified collection has registered its session already.
        if !verifies
            && accepted
            && let Some(reference) = OpaqueCollections::read(body)
            && let Some(mock) = service.get().and_then(Weak::upgrade)
        {
            mock.add_session(NewSession::new(reference).ready(Ready::After(verdict_after)));
        }
    })
}

/// Faults injected into the mock service.
#[derive(Debug, Clone, Copy, PartialEq, Default, Args)]
#[command(next_help_heading = "Faults of the mock service")]
pub struct InjectedFaults {
    /// Delay added to each answer
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub service_slow: Option<Duration>,
    /// Share of collections that the mock refuses
    // As if its license check failed.
    #[arg(long, value_name = "SHARE")]
    pub service_failing: Option<Share>,
    /// Period without the mock, such as 10s:2s for 2 s after 10 s
    #[arg(long, value_name = "AT:FOR")]
    pub service_down_at: Option<Downtime>,
}

/// A period in which the mock closes every connection at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Downtime {
    /// Time from the start of the run.
    pub at: Duration,
    /// Length of the period.
    pub time: Duration,
}

impl InjectedFaults {
    /// The names in reports of the slow, failing and down fault.
    pub fn names(&self) -> [Option<String>; 3] {
        let failing = self.service_failing.filter(|failing| failing.value() > 0.0);
        [
            self.service_slow.map(|slow| format!("service slower by {}", humantime::format_duration(slow))),
            failing.map(|failing| format!("service failing {failing}")),
            self.service_down_at.map(|down| down.to_string()),
        ]
    }

    /// Whether there is any fault.
    pub fn any(&self) -> bool {
        self.names().iter().any(Option::is_some)
    }
}

impl FromStr for Downtime {
    type Err = PlanError;

    fn from_str(given: &str) -> Result<Self, PlanError> {
        let advice = "write AT:FOR, such as 10s:2s: down 10 s after the start, for 2 s";
        let refuse = |why: String| PlanError::new(why, advice);
        let (at, time) = given.split_once(':').ok_or_else(|| refuse("no colon".into()))?;
        Ok(Self { at: parse_duration(at).map_err(refuse)?, time: parse_duration(time).map_err(refuse)? })
    }
}

impl fmt::Display for Downtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = humantime::format_duration;
        write!(f, "service down at {} for {}", time(self.at), time(self.time))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn downtime_is_parsed() {
        assert_eq!("10s:2s".parse::<Downtime>().unwrap().to_string(), "service down at 10s for 2s");
        assert!("10s".parse::<Downtime>().is_err());
        assert!("10s:0s".parse::<Downtime>().is_err());
    }
}
