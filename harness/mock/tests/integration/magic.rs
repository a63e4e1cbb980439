//! Magic values over real sockets: each gives its row, and has no effect on a service without magic.
#![expect(clippy::unwrap_used, reason = "a failed setup fails the test")]

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use edgeproof_fixtures::credentials::ReadTokenForm;
use edgeproof_fixtures::seal::Collection;
use edgeproof_fixtures::spec::{Spec, Table, Version};
use edgeproof_http::{Answer, Body, Draft, ServerAddress, send};
use edgeproof_mock::magic::{Carrier, Magic, Pair};
use edgeproof_mock::{Arrival, Listen, MockService, ReplyShape, ServiceOptions};
use serde_json::{Value, json};
use url::Url;

const LIMIT: Duration = Duration::from_secs(20);

struct Bench {
    service: MockService,
    endpoint: ServerAddress,
    magic: Magic,
}

impl Bench {
    async fn start(magic: bool) -> Self {
        let plain = Some(Listen::At(([127, 0, 0, 1], 0).into()));
        let options = ServiceOptions { plain, magic, ..ServiceOptions::default() };
        let service = MockService::start_with(options).await.unwrap();
        let url = format!("http://{}", service.plain_addr().unwrap());
        let endpoint = ServerAddress::resolve(&Url::parse(&url).unwrap(), None).await.unwrap();
        let magic = Magic::of(service.spec());
        Self { service, endpoint, magic }
    }

    fn pairs(&self, carrier: Carrier, table: Table) -> Vec<Pair> {
        let pairs = self.magic.pairs().iter();
        let pairs: Vec<_> =
            pairs.filter(|pair| pair.carrier == carrier && pair.table == table).cloned().collect();
        assert!(pairs.len() >= self.service.spec().table(table).count(), "each row has a value");
        pairs
    }

    fn sealed(&self, reference: &str) -> Body {
        let collection = Collection::generated(reference, 1, SystemTime::now());
        Body::Sized(collection.seal(&self.service.seal_key()).into())
    }

    async fn send(&self, draft: &Draft) -> Answer {
        send(&self.endpoint, draft, LIMIT).await.reply.unwrap()
    }

    async fn poll(&self, reference: &str, token: &str) -> Answer {
        let draft = Draft::new("GET", &format!("/v1/verdict/{reference}"));
        self.send(&draft.header("authorization", &format!("Bearer {token}"))).await
    }

    fn last(&self) -> Arrival {
        self.service.journal().pop().unwrap()
    }

    fn token(&self) -> String {
        self.service.credentials().read_token(ReadTokenForm::Valid)
    }

    /// Asserts that the answer is the one of the row, for this reference.
    fn check_verdict(&self, pair: &Pair, reference: &str, answer: &Answer) {
        assert_eq!(answer.status, pair.status, "{}", pair.value);
        let body = json_of(answer);
        let row = self.service.spec().row(&pair.row).unwrap();
        match (row.body_with(&[("<session_ref>", reference.into())]), &pair.code) {
            (Some(expected), _) => assert_eq!(body, expected, "{}", pair.value),
            (None, Some(code)) => assert_eq!(body, json!({ "error": code }), "{}", pair.value),
            (None, None) => {
                assert_eq!(body["ref"], reference, "{}", pair.value);
                assert!(body["token"].is_string(), "{body}");
                return;
            }
        }
        assert_eq!(self.last().stimulus, Some(pair.stimulus), "{}", pair.value);
    }
}

fn json_of(answer: &Answer) -> Value {
    serde_json::from_slice(&answer.body).unwrap()
}

#[tokio::test]
async fn magic_license_gives_its_row() {
    let bench = Bench::start(true).await;
    let shape = ReplyShape::from_profile(bench.service.profile());
    for pair in bench.pairs(Carrier::License, Table::Relay) {
        let draft = Draft::new("POST", "/v1/relay").body(bench.sealed("s"));
        let answer = bench.send(&draft.header("authorization", &format!("Bearer {}", pair.value))).await;
        assert_eq!(answer.status, pair.status, "{}", pair.value);
        assert_eq!(
            json_of(&answer),
            shape.render(pair.status, pair.code.as_deref().unwrap()),
            "{}",
            pair.value
        );
        assert_eq!(bench.last().stimulus, Some(pair.stimulus), "{}", pair.value);
    }
}

