use std::io;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant};

use edgeproof_fixtures::credentials::{Credentials, ReadTokenForm};
use edgeproof_fixtures::seal::SealPublicKey;
use edgeproof_fixtures::spec::{Fact, Spec, Stimulus, Table};
use edgeproof_http::Limits;
use edgeproof_mock::{
    Action, Arrival, ListenerMode, Match, MockService, NewSession, Observer, Ready, Reply, Script, Scripted,
    ServiceEndpoint, ServiceOptions,
};

use super::fault::Faults;
use super::watch::Watch;
use crate::measure::Codes;
use crate::plan::Share;
use crate::scenario::{BadToken, Collections, Standing};

/// The mock service behind an edge under load. It verifies read tokens and signs verdicts in any case; collections it judges,
/// or takes by script. Dropping it ends it.
pub struct Behind {
    mock: Arc<MockService>,
    options: BehindOptions,
    mode: ListenerMode,
    watch: Arc<Watch>,
    faults: OnceLock<(Instant, Faults)>,
    scripts: Mutex<Scripts>,
}

/// What it is set up with.
#[derive(Debug, Clone)]
pub struct BehindOptions {
    /// The tables that its answers come from.
    pub spec: Arc<Spec>,
    /// Its certificate, and the tokens that it knows.
    pub credentials: Arc<Credentials>,
    /// What it does with collections.
    pub judging: Judging,
    /// From a collection until its verdict is there.
    pub verdict_after: Duration,
    /// Collections come through an edge: each is looked at for its session, and some for the time that they take.
    pub behind_edge: bool,
}

/// What a service does with collections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Judging {
    /// Opens each, and knows copies.
    Real,
    /// Takes all that comes: cheap, and blind to copies.
    Scripted,
}

/// They count, and do what the faults want.
struct Scripts {
    relay: Scripted,
    verdicts: Scripted,
}

/// Connections that it takes at a time: as many as anybody may want to open.
const CONNECTIONS: usize = 65_536;
/// Replies of which a share fails; they come in turns.
const TURN: u64 = 10_000;

impl Behind {
    /// Starts it on a free port of this machine, with TLS.
    pub async fn start(options: BehindOptions) -> io::Result<Self> {
        let watch = Arc::new(Watch::default());
        let service: Arc<OnceLock<Weak<MockService>>> = Arc::default();
        let defaults = ServiceOptions::new(Arc::clone(&options.spec), Arc::clone(&options.credentials));
        let observer = options.behind_edge.then(|| observer(&options, &watch, &service));
        let mock = MockService::start_with(ServiceOptions {
            limits: Limits { connections: CONNECTIONS, ..defaults.limits },
            // Scripts count; what arrived in detail is of no interest here.
            journal: 1,
            verdict_delay: options.verdict_after,
            observer,
            ..defaults
        })
        .await?;
        let mock = Arc::new(mock);
        let _ = service.set(Arc::downgrade(&mock));
        let mode = mock.mode();
        let scripts = Mutex::new(scripts(&mock, options.judging, Faults::default()));
        Ok(Self { mock, options, mode, watch, faults: OnceLock::new(), scripts })
    }

    /// Its address, by the name `localhost`.
    pub fn url(&self) -> String {
        self.mock.url()
    }

    /// The key that collections for it are sealed to.
    pub fn seal_key(&self) -> SealPublicKey {
        self.mock.seal_key()
    }

    /// What it takes for single collections.
    pub fn watch(&self) -> &Arc<Watch> {
        &self.watch
    }

    /// From now on it has these faults, and counts from nothing.
    pub fn begin(&self, started: Instant, faults: Faults) {
        if self.faults.set((started, faults)).is_ok() {
            *self.scripts() = scripts(&self.mock, self.options.judging, faults);
        }
    }

    /// Is gone and comes back as its faults say; runs until that is over.
    pub async fn go_down(self: Arc<Self>) {
        let Some((started, Faults { down: Some(down), .. })) = self.faults.get() else { return };
        tokio::time::sleep_until((*started + down.at).into()).await;
        // What cannot fail to be shown: it was shown at the start.
        let _ = self.mock.set_mode(ListenerMode::Closes).await;
        tokio::time::sleep_until((*started + down.at + down.time).into()).await;
        let _ = self.mock.set_mode(self.mode).await;
    }

    /// Collections that arrived.
    pub fn collections(&self) -> u64 {
        self.scripts().relay.count() as u64
    }

