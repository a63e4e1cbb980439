//! A scenario as goose's documentation describes it.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use edgeproof_fixtures::spec::{Spec, Version};
use edgeproof_http::ServerAddress;
use edgeproof_load::engine::{Call, Expectation, HeaderFields, LoadModel, LoadRun, LoadUser, RunData};
use edgeproof_load::measure::{Codes, RouteId};
use edgeproof_load::plan::{Arrivals, Rate, Shard, Stages, UserCount, UserLimit};
use goose::prelude::*;
use parking_lot::Mutex;
use tokio::sync::OnceCell;
use wiremock::matchers::method;
use wiremock::{Mock, MockServer, ResponseTemplate};

use crate::support::{GOOSE, LIMIT, MACHINE};

const ROUTES: [&str; 2] = ["POST /v1/signals", "GET /v1/verdict/{ref}"];

static ENDPOINT: OnceCell<Arc<ServerAddress>> = OnceCell::const_new();
/// Numbers of the operations that had no request.
static IDLE: LazyLock<Mutex<Vec<u64>>> = LazyLock::new(Mutex::default);

/// A transaction that sends a request.
async fn post(user: &mut GooseUser) -> TransactionResult {
    let user = LoadUser::of(user);
    let endpoint = ENDPOINT.get().unwrap();
    let fields = HeaderFields::new([("Host", endpoint.authority())]).unwrap();
    let call = Call {
        route: RouteId(0),
        endpoint,
        request: fields.post("/v1/signals", b"{}"),
        expect: Expectation::Accepted,
    };
    let due = user.due();
    user.call(call, due).await;
    Ok(())
}

/// A transaction without a request.
#[expect(clippy::unused_async, reason = "goose's transactions are asynchronous")]
async fn idle(user: &mut GooseUser) -> TransactionResult {
    IDLE.lock().push(LoadUser::of(user).scheduled().number);
    Ok(())
}

/// Plays forty operations.
async fn play(model: LoadModel, users: u32) -> RunData {
    let posts = scenario!("posts")
        .set_weight(3)
        .unwrap()
        .register_transaction(transaction!(post).set_weight(2).unwrap().set_name(ROUTES[0]));
    let pauses = scenario!("pauses")
        .register_transaction(transaction!(idle).set_name(ROUTES[1]))
        .register_transaction(transaction!(post).set_name(ROUTES[0]));
    let run = LoadRun {
        scenarios: vec![posts, pauses],
        model,
        users: UserCount { users, limit: UserLimit::Plan },
        seed: 3,
        codes: Codes::new(&Spec::builtin(Version::Current)),
        routes: ROUTES.map(str::to_owned).to_vec(),
        addresses: Vec::new(),
        edge: None,
        timeout: LIMIT,
        drain: LIMIT,
        start_at: None,
        shared_route: None,
        on_start: None,
        live: None,
    };
    run.play(std::future::pending()).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn weights_of_scenarios_and_transactions_decide_what_is_due() {
    let (_goose, _machine) = (GOOSE.lock().await, MACHINE.read().await);
    let edge = MockServer::start().await;
    let accepted = ResponseTemplate::new(200).set_body_string(r#"{"ok":true}"#);
    Mock::given(method("POST")).respond_with(accepted).mount(&edge).await;
    let address = ServerAddress::resolve(&edge.uri().parse().unwrap(), None).await.unwrap();
    ENDPOINT.set(Arc::new(address)).unwrap();

    let stages = Stages::constant(Rate::per_second(80.0).unwrap(), Duration::from_millis(500)).unwrap();
    let open = LoadModel::Open(Arrivals::new(&stages, Duration::ZERO, Shard::WHOLE));
    let data = play(open, 40).await;
    // Three quarters of the operations post; of the rest, one half.
    assert_eq!((data.recorded.ledger.answered, IDLE.lock().len()), (40, 5));
    assert_eq!(edge.received_requests().await.unwrap().len(), 35);
    assert_eq!((data.released, data.planned, data.waited), (40, 40, 0));

    let closed = LoadModel::Closed { time: Duration::from_millis(200), warm_up: Duration::ZERO };
    let data = play(closed, 4).await;
    let ledger = data.recorded.ledger;
    assert!(ledger.balances() && ledger.answered > 4, "{ledger:?}");
    assert_eq!(data.released, ledger.scheduled);
}
