use std::collections::HashMap;
use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use fixtures::credentials::{Credentials, ReadTokenForm, Role};
use fixtures::spec::{Spec, Stimulus, Table};
use harness::mock::{ClientAuth, Front, Limits, ReplyShape, Server, server_config};
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use serde_json::json;
use tokio::net::TcpListener;

use super::fault::Faults;
use super::sessions::Sessions;
use crate::measure::Codes;
use crate::scenario::{BadToken, Collections, Polling, SAMPLED};

/// A service that answers by script. Dropping it ends it.
pub struct Scripted {
    server: Server,
    shared: Arc<Shared>,
    front: Front,
    https: bool,
}

/// What it is set up with.
#[derive(Debug, Clone)]
pub struct ScriptedOptions {
    /// The tables that its answers come from.
    pub spec: Arc<Spec>,
    /// Its certificate, and the tokens that it knows.
    pub credentials: Arc<Credentials>,
    /// With TLS, as the interface has it.
    pub tls: bool,
    /// It stays away from collections that it has seen.
    pub replays: bool,
    /// From a collection until its verdict is there.
    pub verdict_after: Duration,
}

struct Shared {
    options: ScriptedOptions,
    accepted: Bytes,
    copy: Answer,
    failing: Answer,
    /// What each `Authorization` is answered that is not the valid one.
    tokens: HashMap<String, Answer>,
    unauthorized: Answer,
    valid: String,
    collections: AtomicU64,
    questions: AtomicU64,
    failed: AtomicU64,
    slowed: AtomicU64,
    sessions: Mutex<Sessions>,
    started: OnceLock<(Instant, Faults)>,
}

type Answer = (StatusCode, Bytes);

/// Longest body that is read, in bytes.
const MAX_BODY: usize = 4 * 1024 * 1024;
/// Longest `waitMs`.
const MAX_WAIT: Duration = Duration::from_secs(30);

impl Scripted {
    /// Starts it on a free port of this machine.
    pub async fn start(options: ScriptedOptions) -> io::Result<Self> {
        let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await?;
        let front = front(&options)?;
        let https = options.tls;
        let shared = Arc::new(Shared::new(options));
        let requests = Arc::clone(&shared);
        // As many connections as anybody may want to open.
        let limits = Limits { connections: 65_536, ..Limits::default() };
        let server = Server::start(listener, front.clone(), limits, move |request, _| {
            let shared = Arc::clone(&requests);
            async move { Ok::<_, Infallible>(shared.answer(request).await) }
        })?;
        Ok(Self { server, shared, front, https })
    }

    /// Its address, by the name `localhost`.
    pub fn url(&self) -> String {
        let scheme = if self.https { "https" } else { "http" };
        format!("{scheme}://localhost:{}", self.server.addr().port())
    }

    /// From now on it has these faults.
    pub fn begin(&self, started: Instant, faults: Faults) {
        let _ = self.shared.started.set((started, faults));
    }

    /// Is gone and comes back as its faults say; runs until that is over.
    pub async fn go_down(self: Arc<Self>) {
        let Some((started, Faults { down: Some(down), .. })) = self.shared.started.get() else { return };
        tokio::time::sleep_until((*started + down.at).into()).await;
        self.server.set_front(Front::Closes).await;
        tokio::time::sleep_until((*started + down.at + down.time).into()).await;
        self.server.set_front(self.front.clone()).await;
    }

    /// Collections that arrived.
    pub fn collections(&self) -> u64 {
        self.shared.collections.load(Ordering::Relaxed)
    }

    /// Questions for a verdict that arrived.
    pub fn questions(&self) -> u64 {
        self.shared.questions.load(Ordering::Relaxed)
    }

    /// Collections that were refused on purpose, and answers that were held back.
    pub fn hit(&self) -> (u64, u64) {
        (self.shared.failed.load(Ordering::Relaxed), self.shared.slowed.load(Ordering::Relaxed))
    }

    /// What it took for a collection, by its number; of a sample, and once.
    pub fn take_time(&self, number: u64) -> Option<Duration> {
        self.shared.sessions().take_time(number)
    }

    /// The value of `Authorization` that it takes.
    pub fn authorization(&self) -> &str {
        &self.shared.valid
    }

    /// Those that it refuses, each with the code of the tables.
    pub fn bad_tokens(&self, codes: &Codes) -> Vec<BadToken> {
        let refused = self.shared.tokens.iter();
        let mut bad: Vec<BadToken> = refused
            .map(|(authorization, (_, body))| BadToken {
                authorization: Some(authorization.clone()),
                code: Some(codes.read(body)),
            })
            .collect();
        bad.sort_by(|one, other| one.authorization.cmp(&other.authorization));
        bad.push(BadToken { authorization: None, code: Some(codes.read(&self.shared.unauthorized.1)) });
        bad
    }
}

