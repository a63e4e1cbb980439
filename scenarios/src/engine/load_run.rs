use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant, SystemTime};

use edgeproof::cli::signals::Interruption;
use goose::GooseAttack;
use goose::client::GooseClientBuilder;
use goose::config::GooseConfiguration;
use goose::goose::{GooseUser, Scenario as GooseScenario, Transaction, TransactionFunction};
use parking_lot::Mutex;
use tokio::task::JoinSet;
use tokio::time::{sleep, sleep_until, timeout};

use super::error::EngineError;
use super::load_run_options::{LoadRunOptions, ProgressListener, RunProgress, ScenarioLoad, StartTime};
use super::recorder::{LocalRecorder, OperationEnd};
use super::run_context::RunContext;
use super::self_monitor::{SelfMonitor, SelfMonitorReading, cpu_time};
use super::user::{Client, Scenario};
use super::workload::Workload;
use crate::measure::{Outcome, Sample};

/// A run that is over.
#[derive(Debug)]
pub struct RunData {
    /// When it began.
    pub start: StartTime,
    /// From the start to the end of the last operation.
    pub took: Duration,
    /// How long it waited at the end for what was under way.
    pub drained: Duration,
    /// What was recorded.
    pub recorded: LocalRecorder,
    /// Operations that were let begin.
    pub released: u64,
    /// Operations that the plan wanted until the run ended.
    pub planned: u64,
    /// When the last request ended that found the target gone or broken.
    pub last_outage: Option<Duration>,
    /// When the last request was answered.
    pub last_answer: Duration,
    /// What the generator cost.
    pub self_monitor: SelfMonitorReading,
    /// CPU time of the process over the run.
    pub cpu: Duration,
    /// What ended it early.
    pub interrupted: Option<Interruption>,
}

/// A run that is about to be played.
pub struct LoadRun<S> {
    options: LoadRunOptions<S>,
    run: Arc<RunContext>,
}

/// Longest wait for all users to be connected.
const CONNECT_LIMIT: Duration = Duration::from_secs(30);
/// Time until goose has noticed that all users run.
const GOOSE_SETTLES: Duration = Duration::from_millis(700);
/// Longest wait for goose to notice that its users are done.
const GOOSE_LIMIT: Duration = Duration::from_secs(30);

/// Plays a run to its end; a signal ends it early.
pub async fn play<S: Scenario>(
    options: LoadRunOptions<S>,
    interrupted: impl Future<Output = Interruption> + Send,
) -> Result<RunData, EngineError> {
    LoadRun::new(options).play(interrupted).await
}

impl<S: Scenario> LoadRun<S> {
    /// One that has not begun.
    pub fn new(options: LoadRunOptions<S>) -> Self {
        let run = RunContext::new(options.codes.clone(), options.timeout, options.goose_report.is_some());
        Self { options, run: Arc::new(run) }
    }

    /// What all users share.
    pub fn run(&self) -> &Arc<RunContext> {
        &self.run
    }

