use std::io;
use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, Instant};

use edgeproof_fixtures::credentials::{Credentials, ReadTokenForm};
use edgeproof_fixtures::seal::SealPublicKey;
use edgeproof_fixtures::spec::{Fact, Spec, Stimulus, Table};
use edgeproof_http::Limits;
use edgeproof_mock::{
    Action, Arrival, ListenerMode, Match, MockService, NewSession, Observer, Ready, Reply, Script, Scripted,
    ServiceEndpoint, ServiceOptions,
};
use parking_lot::Mutex;

use super::injected_faults::InjectedFaults;
use crate::measure::{Codes, ServiceTimes};
use crate::plan::Share;
use crate::scenario::{BadToken, OpaqueCollections, SessionState};

/// The mock service of a load run. It verifies read tokens and signs verdicts. Dropping it ends it.
pub struct LoadMock {
    mock: Arc<MockService>,
    options: LoadMockOptions,
    mode: ListenerMode,
    service_times: Arc<ServiceTimes>,
    faults: OnceLock<(Instant, InjectedFaults)>,
    scripts: Mutex<CountingScripts>,
}

/// Options of the mock.
#[derive(Debug, Clone)]
pub struct LoadMockOptions {
    /// Tables.
    pub spec: Arc<Spec>,
    /// Certificate and known tokens.
    pub credentials: Arc<Credentials>,
    /// How it handles collections.
    pub collection_mode: CollectionMode,
    /// Time from a collection to its verdict.
    pub verdict_after: Duration,
    /// Whether collections come through an edge: then it registers their sessions and samples its own time.
    pub behind_edge: bool,
}

/// How the mock handles collections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CollectionMode {
    /// Opens each collection and refuses replays.
    Verify,
    /// Accepts every collection unopened: cheap, and unable to detect replays.
    AcceptAll,
}

/// Scripts that count requests and inject faults.
struct CountingScripts {
    relay: Scripted,
    verdicts: Scripted,
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
        let mode = mock.mode();
        let scripts = Mutex::new(scripts(&mock, options.collection_mode, InjectedFaults::default()));
        Ok(Self { mock, options, mode, service_times, faults: OnceLock::new(), scripts })
    }

    /// Its URL, with the host `localhost`.
    pub fn url(&self) -> String {
        self.mock.url()
    }

    /// The key that collections are sealed to.
    pub fn seal_key(&self) -> SealPublicKey {
        self.mock.seal_key()
    }

    /// Its own times for sampled collections.
    pub fn service_times(&self) -> &Arc<ServiceTimes> {
        &self.service_times
    }

    /// Injects these faults, and resets the counters.
    pub fn begin(&self, started: Instant, faults: InjectedFaults) {
        if self.faults.set((started, faults)).is_ok() {
            *self.scripts.lock() = scripts(&self.mock, self.options.collection_mode, faults);
        }
    }

    /// Goes down and comes back according to its faults. Returns when it is back.
    pub async fn go_down(self: Arc<Self>) {
        let Some((started, InjectedFaults { down: Some(down), .. })) = self.faults.get() else { return };
        tokio::time::sleep_until((*started + down.at).into()).await;
        // Cannot fail: the same change worked at the start.
        let _ = self.mock.set_mode(ListenerMode::Closes).await;
        tokio::time::sleep_until((*started + down.at + down.time).into()).await;
        let _ = self.mock.set_mode(self.mode).await;
    }

    /// Collections that arrived.
    pub fn collections(&self) -> u64 {
        self.scripts.lock().relay.count() as u64
    }

    /// Verdict requests that arrived.
    pub fn verdict_requests(&self) -> u64 {
        self.scripts.lock().verdicts.count() as u64
    }

    /// Number of refused collections, and of delayed requests.
    pub fn hit(&self) -> (u64, u64) {
        let Some((_, faults)) = self.faults.get() else { return (0, 0) };
        let (collections, verdict_requests) = (self.collections(), self.verdict_requests());
        let failed = (0..collections).filter(|number| fails(faults.failing, *number)).count() as u64;
        (failed, if faults.slow.is_zero() { 0 } else { collections + verdict_requests })
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

    /// A valid `Authorization` value.
    pub fn authorization(&self) -> String {
        self.options.credentials.authorization(ReadTokenForm::Valid).unwrap_or_default()
    }

    /// Invalid tokens, each with its expected code.
    pub fn bad_tokens(&self, codes: &Codes) -> Vec<BadToken> {
        let code = |stimulus: Stimulus| {
            let row = self.options.spec.by_stimulus(Table::Verdict, stimulus)?;
            let code = row.code().map(|code| codes.find(code));
            code.or_else(|| row.body().map(|body| codes.read(body.to_string().as_bytes())))
        };
        let bad = ReadTokenForm::ALL.into_iter().filter_map(|form| {
            let code = Some(code(form.stimulus()?)?);
            Some(BadToken { authorization: self.options.credentials.authorization(form), code })
        });
        bad.collect()
    }

    /// An age beyond which the mock has no verdict.
    fn too_old(&self) -> Duration {
        let limit = self.options.spec.row("limit.verdict-age").map(|row| &row.fact);
        let seconds = match limit {
            Some(Fact::Limit { value: Some(seconds), .. }) => *seconds,
            _ => 0,
        };
        Duration::from_secs(seconds + 60)
    }
}

