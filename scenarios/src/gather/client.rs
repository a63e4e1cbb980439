use std::hash::{BuildHasher, RandomState};
use std::time::{Duration, Instant, SystemTime};

use bytes::Bytes;
use edgeproof_http::{Answer, Body, Draft, NoAnswer, ReusedConnection, ServerAddress};
use edgeproof_reports::load::{ClockFigures, LoadReport, ReferenceClock};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::task::{AbortHandle, spawn};
use tokio::time::{interval, sleep};
use url::Url;

use super::messages::{ClockReading, Join, Refusal, ShardId, StartAnswer, Step};
use super::run_token::RunToken;
use crate::measure::{ClockSample, ClockWindow, clock_figures, estimate, wall_step};
use crate::merge::RunDescription;

/// A shard's connection to `edgeproof-load gather`.
pub struct GatherClient {
    endpoint: ServerAddress,
    token: RunToken,
    shard: ShardId,
    connection: ReusedConnection,
}

/// A shard that knows its start. It tells gather that it runs until this value is dropped.
pub struct Gathered {
    client: GatherClient,
    /// The start by the clock of this machine.
    start: SystemTime,
    /// Both clocks of this machine when the clock of gather was measured.
    measured: (Instant, SystemTime),
    window: ClockWindow,
    alive: AbortHandle,
}

