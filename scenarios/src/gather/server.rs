use std::collections::HashSet;
use std::convert::Infallible;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use bytes::Bytes;
use edgeproof_http::{Limits, ListenerProtocol, Peer, Server};
use edgeproof_reports::load::{LoadReport, micros};
use http::header::{AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderMap, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use parking_lot::Mutex;
use serde::Serialize;
use tempfile::TempDir;
use tokio::fs::File;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::messages::{ClockReading, Join, Refusal, ShardId, StartAnswer, Step, wall_us};
use super::roster::{GatherStep, Roster};
use super::run_token::RunToken;
use crate::merge::{LostShard, RunDescription, edited};

/// The server of `edgeproof-load gather`. Dropping it closes all connections and deletes the reports.
pub struct GatherServer {
    /// `None` when it was stopped.
    server: Option<Server>,
    addr: SocketAddr,
    shared: Arc<Shared>,
}

/// An event for the user of gather.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GatherEvent {
    /// A shard takes part.
    Joined(u32, SocketAddr),
    /// All shards are there, and start.
    Started,
    /// The report of a shard is here.
    Delivered(u32),
    /// A shard was refused.
    Refused(u32, SocketAddr, String),
    /// A request without the run's token. Shown once for each address.
    WrongToken(IpAddr),
}

struct Shared {
    token: RunToken,
    began: Instant,
    roster: Mutex<Roster>,
    /// The start by our clock (µs since the Unix epoch); `None` before it is known.
    start: watch::Sender<Option<i64>>,
    reports: TempDir,
    /// Reports that are parsed at the same time.
    parsing: Semaphore,
    strangers: Mutex<HashSet<IpAddr>>,
    tell: Box<dyn Fn(GatherEvent) + Send + Sync>,
}

/// Largest report (bytes). That of a run of an hour has less than a tenth.
pub const MAX_REPORT: u64 = 64 << 20;
/// Largest other body (bytes).
const MAX_MESSAGE: usize = 256 << 10;
/// Time from the decision to start until the start: shards measure their clocks and start their users.
const LEAD: Duration = Duration::from_secs(3);
/// Longest time until a shard that waits gets an answer.
const LONG_POLL: Duration = Duration::from_secs(2);
/// Addresses of strangers that are shown.
const MAX_STRANGERS: usize = 20;

type Answer = Response<Full<Bytes>>;

impl GatherServer {
    /// Serves this number of shards. `tell` gets every event.
    pub fn start(
        listener: TcpListener,
        shards: u32,
        roster: Roster,
        token: RunToken,
        tell: impl Fn(GatherEvent) + Send + Sync + 'static,
    ) -> std::io::Result<Self> {
        let shared = Arc::new(Shared {
            token,
            began: Instant::now(),
            roster: Mutex::new(roster),
            start: watch::Sender::new(None),
            reports: TempDir::new()?,
            parsing: Semaphore::new(1),
            strangers: Mutex::default(),
            tell: Box::new(tell),
        });
        // A shard has two: it says that it runs while it sends its report. The others are for strangers.
        let limits = Limits {
            connections: shards as usize * 3 + 16,
            head: Duration::from_secs(10),
            body: Duration::from_secs(120),
            head_bytes: 16 * 1024,
            ..Limits::default()
        };
        let serving = Arc::clone(&shared);
        let server = Server::start(listener, ListenerProtocol::Plain, limits, move |request, peer| {
            let shared = Arc::clone(&serving);
            async move { Ok::<_, Infallible>(shared.answer(request, &peer).await) }
        })?;
        Ok(Self { addr: server.addr(), server: Some(server), shared })
    }

    /// Address of the listener.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Decides what to do now. Starts the shards when all are there.
    pub fn step(&self) -> GatherStep {
        let step = self.shared.roster.lock().step(self.shared.now());
        if step == GatherStep::Start {
            (self.shared.tell)(GatherEvent::Started);
            self.shared.start.send_replace(Some(wall_us(SystemTime::now() + LEAD)));
        }
        step
    }

    /// The shards without a report if gather ends now. `why`: a clause.
    pub fn interrupt(&self, why: &str) -> Vec<LostShard> {
        self.shared.roster.lock().interrupt(why)
    }