#[tokio::test]
async fn magic_read_token_gives_its_row() {
    let bench = Bench::start(true).await;
    for pair in bench.pairs(Carrier::ReadToken, Table::Verdict) {
        let answer = bench.poll("order-4711", &pair.value).await;
        bench.check_verdict(&pair, "order-4711", &answer);
    }
}

#[tokio::test]
async fn magic_session_reference_gives_its_row_to_a_valid_token() {
    let bench = Bench::start(true).await;
    for pair in bench.pairs(Carrier::SessionRef, Table::Verdict) {
        let reference = format!("{}~7", pair.value);
        if pair.after_ms.is_none() {
            let answer = bench.poll(&reference, &bench.token()).await;
            bench.check_verdict(&pair, &reference, &answer);
        }
        let expired = bench.service.credentials().read_token(ReadTokenForm::Expired);
        assert_eq!(json_of(&bench.poll(&reference, &expired).await), json!({ "error": "expired" }));
    }
}

#[tokio::test]
async fn delayed_magic_verdict_is_ready_after_its_milliseconds() {
    let bench = Bench::start(true).await;
    let clock = bench.service.clock();
    clock.stop();
    let reference = "magic.verdict-ready-after-1500ms~a";
    assert_eq!(bench.poll(reference, &bench.token()).await.status, 404);
    clock.advance(Duration::from_millis(1499));
    assert_eq!(bench.poll(reference, &bench.token()).await.status, 404);
    clock.advance(Duration::from_millis(1));
    let answer = bench.poll(reference, &bench.token()).await;
    assert_eq!((answer.status, &json_of(&answer)["ref"]), (200, &json!(reference)));
    assert_eq!(bench.poll("magic.verdict-ready-after-1500ms~b", &bench.token()).await.status, 404);
}

#[tokio::test]
async fn pending_magic_verdict_ends_a_long_poll_with_404() {
    let bench = Bench::start(true).await;
    let token = bench.token();
    let polling = bench.poll("magic.verdict-pending?waitMs=30000", &token);
    let moving = async {
        bench.service.polls().wait_for(|waiting| *waiting == 1).await.unwrap();
        bench.service.clock().advance(Duration::from_secs(30));
    };
    let (answer, ()) = tokio::join!(polling, moving);
    assert_eq!(answer.status, 404);
}

#[tokio::test]
async fn service_without_magic_refuses_magic_values() {
    let bench = Bench::start(false).await;
    for pair in bench.pairs(Carrier::License, Table::Relay) {
        let draft = Draft::new("POST", "/v1/relay").body(bench.sealed("s"));
        let answer = bench.send(&draft.header("authorization", &format!("Bearer {}", pair.value))).await;
        assert_eq!((answer.status, &json_of(&answer)["reason"]), (401, &json!("malformed_token")));
    }
    for pair in bench.pairs(Carrier::ReadToken, Table::Verdict) {
        let answer = bench.poll("s", &pair.value).await;
        assert_eq!((answer.status, json_of(&answer)), (401, json!({ "error": "malformed_token" })));
    }
    for pair in bench.pairs(Carrier::SessionRef, Table::Verdict) {
        assert_eq!(bench.poll(&pair.value, &bench.token()).await.status, 404, "{}", pair.value);
    }
}

#[tokio::test]
async fn pre_seal_rows_have_magic_values() {
    let credentials =
        Arc::clone(MockService::start_with(ServiceOptions::default()).await.unwrap().credentials());
    let spec = Arc::new(Spec::builtin(Version::PreSeal));
    let magic = Magic::of(&spec);
    assert!(magic.license("service_license_magic.relay.400.bad-seal").is_none());
    let plain = Some(Listen::At(([127, 0, 0, 1], 0).into()));
    let service = MockService::start_with(ServiceOptions {
        plain,
        magic: true,
        ..ServiceOptions::new(spec, credentials)
    })
    .await
    .unwrap();
    let url = Url::parse(&format!("http://{}", service.plain_addr().unwrap())).unwrap();
    let endpoint = ServerAddress::resolve(&url, None).await.unwrap();
    for pair in magic.pairs().iter().filter(|pair| pair.carrier == Carrier::License) {
        let draft = Draft::new("POST", "/v1/relay").header("x-license", &pair.value);
        let answer = send(&endpoint, &draft, LIMIT).await.reply.unwrap();
        assert_eq!(answer.status, pair.status, "{}", pair.value);
    }
}