fn fails(failing: Share, number: u64) -> bool {
    failing.takes(number % FAILURE_PATTERN)
}

fn scripts(mock: &MockService, collection_mode: CollectionMode, faults: InjectedFaults) -> CountingScripts {
    let late = |script: Script| Reply {
        delay: faults.slow,
        ..script.replies.into_iter().next().expect("a script has at least one reply")
    };
    let usual = late(match collection_mode {
        CollectionMode::Verify => Script::decide(),
        CollectionMode::AcceptAll => Script::accept(mock.profile()),
    });
    let replies = match failing(mock).filter(|_| faults.failing.value() > 0.0) {
        None => vec![usual],
        Some(failing) => {
            let failing = late(failing);
            let one = |number| if fails(faults.failing, number) { failing.clone() } else { usual.clone() };
            (0..FAILURE_PATTERN).map(one).chain([Reply::now(Action::Again)]).collect()
        }
    };
    let verdicts = Script { replies: vec![late(Script::decide())] };
    CountingScripts {
        relay: mock.script(Match::Everything, Script { replies }),
        verdicts: mock.script(Match::Verdicts, verdicts),
    }
}

/// The refusal of a failed license check.
fn failing(mock: &MockService) -> Option<Script> {
    let row = mock.spec().by_stimulus(Table::Relay, Stimulus::LicenseCheckFails)?;
    Some(Script::refuse(mock.reply_shape(), row.status()?, row.code()?))
}

fn observer(
    options: &LoadMockOptions,
    service_times: &Arc<ServiceTimes>,
    service: &Arc<OnceLock<Weak<MockService>>>,
) -> Observer {
    let (service_times, service) = (Arc::clone(service_times), Arc::clone(service));
    let (collection_mode, verdict_after) = (options.collection_mode, options.verdict_after);
    Observer::new(move |arrival: &Arrival| {
        if arrival.endpoint != ServiceEndpoint::Relay {
            return;
        }
        let body = &arrival.request.body;
        if let Some(answered) = arrival.answered {
            service_times.record(body, answered.saturating_duration_since(arrival.at));
        }
        let accepted = arrival.answer.as_ref().and_then(edgeproof_mock::ArrivalAnswer::status) == Some(200);
        // A verified collection has registered its session already.
        if collection_mode == CollectionMode::AcceptAll
            && accepted
            && let Some(reference) = OpaqueCollections::read(body)
            && let Some(mock) = service.get().and_then(Weak::upgrade)
        {
            mock.add_session(NewSession::new(reference).ready(Ready::After(verdict_after)));
        }
    })
}
