use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use goose::GooseAttack;
use goose::client::GooseClientBuilder;
use goose::config::GooseConfiguration;
use goose::goose::{GooseUser, Scenario as GooseScenario, Transaction, TransactionFunction};
use parking_lot::Mutex;
use tokio::task::{JoinError, JoinSet};
use tokio::time::sleep;

use super::error::EngineError;
use super::load_run_options::{LoadRunOptions, ScenarioLoad};
use super::run_context::LoadRunContext;
use super::user::{LoadUser, Scenario};
use super::workload::Workload;

/// The session data of a goose user: the users that it runs, with their connections.
#[derive(Clone)]
struct GooseSession(Arc<Mutex<Vec<LoadUser>>>);

/// Users per goose user. A goose user takes 8 KB, as much as one of ours.
const USERS_PER_GOOSE_USER: usize = 64;

/// Goose accepts requests only from its own users, so then each has one of ours.
fn users_per_goose_user(report_to_goose: bool) -> usize {
    if report_to_goose { 1 } else { USERS_PER_GOOSE_USER }
}

pub(super) fn prepare<S: Scenario>(
    options: &LoadRunOptions<S>,
    run: &Arc<LoadRunContext>,
) -> Result<GooseAttack, EngineError> {
    let fault = |why: goose::GooseError| EngineError::Goose(why.to_string());
    let users_per_goose_user = users_per_goose_user(run.report_to_goose);
    let users: usize = options.loads.iter().map(|load| load.users.div_ceil(users_per_goose_user)).sum();
    let (users, rate) = (users.to_string(), (users * 50).to_string());
    // `increase-rate` is how fast goose starts users. Without a number of iterations goose prints nothing;
    // the users report that they are done themselves.
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
    // Goose's client is unused: requests use connections of this crate.
    let client = GooseClientBuilder::new().without_cookies();
    attack = attack.set_client_builder_without_cookies(client).map_err(fault)?;
    let numbers = Arc::new(AtomicUsize::new(0));
    let routes: Arc<[String]> = options.routes.clone().into();
    for load in &options.loads {
        let scenario = GooseScenario::new(&load.name)
            .set_weight(load.users.div_ceil(users_per_goose_user))
            .map_err(fault)?
            .register_transaction(
                Transaction::new(connect(load, run, &numbers)).set_on_start().set_name("connect"),
            )
            .register_transaction(Transaction::new(work(load, &routes)).set_name(&load.name));
        attack = attack.register_scenario(scenario);
    }
    Ok(attack)
}

/// The transaction that connects the users and stores them in the session.
fn connect<S: Scenario>(
    load: &ScenarioLoad<S>,
    run: &Arc<LoadRunContext>,
    numbers: &Arc<AtomicUsize>,
) -> TransactionFunction {
    let (scenario, run, numbers) = (Arc::clone(&load.scenario), Arc::clone(run), Arc::clone(numbers));
    let (users_per_goose_user, left) =
        (users_per_goose_user(run.report_to_goose), Arc::new(AtomicUsize::new(load.users)));
    Arc::new(move |user: &mut GooseUser| {
        let (scenario, run, numbers) = (Arc::clone(&scenario), Arc::clone(&run), Arc::clone(&numbers));
        let left = Arc::clone(&left);
        Box::pin(async move {
            let take = |left: usize| Some(left.saturating_sub(users_per_goose_user));
            let there = left.fetch_update(Ordering::AcqRel, Ordering::Acquire, take).unwrap_or(0);
            let mut clients = Vec::new();
            for _ in 0..there.min(users_per_goose_user) {
                let number = numbers.fetch_add(1, Ordering::Relaxed);
                let mut client = LoadUser::new(number, &*scenario, Arc::clone(&run));
                client.connect().await;
                clients.push(client);
                run.user_ready();
            }
            user.set_session_data(GooseSession(Arc::new(Mutex::new(clients))));
            Ok(())
        })
    })
}

/// The transaction that runs the users until their workload ends.
fn work<S: Scenario>(load: &ScenarioLoad<S>, routes: &Arc<[String]>) -> TransactionFunction {
    let (scenario, workload, routes) =
        (Arc::clone(&load.scenario), Arc::clone(&load.workload), Arc::clone(routes));
    Arc::new(move |user: &mut GooseUser| {
        let (scenario, workload, routes) =
            (Arc::clone(&scenario), Arc::clone(&workload), Arc::clone(&routes));
        Box::pin(async move {
            let session = user.get_session_data::<GooseSession>().cloned();
            let clients = session.map(|GooseSession(clients)| std::mem::take(&mut *clients.lock()));
            let clients = clients.unwrap_or_default();
            if clients.is_empty() {
                // Until goose stops the user.
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
                // Goose ends when all users have reported. The channel is open as long as goose runs.
                let _ = done.send(user.weighted_users_index);
            }
            Ok(())
        })
    })
}

/// Runs one user until its workload ends, and reports each request to goose.
async fn report_to_goose(
    user: &mut GooseUser,
    client: &mut LoadUser,
    workload: &Workload,
    scenario: &impl Scenario,
    routes: &[String],
) {
    loop {
        let more = client.work(workload, scenario).await;
        for (route, time, success, status) in client.take_goose_requests() {
            let name = routes.get(usize::from(route.0)).map_or("?", String::as_str);
            let (method, path) = name.split_once(' ').unwrap_or(("?", name));
            // A request that goose rejects is still in our own report.
            let _ = user.record_custom_request_duration(method, path, time, success, status, None).await;
        }
        if !more {
            return;
        }
    }
}

/// Waits for Ctrl-C. Goose has its own handler, which only sets this switch.
pub(super) async fn killed() {
    while !goose::is_killswitch_triggered() {
        sleep(Duration::from_millis(50)).await;
    }
}

pub(super) fn ended_early(result: Result<Result<(), String>, JoinError>) -> EngineError {
    EngineError::Goose(match result {
        Ok(Ok(())) => "goose ended before all users were connected".into(),
        Ok(Err(why)) => why,
        Err(why) => why.to_string(),
    })
}
