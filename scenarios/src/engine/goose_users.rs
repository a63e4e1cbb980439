use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use goose::GooseAttack;
use goose::client::GooseClientBuilder;
use goose::config::GooseConfiguration;
use goose::goose::{GooseUser, Scenario, Transaction, TransactionFunction, TransactionResult};
use tokio::task::JoinError;
use tokio::time::sleep;

use super::error::EngineError;
use super::run_context::{LoadRunContext, LoadTransaction};
use super::user::LoadUser;
use super::workload::ScenarioWeights;
use crate::measure::RouteId;

/// Takes the transactions out of goose scenarios. The route of a transaction is its name.
pub(super) fn transactions(
    scenarios: &[Scenario],
    routes: &[String],
) -> (Vec<ScenarioWeights>, Vec<Vec<LoadTransaction>>) {
    let route = |transaction: &Transaction| {
        let name = transaction.name.name_for_transaction();
        RouteId(routes.iter().position(|route| route == name).unwrap_or(0) as u8)
    };
    let of_scenario = |scenario: &Scenario| {
        let own: Vec<&Transaction> = scenario.transactions.iter().filter(|own| is_operation(own)).collect();
        let weights = own.iter().map(|transaction| transaction.weight).collect();
        let transaction =
            |of: &&Transaction| LoadTransaction { function: of.function.clone(), route: route(of) };
        let weights = ScenarioWeights { weight: scenario.weight, transactions: weights };
        (weights, own.iter().map(transaction).collect())
    };
    scenarios.iter().map(of_scenario).unzip()
}

/// A goose attack with these scenarios and this number of users. Each user plays operations of its scenario
/// when the workload hands them out: one goose transaction for each operation.
pub(super) fn prepare(
    scenarios: Vec<Scenario>,
    users: usize,
    run: &Arc<LoadRunContext>,
) -> Result<GooseAttack, EngineError> {
    let fault = |why: goose::GooseError| EngineError::Goose(why.to_string());
    let (users, rate) = (users.to_string(), (users * 50).to_string());
    // `increase-rate` is how fast goose starts users. Without a number of iterations goose prints nothing.
    let mut arguments = vec!["--users", &users, "--increase-rate", &rate, "-qqq", "--no-telnet"];
    arguments.extend(["--no-print-metrics", "--no-error-summary", "--no-metrics"]);
    arguments.extend(["--host", "http://127.0.0.1"]);
    let configuration = GooseConfiguration::parse_args_default(&arguments).map_err(fault)?;
    let mut attack = GooseAttack::initialize_with_config(configuration).map_err(fault)?;
    // Goose's client is unused: requests use connections of this crate.
    let client = GooseClientBuilder::new().without_cookies();
    attack = attack.set_client_builder_without_cookies(client).map_err(fault)?;
    for (place, mut scenario) in scenarios.into_iter().enumerate() {
        scenario.transactions.retain(|transaction| !is_operation(transaction));
        let scenario = scenario
            .register_transaction(Transaction::new(start(run)).set_on_start())
            .register_transaction(Transaction::new(operate(run, place)).set_name("operation"));
        attack = attack.register_scenario(scenario);
    }
    Ok(attack)
}

fn is_operation(transaction: &Transaction) -> bool {
    !transaction.on_start && !transaction.on_stop
}

fn start(run: &Arc<LoadRunContext>) -> TransactionFunction {
    let run = Arc::clone(run);
    Arc::new(move |_| {
        run.user_ready();
        Box::pin(std::future::ready(Ok(())))
    })
}

fn operate(run: &Arc<LoadRunContext>, scenario: usize) -> TransactionFunction {
    let run = Arc::clone(run);
    Arc::new(move |user| {
        let run = Arc::clone(&run);
        Box::pin(async move { play(user, &run, scenario).await })
    })
}

/// Plays the next operation of a user.
async fn play(user: &mut GooseUser, run: &Arc<LoadRunContext>, scenario: usize) -> TransactionResult {
    let number = user.weighted_users_index;
    let Some(operation) = run.workload.next(scenario, number).await else {
        run.user_done();
        // Goose ends a user after its last iteration. Another way to end it early does not exist.
        user.config.iterations = Some(1);
        return Ok(());
    };
    let due = run.started() + operation.scheduled.at;
    if operation.waited && due.elapsed() > run.timeout {
        let route = run.transactions[scenario][operation.transaction].route;
        run.never_started(route, operation.scheduled, run.timeout);
        run.operation_ended();
        return Ok(());
    }
    if user.get_session_data::<LoadUser>().is_none() {
        std::future::poll_fn(|cx| {
            run.workload.register(scenario, number, cx.waker());
            Poll::Ready(())
        })
        .await;
        user.set_session_data(LoadUser::new(number, Arc::clone(run), operation));
    }
    LoadUser::of(user).begin(operation);
    let mut transaction = (run.transactions[scenario][operation.transaction].function)(user);
    let ended = until_stopped(run, transaction.as_mut()).await;
    drop(transaction);
    if let Some(result) = ended {
        LoadUser::of(user).finish(result.is_err());
        run.operation_ended();
        return result;
    }
    LoadUser::of(user).abandon();
    Ok(())
}

/// Runs a transaction until it ends; `None` if the run ends before. The end of a run wakes all users.
async fn until_stopped(
    run: &LoadRunContext,
    mut transaction: Pin<&mut (dyn Future<Output = TransactionResult> + Send)>,
) -> Option<TransactionResult> {
    std::future::poll_fn(|cx| {
        if run.workload.is_stopped() {
            return Poll::Ready(None);
        }
        transaction.as_mut().poll(cx).map(Some)
    })
    .await
}

/// Waits for Ctrl-C in a program that does not catch it. Goose has its own handler, which only sets this
/// switch.
pub(super) async fn killed() {
    while !goose::is_killswitch_triggered() {
        sleep(Duration::from_millis(50)).await;
    }
}

pub(super) fn ended_early(result: Result<Result<(), String>, JoinError>) -> EngineError {
    EngineError::Goose(match result {
        Ok(Ok(())) => "goose ended before all users had started".into(),
        Ok(Err(why)) => why,
        Err(why) => why.to_string(),
    })
}