/// Why a shard cannot take part.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GatherError {
    /// Gather refuses it.
    #[error("{0}")]
    Refused(#[source] Refusal),
    /// Gather does not answer.
    #[error("{0}")]
    NoAnswer(#[source] NoAnswer),
    /// The answer is not of gather.
    #[error("the answer has status {0} and is not of gather")]
    OtherServer(u16),
}

/// Attempts to reach gather before the run: it may start later than the shards.
const ATTEMPTS: u32 = 40;
/// Time between attempts.
const PAUSE: Duration = Duration::from_millis(500);
/// Attempts to hand over the report.
const REPORT_ATTEMPTS: u32 = 4;
/// Timeout of a short answer. Gather lets a shard wait for the start for two seconds.
const LIMIT: Duration = Duration::from_secs(10);
/// Timeout to hand over a report.
const REPORT_LIMIT: Duration = Duration::from_secs(120);
/// Samples of the clock. The fastest round trip counts.
const SAMPLES: usize = 8;
/// Time between two messages that the shard runs.
const ALIVE: Duration = Duration::from_secs(1);

impl GatherClient {
    /// The shard with this index, at this gather.
    pub fn new(endpoint: ServerAddress, token: RunToken, index: u32) -> Self {
        let process = RandomState::new().hash_one((std::process::id(), Instant::now()));
        Self { endpoint, token, shard: ShardId { index, process }, connection: ReusedConnection::default() }
    }

    /// URL of gather.
    pub fn url(&self) -> &Url {
        self.endpoint.url()
    }

    /// Takes part in a run, waits until all shards do, and measures the clock of gather.
    pub async fn join(mut self, run: RunDescription) -> Result<Gathered, GatherError> {
        let join = Join { run: run.common() };
        let mut attempt = 1;
        while let Err(why) = self.ask::<()>(Step::Join, &join).await {
            if attempt == ATTEMPTS || !matches!(why, GatherError::NoAnswer(_)) {
                return Err(why);
            }
            attempt += 1;
            sleep(PAUSE).await;
        }
        let start_us = loop {
            let StartAnswer { start_us } = self.ask(Step::Start, &()).await?;
            if let Some(start_us) = start_us {
                break start_us;
            }
        };
        let measured = (Instant::now(), SystemTime::now());
        let window = self.measure(measured.0).await?;
        let alive = self.say_alive();
        let mut gathered = Gathered { client: self, start: measured.1, measured, window, alive };
        gathered.start = gathered.own_time(start_us);
        Ok(gathered)
    }

    /// Samples of gather's clock, since `zero`.
    async fn measure(&mut self, zero: Instant) -> Result<ClockWindow, GatherError> {
        let mut samples = Vec::with_capacity(SAMPLES);
        for _ in 0..SAMPLES {
            let sent = zero.elapsed();
            let ClockReading { now_us } = self.ask(Step::Clock, &()).await?;
            let received = zero.elapsed();
            samples.push(ClockSample { sent, received, theirs_us: now_us, resolution: Duration::ZERO });
        }
        Ok(ClockSample::fastest(&samples).expect("there is more than one sample"))
    }

    /// Tells gather once a second that the shard runs, over a connection of its own.
    fn say_alive(&self) -> AbortHandle {
        let mut client = Self {
            endpoint: self.endpoint.clone(),
            token: self.token.clone(),
            shard: self.shard,
            connection: ReusedConnection::default(),
        };
        let alive = async move {
            let mut every = interval(ALIVE);
            loop {
                every.tick().await;
                // If gather is gone, the shard learns it when it hands over its report.
                let _ = client.ask::<()>(Step::Alive, &()).await;
            }
        };
        spawn(alive).abort_handle()
    }

    async fn ask<T: DeserializeOwned>(
        &mut self,
        step: Step,
        message: &impl Serialize,
    ) -> Result<T, GatherError> {
        let body = serde_json::to_vec(message).expect("messages have fields of plain types");
        self.send(step, body.into(), LIMIT).await
    }

    async fn send<T: DeserializeOwned>(
        &mut self,
        step: Step,
        body: Bytes,
        limit: Duration,
    ) -> Result<T, GatherError> {
        let draft = Draft::new("POST", &self.shard.path(step))
            .header("Authorization", self.token.header())
            .header("Content-Type", "application/json")
            .body(Body::Sized(body));
        let sent = self.connection.send(&self.endpoint, &draft, limit).await;
        read(&sent.reply.map_err(GatherError::NoAnswer)?)
    }
}

impl Gathered {
    /// URL of gather.
    pub fn url(&self) -> &Url {
        self.client.url()
    }

    /// The start of the run by the clock of this machine.
    pub fn start(&self) -> SystemTime {
        self.start
    }

    /// The clock of this machine, compared with that of gather now and before the start.
    pub async fn clock(&mut self) -> ClockFigures {
        let end = self.client.measure(self.measured.0).await.ok();
        let step_us = wall_step(self.measured, (Instant::now(), SystemTime::now()));
        let windows: Vec<ClockWindow> = std::iter::once(self.window).chain(end).collect();
        clock_figures(estimate(&windows, false), ReferenceClock::Gather, self.measured.1, step_us)
    }

    /// Hands over the report.
    pub async fn hand_over(mut self, report: &LoadReport) -> Result<(), GatherError> {
        let body = Bytes::from(report.to_json());
        let mut attempt = 1;
        loop {
            match self.client.send(Step::Report, body.clone(), REPORT_LIMIT).await {
                Err(GatherError::NoAnswer(_)) if attempt < REPORT_ATTEMPTS => sleep(PAUSE).await,
                handed_over => return handed_over,
            }
            attempt += 1;
        }
    }

    /// The time of this machine's clock at a time of gather's.
    fn own_time(&self, theirs_us: i64) -> SystemTime {
        let (steady, wall) = self.measured;
        let middle = estimate(&[self.window], false).map_or(theirs_us, |estimate| estimate.start.middle());
        // In the past: the start was missed, which the starts of the report show.
        let until = u64::try_from(theirs_us.saturating_sub(middle)).unwrap_or(0);
        // A wall clock that was set since the measurement would move the start.
        let left = Duration::from_micros(until).saturating_sub(steady.elapsed());
        SystemTime::now().checked_add(left).unwrap_or(wall)
    }
}

impl Drop for Gathered {
    fn drop(&mut self) {
        self.alive.abort();
    }
}

fn read<T: DeserializeOwned>(answer: &Answer) -> Result<T, GatherError> {
    let other = || GatherError::OtherServer(answer.status);
    if answer.status == 200 {
        return serde_json::from_slice(&answer.body).map_err(|_| other());
    }
    Err(serde_json::from_slice(&answer.body).map_or_else(|_| other(), GatherError::Refused))
}