    /// Plays it to its end; a signal ends it early.
    pub async fn play(
        self,
        interrupted: impl Future<Output = Interruption> + Send,
    ) -> Result<RunData, EngineError> {
        let Self { mut options, run } = self;
        let goose = goose(&options, &run)?;
        let users: usize = options.loads.iter().map(|load| load.users).sum();
        // It is left over from an earlier run of this process, and counts as Ctrl-C.
        goose::reset_killswitch();
        let mut attack =
            // On the heap: goose's future takes 22 KB.
            tokio::spawn(async move { Box::pin(goose.execute()).await.map(drop).map_err(|why| why.to_string()) });
        tokio::pin!(interrupted);

        // Until everybody is connected, nothing counts.
        let mut ended_by = tokio::select! {
            ready = timeout(CONNECT_LIMIT, run.all_ready(users)) => { let _ = ready; None }
            signal = &mut interrupted => Some(signal),
            () = killed() => Some(Interruption::Interrupt),
            broke = &mut attack => return Err(broke_off(broke)),
        };
        if options.goose_report.is_some() {
            // Goose forgets what it counted while users were starting.
            sleep(GOOSE_SETTLES).await;
        }
        if let (Some(at), None) = (options.start_at, ended_by) {
            let wait = at.duration_since(SystemTime::now()).unwrap_or_default();
            ended_by = tokio::select! {
                () = sleep(wait) => None,
                signal = &mut interrupted => Some(signal),
                () = killed() => Some(Interruption::Interrupt),
            };
        }
        let start = StartTime { instant: run.start(), wall_clock: SystemTime::now() };
        if let Some(on_start) = options.on_start.take() {
            on_start(start.instant);
        }
        let cpu = cpu_time();
        let self_monitor = SelfMonitor::start();
        let mut pacers = Vec::new();
        for load in &options.loads {
            pacers.push(Pacer::start(Arc::clone(&load.workload), start.instant).map_err(EngineError::Pacer)?);
        }
        let live = options
            .live
            .clone()
            .map(|live| tokio::spawn(report_progress(live, Arc::clone(&run), workloads(&options))));

        let last = options.loads.iter().map(|load| load.workload.end()).max().unwrap_or_default();
        let all_done = run.all_done(users);
        tokio::pin!(all_done);
        let mut finished = false;
        if ended_by.is_none() {
            ended_by = tokio::select! {
                () = sleep_until((start.instant + last).into()) => None,
                () = &mut all_done => { finished = true; None }
                signal = &mut interrupted => Some(signal),
                () = killed() => Some(Interruption::Interrupt),
            };
        }
        let draining = Instant::now();
        if ended_by.is_none() && !finished {
            ended_by = tokio::select! {
                () = &mut all_done => None,
                () = sleep(options.drain) => None,
                signal = &mut interrupted => Some(signal),
                () = killed() => Some(Interruption::Interrupt),
            };
        }
        let ended = Instant::now();
        drop(pacers);
        run.stop.trigger();
        let self_monitor = self_monitor.read();
        let cpu = cpu_time().saturating_sub(cpu);
        // Now they have nothing left to do.
        let _ = timeout(GOOSE_LIMIT, run.all_done(users)).await;
        let goose = timeout(GOOSE_LIMIT, attack).await;
        if let Some(live) = live {
            live.abort();
        }
        if let Ok(broke @ (Err(_) | Ok(Err(_)))) = goose {
            return Err(broke_off(broke));
        }
        let took = ended - start.instant;
        let (released, planned) = drop_untaken(&options.loads, &run, took);
        Ok(RunData {
            start,
            took,
            drained: ended - draining,
            recorded: run.recorder.sum(),
            released,
            planned,
            last_outage: run.recorder.last_outage(),
            last_answer: run.recorder.last_answer(),
            self_monitor,
            cpu,
            interrupted: ended_by,
        })
    }
}

/// Operations that were let begin and that nobody took count as dropped, at the age that they have. Yields how many were
/// let begin, and how many should have been.
fn drop_untaken<S: Scenario>(loads: &[ScenarioLoad<S>], run: &RunContext, now: Duration) -> (u64, u64) {
    let (mut released, mut planned) = (0, 0);
    for ScenarioLoad { workload, scenario, .. } in loads {
        let (began, _) = workload.counts();
        released += began;
        let Some(arrivals) = workload.arrivals() else {
            planned += began;
            continue;
        };
        planned += arrivals.before(now).min(arrivals.count());
        for place in workload.untaken() {
            let scheduled = arrivals.get(place);
            let age = now.saturating_sub(scheduled.at);
            let sample = Sample {
                route: scenario.first_route(),
                outcome: Outcome::Dropped,
                expected: false,
                due: scheduled.at,
                response: age,
                service: Duration::ZERO,
                measured: scheduled.measured,
            };
            run.recorder.request(0, &sample);
            run.recorder.operation(0, scheduled.measured, OperationEnd::Dropped, true);
        }
    }
    (released, planned)
}