    /// The files of the delivered reports. They are deleted with this value.
    pub fn files(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.shared.reports.path()).into_iter().flatten();
        let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
        paths.filter(|path| path.extension().is_some_and(|kind| kind == "json")).collect()
    }

    /// Answers the shards that wait, and closes all connections. The reports stay.
    pub async fn stop(&mut self) {
        if let Some(server) = self.server.take() {
            server.stop(LONG_POLL + Duration::from_secs(1)).await;
        }
    }
}

impl Shared {
    fn now(&self) -> Duration {
        self.began.elapsed()
    }

    async fn answer(&self, request: Request<Incoming>, peer: &Peer) -> Answer {
        if !self.token.is(request.headers().get(AUTHORIZATION)) {
            self.note_stranger(peer.addr.ip());
            let advice =
                "give the shards the token of this gather: the variable GATHER_TOKEN or --gather-token-file";
            return refuse(
                StatusCode::UNAUTHORIZED,
                &Refusal::wrong("gather does not know the token", advice),
            );
        }
        let Some((shard, step)) = ShardId::of_path(request.uri().path()) else {
            let refusal =
                Refusal::wrong("gather does not know this request", "use edgeproof-load of the same version");
            return refuse(StatusCode::NOT_FOUND, &refusal);
        };
        let answered = match step {
            Step::Join => self.join(shard, request.into_body(), peer.addr).await,
            Step::Clock => self.clock(shard),
            Step::Start => self.start(shard).await,
            Step::Alive => self.roster.lock().hear(self.now(), shard).map(|()| json(&())),
            Step::Report => self.report(shard, request, peer.addr).await,
        };
        answered.unwrap_or_else(|refusal| refuse(StatusCode::CONFLICT, &refusal))
    }

    async fn join(&self, shard: ShardId, body: Incoming, from: SocketAddr) -> Result<Answer, Refusal> {
        let body = http_body_util::Limited::new(body, MAX_MESSAGE).collect().await;
        let joined = body.ok().and_then(|body| serde_json::from_slice::<Join>(&body.to_bytes()).ok());
        let joined = joined.ok_or_else(|| {
            let what =
                format!("shard {} cannot be understood: it is of another version of edgeproof", shard.index);
            Refusal::wrong(what, "use the same version of edgeproof for gather and for all shards")
        });
        let joined = joined.and_then(|join| self.roster.lock().join(self.now(), shard, join.run));
        match &joined {
            Ok(()) => (self.tell)(GatherEvent::Joined(shard.index, from)),
            Err(refusal) => self.note_refused(shard, from, refusal),
        }
        joined.map(|()| json(&()))
    }

    fn clock(&self, shard: ShardId) -> Result<Answer, Refusal> {
        self.roster.lock().hear(self.now(), shard)?;
        Ok(json(&ClockReading { now_us: wall_us(SystemTime::now()) }))
    }

    async fn start(&self, shard: ShardId) -> Result<Answer, Refusal> {
        let mut start = self.start.subscribe();
        self.roster.lock().ready(self.now(), shard)?;
        let known = timeout(LONG_POLL, start.wait_for(Option::is_some)).await;
        let start_us = known.ok().and_then(|known| known.ok().and_then(|start| *start));
        // The run may have been called off meanwhile.
        self.roster.lock().hear(self.now(), shard)?;
        Ok(json(&StartAnswer { start_us }))
    }

    async fn report(
        &self,
        shard: ShardId,
        request: Request<Incoming>,
        from: SocketAddr,
    ) -> Result<Answer, Refusal> {
        let Some(run) = self.roster.lock().expected_report(self.now(), shard)? else {
            return Ok(json(&()));
        };
        let taken = self.take_report(shard, request, &run).await;
        match &taken {
            Ok(()) => {
                self.roster.lock().deliver(shard)?;
                (self.tell)(GatherEvent::Delivered(shard.index));
            }
            Err(refusal) => {
                self.roster.lock().break_off(shard, &refusal.what);
                self.note_refused(shard, from, refusal);
            }
        }
        taken.map(|()| json(&()))
    }