    /// Questions for a verdict that arrived.
    pub fn questions(&self) -> u64 {
        self.scripts().verdicts.count() as u64
    }

    /// Collections that were refused on purpose, and requests that were held back.
    pub fn hit(&self) -> (u64, u64) {
        let Some((_, faults)) = self.faults.get() else { return (0, 0) };
        let (collections, questions) = (self.collections(), self.questions());
        let failed = (0..collections).filter(|number| fails(faults.failing, *number)).count() as u64;
        (failed, if faults.slow.is_zero() { 0 } else { collections + questions })
    }

    /// Lets it know a session that somebody is about to ask for, as if its collection had been accepted just now, or long ago.
    pub fn introduce(&self, reference: &str, standing: Standing) {
        let session = NewSession::new(reference);
        let session = match standing {
            Standing::Unknown => return,
            Standing::Comes => session.ready(Ready::After(self.options.verdict_after)),
            Standing::TooOld => session.ready(Ready::Since(self.too_old())),
            Standing::Foreign => session.license_id(self.options.credentials.other_license_id()),
        };
        self.mock.add_session(session);
    }

    /// The value of `Authorization` that it takes.
    pub fn authorization(&self) -> String {
        self.options.credentials.authorization(ReadTokenForm::Valid).unwrap_or_default()
    }

    /// Those that it refuses, each with the code of the tables.
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

    /// An age at which no verdict is found any more.
    fn too_old(&self) -> Duration {
        let limit = self.options.spec.row("limit.verdict-age").map(|row| &row.fact);
        let seconds = match limit {
            Some(Fact::Limit { value: Some(seconds), .. }) => *seconds,
            _ => 0,
        };
        Duration::from_secs(seconds + 60)
    }

    fn scripts(&self) -> MutexGuard<'_, Scripts> {
        // A panic elsewhere leaves nothing half done in here.
        self.scripts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Behind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Behind").field("mock", &self.mock).finish_non_exhaustive()
    }
}

fn fails(failing: Share, number: u64) -> bool {
    failing.takes(number % TURN)
}

fn scripts(mock: &MockService, judging: Judging, faults: Faults) -> Scripts {
    let late = |script: Script| Reply {
        delay: faults.slow,
        ..script.replies.into_iter().next().expect("a script has at least one reply")
    };
    let usual = late(match judging {
        Judging::Real => Script::decide(),
        Judging::Scripted => Script::accept(mock.profile()),
    });
    let replies = match failing(mock).filter(|_| faults.failing.value() > 0.0) {
        None => vec![usual],
        Some(failing) => {
            let failing = late(failing);
            let one = |number| if fails(faults.failing, number) { failing.clone() } else { usual.clone() };
            (0..TURN).map(one).chain([Reply::now(Action::Again)]).collect()
        }
    };
    let verdicts = Script { replies: vec![late(Script::decide())] };
    Scripts {
        relay: mock.script(Match::Everything, Script { replies }),
        verdicts: mock.script(Match::Verdicts, verdicts),
    }
}

/// The service's own check fails.
fn failing(mock: &MockService) -> Option<Script> {
    let row = mock.spec().by_stimulus(Table::Relay, Stimulus::LicenseCheckFails)?;
    Some(Script::refuse(mock.reply_shape(), row.status()?, row.code()?))
}

fn observer(
    options: &BehindOptions,
    watch: &Arc<Watch>,
    service: &Arc<OnceLock<Weak<MockService>>>,
) -> Observer {
    let (watch, service) = (Arc::clone(watch), Arc::clone(service));
    let (judging, verdict_after) = (options.judging, options.verdict_after);
    Observer::new(move |arrival: &Arrival| {
        if arrival.endpoint != ServiceEndpoint::Relay {
            return;
        }
        let body = &arrival.request.body;
        if let Some(answered) = arrival.answered {
            watch.saw(body, answered.saturating_duration_since(arrival.at));
        }
        let accepted = arrival.answer.as_ref().and_then(edgeproof_mock::ArrivalAnswer::status) == Some(200);
        // What is judged for real has its session already.
        if judging == Judging::Scripted
            && accepted
            && let Some(reference) = Collections::read(body)
            && let Some(mock) = service.get().and_then(Weak::upgrade)
        {
            mock.add_session(NewSession::new(reference).ready(Ready::After(verdict_after)));
        }
    })
}