/// The thread that lets the operations of a workload begin; it ends when this is dropped.
struct Pacer {
    stop: Option<mpsc::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Pacer {
    fn start(workload: Arc<Workload>, started: Instant) -> std::io::Result<Self> {
        let (stop, stopped) = mpsc::channel();
        let thread = std::thread::Builder::new()
            .name("pacer".into())
            .spawn(move || workload.pace(started, &stopped))?;
        Ok(Self { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Pacer {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // It ends at once when nobody can tell it to stop any more.
            let _ = thread.join();
        }
    }
}

/// What a user of goose keeps between its transactions: the users that it stands for, with their connections.
#[derive(Clone)]
struct Session(Arc<Mutex<Vec<Client>>>);

/// Users of ours for one of goose's, which takes 8 KB itself: as much as all else that a user takes.
const SEATS: usize = 64;

/// Goose is told of requests by its own users only.
fn seats(report_to_goose: bool) -> usize {
    if report_to_goose { 1 } else { SEATS }
}

fn goose<S: Scenario>(
    options: &LoadRunOptions<S>,
    run: &Arc<RunContext>,
) -> Result<GooseAttack, EngineError> {
    let fault = |why: goose::GooseError| EngineError::Goose(why.to_string());
    let seats = seats(run.report_to_goose);
    let users: usize = options.loads.iter().map(|load| load.users.div_ceil(seats)).sum();
    let (users, rate) = (users.to_string(), (users * 50).to_string());
    // The rate is how fast goose starts users. Nor does it get a number of iterations, since it would then print lines of its
    // own: users tell it themselves when they are done.
    let mut arguments =
        vec!["--users", &users, "--increase-rate", &rate, "-qqq", "--no-telnet", "--no-print-metrics"];
    arguments.extend(["--no-error-summary", "--host", "http://127.0.0.1"]);
    let report = options.goose_report.as_ref().map(|path| path.to_string_lossy().into_owned());
    match &report {
        Some(path) => arguments.extend(["--report-file", path]),
        None => arguments.push("--no-metrics"),
    }
    let configuration = GooseConfiguration::parse_args_default(&arguments).map_err(fault)?;
    let mut attack = GooseAttack::initialize_with_config(configuration).map_err(fault)?;
    // One client for all, which nobody uses: requests go over connections of our own.
    let client = GooseClientBuilder::new().without_cookies();
    attack = attack.set_client_builder_without_cookies(client).map_err(fault)?;
    let numbers = Arc::new(AtomicUsize::new(0));
    let routes: Arc<[String]> = options.routes.clone().into();
    for load in &options.loads {
        let scenario = GooseScenario::new(&load.name)
            .set_weight(load.users.div_ceil(seats))
            .map_err(fault)?
            .register_transaction(
                Transaction::new(connect(load, run, &numbers)).set_on_start().set_name("connect"),
            )
            .register_transaction(Transaction::new(work(load, &routes)).set_name(&load.name));
        attack = attack.register_scenario(scenario);
    }
    Ok(attack)
}

/// Connects the users that one of goose's stands for, and leaves them in its session.
fn connect<S: Scenario>(
    load: &ScenarioLoad<S>,
    run: &Arc<RunContext>,
    numbers: &Arc<AtomicUsize>,
) -> TransactionFunction {
    let (scenario, run, numbers) = (Arc::clone(&load.scenario), Arc::clone(run), Arc::clone(numbers));
    let (seats, left) = (seats(run.report_to_goose), Arc::new(AtomicUsize::new(load.users)));
    Arc::new(move |user: &mut GooseUser| {
        let (scenario, run, numbers) = (Arc::clone(&scenario), Arc::clone(&run), Arc::clone(&numbers));
        let left = Arc::clone(&left);
        Box::pin(async move {
            let take = |left: usize| Some(left.saturating_sub(seats));
            let there = left.fetch_update(Ordering::AcqRel, Ordering::Acquire, take).unwrap_or(0);
            let mut clients = Vec::new();
            for _ in 0..there.min(seats) {
                let number = numbers.fetch_add(1, Ordering::Relaxed);
                let mut client = Client::new(number, &*scenario, Arc::clone(&run));
                client.connect().await;
                clients.push(client);
                run.user_ready();
            }
            user.set_session_data(Session(Arc::new(Mutex::new(clients))));
            Ok(())
        })
    })
}

/// Lets users play their workload to the end.
fn work<S: Scenario>(load: &ScenarioLoad<S>, routes: &Arc<[String]>) -> TransactionFunction {
    let (scenario, workload, routes) =
        (Arc::clone(&load.scenario), Arc::clone(&load.workload), Arc::clone(routes));
    Arc::new(move |user: &mut GooseUser| {
        let (scenario, workload, routes) =
            (Arc::clone(&scenario), Arc::clone(&workload), Arc::clone(&routes));
        Box::pin(async move {
            let session = user.get_session_data::<Session>().cloned();
            let clients = session.map(|Session(clients)| std::mem::take(&mut *clients.lock()));
            let clients = clients.unwrap_or_default();
            if clients.is_empty() {
                // Until goose ends the user.
                sleep(Duration::from_millis(20)).await;
                return Ok(());
            }
            let mut playing = JoinSet::new();
            for mut client in clients {
                if client.run().report_to_goose {
                    report_to_goose(user, &mut client, &workload, &*scenario, &routes).await;
                    client.run().user_done();
                    continue;
                }
                let (workload, scenario) = (Arc::clone(&workload), Arc::clone(&scenario));
                playing.spawn(async move {
                    let run = Arc::clone(client.run());
                    while client.work(&workload, &*scenario).await {}
                    drop(client);
                    run.user_done();
                });
            }
            while playing.join_next().await.is_some() {}
            if let Some(done) = &user.shutdown_channel {
                // Goose ends when all users said so; it listens as long as it runs.
                let _ = done.send(user.weighted_users_index);
            }
            Ok(())
        })
    })
}

/// Lets a user play its workload to the end, and tells goose of each request.
async fn report_to_goose(
    user: &mut GooseUser,
    client: &mut Client,
    workload: &Workload,
    scenario: &impl Scenario,
    routes: &[String],
) {
    loop {
        let more = client.work(workload, scenario).await;
        for (route, time, success, status) in client.take_goose_requests() {
            let name = routes.get(usize::from(route.0)).map_or("?", String::as_str);
            let (method, path) = name.split_once(' ').unwrap_or(("?", name));
            // A figure that goose does not take is in our own report all the same.
            let _ = user.record_custom_request_duration(method, path, time, success, status, None).await;
        }
        if !more {
            return;
        }
    }
}

fn workloads<S>(options: &LoadRunOptions<S>) -> Vec<Arc<Workload>> {
    options.loads.iter().map(|load| Arc::clone(&load.workload)).collect()
}

async fn report_progress(live: ProgressListener, run: Arc<RunContext>, workloads: Vec<Arc<Workload>>) {
    let end = workloads.iter().map(|workload| workload.end()).max().unwrap_or_default();
    loop {
        sleep(Duration::from_millis(500)).await;
        let at = run.started().elapsed();
        let sum = run.recorder.sum();
        let (mut released, mut begun) = (0, 0);
        for (let_begin, taken) in workloads.iter().map(|workload| workload.counts()) {
            released += let_begin;
            begun += taken;
        }
        let draining = at > end;
        live(RunProgress {
            at,
            end,
            measurements: &sum.measurements,
            ledger: &sum.ledger,
            released,
            begun,
            draining,
        });
    }
}

/// Goose catches Ctrl-C for itself, and tells in no other way.
async fn killed() {
    while !goose::is_killswitch_triggered() {
        sleep(Duration::from_millis(50)).await;
    }
}

fn broke_off(result: Result<Result<(), String>, tokio::task::JoinError>) -> EngineError {
    EngineError::Goose(match result {
        Ok(Ok(())) => "it ended before its users were connected".into(),
        Ok(Err(why)) => why,
        Err(why) => why.to_string(),
    })
}