    /// Writes a report to its file, in pieces, and checks it there.
    async fn take_report(
        &self,
        shard: ShardId,
        request: Request<Incoming>,
        run: &RunDescription,
    ) -> Result<(), Refusal> {
        check_size(announced(request.headers()).unwrap_or(0))?;
        // Another name for each process: a second upload does not disturb the first.
        let part = self.reports.path().join(format!("{}-{:x}.part", shard.index, shard.process));
        let unwritable = |why: std::io::Error| {
            let what = format!("gather cannot store the report: {why}");
            Refusal::incomplete(what, "check TMPDIR of gather and its free space")
        };
        let mut file = File::create(&part).await.map_err(unwritable)?;
        let (mut body, mut size) = (request.into_body(), 0);
        while let Some(frame) = body.frame().await {
            let broken = |_| {
                let what = format!("its report broke off after {size} bytes");
                Refusal::incomplete(what, "check the network between shard and gather")
            };
            let Ok(piece) = frame.map_err(broken)?.into_data() else { continue };
            size += piece.len() as u64;
            check_size(size)?;
            self.roster.lock().hear(self.now(), shard)?;
            file.write_all(&piece).await.map_err(unwritable)?;
        }
        file.flush().await.map_err(unwritable)?;
        let _one = self.parsing.acquire().await;
        let (run, path) = (run.clone(), part.clone());
        let checked = spawn_blocking(move || check_report(&path, shard.index, &run)).await;
        checked.unwrap_or_else(|_| Err(wrong_report("it cannot be read")))?;
        let whole = self.reports.path().join(format!("{}.json", shard.index));
        tokio::fs::rename(&part, whole).await.map_err(unwritable)
    }

    fn note_refused(&self, shard: ShardId, from: SocketAddr, refusal: &Refusal) {
        (self.tell)(GatherEvent::Refused(shard.index, from, refusal.what.clone()));
    }

    fn note_stranger(&self, ip: IpAddr) {
        let mut strangers = self.strangers.lock();
        if strangers.len() < MAX_STRANGERS && strangers.insert(ip) {
            drop(strangers);
            (self.tell)(GatherEvent::WrongToken(ip));
        }
    }
}

impl fmt::Display for GatherEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Joined(index, from) => write!(f, "shard {index} is there, from {from}"),
            Self::Started => {
                let lead = micros(LEAD.as_micros() as u64);
                write!(f, "all shards are there: they start in {lead}")
            }
            Self::Delivered(index) => write!(f, "shard {index} handed over its report"),
            Self::Refused(index, from, why) => write!(f, "refused shard {index}, from {from}: {why}"),
            Self::WrongToken(ip) => write!(f, "refused a request without the run's token, from {ip}"),
        }
    }
}

/// Checks that a report is of this shard and of this run.
fn check_report(path: &Path, index: u32, run: &RunDescription) -> Result<(), Refusal> {
    let report = LoadReport::load(path).map_err(|why| {
        // The path is of no use to the shard.
        let text = why.to_string().replace(&path.display().to_string(), "it");
        wrong_report(&text)
    })?;
    let is_of_shard = matches!(&report.shards[..], [shard] if shard.index == index);
    if !is_of_shard {
        return Err(wrong_report("it is of another shard"));
    }
    let reported = RunDescription::of(&report);
    // A run without injected faults reports none that it names.
    let reported = RunDescription { faults: run.faults.clone(), ..reported };
    match (run.difference(&reported), edited(&report)) {
        (Some(difference), _) => Err(wrong_report(&format!("its {difference} differs from that of the run"))),
        (None, Some(edited)) => Err(wrong_report(&edited)),
        (None, None) => Ok(()),
    }
}

fn wrong_report(why: &str) -> Refusal {
    Refusal::incomplete(
        format!("its report is wrong: {why}"),
        "start the run again, with one version of edgeproof",
    )
}

fn check_size(bytes: u64) -> Result<(), Refusal> {
    if bytes <= MAX_REPORT {
        return Ok(());
    }
    let what = format!("its report has {bytes} bytes or more, and the limit is {MAX_REPORT}");
    Err(Refusal::incomplete(what, "this is no report of edgeproof-load: check what runs with this token"))
}

fn announced(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

fn refuse(status: StatusCode, refusal: &Refusal) -> Answer {
    let mut answer = json(refusal);
    *answer.status_mut() = status;
    answer
}

fn json(message: &impl Serialize) -> Answer {
    let body = serde_json::to_vec(message).expect("messages have fields of plain types");
    let mut answer = Response::new(Full::new(Bytes::from(body)));
    answer.headers_mut().insert(CONTENT_TYPE, http::HeaderValue::from_static("application/json"));
    answer
}