impl Shared {
    fn new(options: ScriptedOptions) -> Self {
        let spec = Arc::clone(&options.spec);
        let shape = ReplyShape::from_profile(spec.profile());
        let relay = |stimulus| {
            let row = spec.by_stimulus(Table::Relay, stimulus);
            let (status, code) =
                row.map_or((500, ""), |row| (row.status().unwrap_or(500), row.code().unwrap_or_default()));
            (
                StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR),
                Bytes::from(shape.render(status, code).to_string()),
            )
        };
        let verdict = |stimulus| {
            let row = spec.by_stimulus(Table::Verdict, stimulus);
            let code = row.and_then(|row| row.code()).unwrap_or("unauthorized");
            let body = row
                .and_then(|row| row.body())
                .map_or_else(|| json!({ "error": code }).to_string(), ToString::to_string);
            (StatusCode::UNAUTHORIZED, Bytes::from(body))
        };
        let credentials = &options.credentials;
        let tokens = ReadTokenForm::ALL
            .into_iter()
            .filter_map(|form| Some((credentials.authorization(form)?, verdict(form.stimulus()?))))
            .collect();
        Self {
            accepted: spec.profile().relay_accepted.to_string().into(),
            copy: relay(Stimulus::Replayed),
            failing: relay(Stimulus::LicenseCheckFails),
            tokens,
            unauthorized: verdict(Stimulus::ReadTokenMissing),
            valid: credentials.authorization(ReadTokenForm::Valid).unwrap_or_default(),
            collections: AtomicU64::new(0),
            questions: AtomicU64::new(0),
            failed: AtomicU64::new(0),
            slowed: AtomicU64::new(0),
            sessions: Mutex::new(Sessions::new()),
            started: OnceLock::new(),
            options,
        }
    }

    async fn answer(&self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        let (status, body) = match (request.method(), request.uri().path().strip_prefix("/v1/verdict/")) {
            (&Method::GET, Some(reference)) => {
                self.questions.fetch_add(1, Ordering::Relaxed);
                let reference = reference.to_owned();
                self.verdict(&reference, &request).await
            }
            (&Method::POST, _) => self.collection(request.into_body()).await,
            _ => (StatusCode::OK, self.accepted.clone()),
        };
        let mut response = Response::new(Full::new(body));
        *response.status_mut() = status;
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        response
    }

    async fn collection(&self, body: Incoming) -> Answer {
        let begun = Instant::now();
        let Ok(body) = Limited::new(body, MAX_BODY).collect().await else {
            return (StatusCode::BAD_REQUEST, Bytes::from_static(b"{}"));
        };
        let number = self.collections.fetch_add(1, Ordering::Relaxed);
        let body = body.to_bytes();
        self.hold_back().await;
        let answer = self.judge(&body, number);
        if let Some((_, number)) = Collections::read(&body)
            && number % SAMPLED == 0
        {
            self.sessions().took(number, begun.elapsed());
        }
        answer
    }

    fn judge(&self, body: &Bytes, number: u64) -> Answer {
        if self.faults().failing.takes(number) {
            self.failed.fetch_add(1, Ordering::Relaxed);
            return self.failing.clone();
        }
        if self.options.replays && self.sessions().is_copy(body) {
            return self.copy.clone();
        }
        if !self.options.verdict_after.is_zero()
            && let Some((reference, _)) = Collections::read(body)
        {
            self.sessions().ready(reference, Instant::now() + self.options.verdict_after);
        }
        (StatusCode::OK, self.accepted.clone())
    }

    async fn verdict(&self, reference: &str, request: &Request<Incoming>) -> Answer {
        let authorization = request.headers().get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        if authorization != Some(self.valid.as_str()) {
            let known = authorization.and_then(|value| self.tokens.get(value));
            return known.unwrap_or(&self.unauthorized).clone();
        }
        self.hold_back().await;
        let pending = || {
            (StatusCode::NOT_FOUND, Bytes::from(json!({ "status": "pending", "ref": reference }).to_string()))
        };
        if Polling::none_comes(reference) {
            return pending();
        }
        let ready = self.sessions().ready(reference, Instant::now() + self.options.verdict_after);
        let left = ready.saturating_duration_since(Instant::now());
        let wait = wait(request.uri().query()).min(left);
        if !wait.is_zero() {
            tokio::time::sleep(wait).await;
        }
        if wait < left {
            return pending();
        }
        (
            StatusCode::OK,
            Bytes::from(json!({ "ref": reference, "decision": "allow", "confidence": 0.9 }).to_string()),
        )
    }

    async fn hold_back(&self) {
        let Faults { slow, stalls, .. } = self.faults();
        let at = self.started.get().map(|(started, _)| started.elapsed());
        let stalled = stalls.zip(at).map_or(Duration::ZERO, |(stalls, at)| stalls.wait(at));
        let time = slow + stalled;
        if !time.is_zero() {
            self.slowed.fetch_add(1, Ordering::Relaxed);
            tokio::time::sleep(time).await;
        }
    }

    fn faults(&self) -> Faults {
        self.started.get().map(|(_, faults)| *faults).unwrap_or_default()
    }

    fn sessions(&self) -> MutexGuard<'_, Sessions> {
        // A panic elsewhere leaves nothing half done in here.
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn wait(query: Option<&str>) -> Duration {
    let given = query.unwrap_or_default().split('&').find_map(|pair| pair.strip_prefix("waitMs="));
    given.and_then(|ms| ms.parse().ok()).map_or(Duration::ZERO, Duration::from_millis).min(MAX_WAIT)
}

fn front(options: &ScriptedOptions) -> io::Result<Front> {
    if !options.tls {
        return Ok(Front::Plain);
    }
    let certificate = options.credentials.certificate(Role::ServiceServer);
    let config = server_config(certificate.chain_der(), certificate.key_der(), ClientAuth::AnyOrNone);
    config.map(Front::Tls).map_err(|why| io::Error::new(io::ErrorKind::InvalidInput, why))
}
