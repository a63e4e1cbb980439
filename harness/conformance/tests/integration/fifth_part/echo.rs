use std::sync::Arc;
use std::time::Duration;

use edgeproof::cases::{
    Case, CaseContext, CaseExchange, CaseList, CaseTarget, Catalog, Exchange, Monitor, Part, Sender,
};
use edgeproof::judge::{AnswerResult, ExpectedAnswer, exact};
use edgeproof::steps;
use edgeproof_fixtures::spec::Spec;
use edgeproof_http::{Body, Draft, Sent, ServerAddress, send};
use edgeproof_reports::Hop;
use edgeproof_reports::difference::Subject;
use futures_util::future::BoxFuture;
use parking_lot::Mutex;
use serde_json::{Value, json};

/// A server that answers with the JSON that it gets.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Echo;

/// What a case of an echo requires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EchoNeed {
    /// A second echo.
    Second,
}

/// A text, and the same text as the answer.
#[derive(Debug, Clone)]
pub(crate) struct Said(pub(crate) &'static str);

/// No echo changes later in the run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SameToTheEnd;

/// An echo under test.
pub(crate) struct EchoTarget {
    pub(crate) spec: Arc<Spec>,
    pub(crate) address: ServerAddress,
    /// All exchanges of the run: what was sent, and the answer.
    pub(crate) exchanges: Mutex<Vec<(Value, AnswerResult)>>,
}

impl Part for Echo {
    const NAME: &'static str = "echo";
    const SUBJECT: Subject = Subject::Target;
    const MONITORS: &'static [SameToTheEnd] = &[SameToTheEnd];

    type Need = EchoNeed;
    type Settings = ();
    type Exchange = Said;
    type Target = EchoTarget;
    type Monitor = SameToTheEnd;
}

impl CaseTarget for EchoTarget {
    type State = ();

    fn spec(&self) -> &Spec {
        &self.spec
    }
}

impl EchoTarget {
    /// Sends a text, and records the exchange for the monitor.
    pub(crate) async fn say(&self, said: &Value, timeout: Duration) -> Sent {
        let body = Body::Sized(said.to_string().into());
        let draft = Draft::new("POST", "/echo").header("Content-Type", "application/json").body(body);
        let sent = send(&self.address, &draft, timeout).await;
        self.exchanges.lock().push((said.clone(), sent.reply.clone()));
        sent
    }
}

impl Exchange<EchoTarget> for Said {
    fn play<'a>(&'a self, context: &'a mut CaseContext<EchoTarget>) -> BoxFuture<'a, bool> {
        Box::pin(async move {
            let said = json!({ "say": self.0 });
            let reply = say(context, &said).await;
            context.checks(exact(&echoed(&said), &reply));
            reply.is_ok()
        })
    }

    fn describe(&self, _: &Spec) -> Vec<String> {
        vec![format!("the client says {:?}", self.0), "expected answer: the same".to_owned()]
    }
}

impl Monitor<EchoNeed> for SameToTheEnd {
    fn id(self) -> &'static str {
        "monitor.echo"
    }

    fn title(self) -> &'static str {
        "every answer of the run is what was said"
    }

    fn rows(self) -> &'static [&'static str] {
        &["statement.echoed"]
    }
}

/// All cases of an echo.
pub(crate) fn cases(catalog: Catalog<'_>) -> Vec<Case<Echo>> {
    let mut cases = CaseList::new(catalog);
    cases.case("statement.echoed", "echo.text", "a text comes back").exchange(Said("hello"));
    cases.case("statement.echo-in-turn", "echo.in-turn", "each text comes back, not the one before").steps(
        steps!(async |context| {
            for number in 0..3 {
                let said = json!({ "say": format!("{} {number}", context.marker) });
                let reply = say(context, &said).await;
                context.checks(exact(&echoed(&said), &reply));
            }
        }),
    );
    let second = vec![("the first".to_owned(), Said("one")), ("the second".to_owned(), Said("two"))];
    cases
        .case("statement.echoed", "echo.second", "two echoes answer alike")
        .exchanges(second)
        .requires(&[EchoNeed::Second]);
    cases.monitors();
    cases.into_cases()
}

/// What the echo has to answer.
pub(crate) fn echoed(said: &Value) -> ExpectedAnswer {
    ExpectedAnswer { status: 200, body: Some(said.clone()), to_head: false }
}

/// A context for a case.
pub(crate) fn context(
    target: &Arc<EchoTarget>,
    case: &Case<Echo>,
    timeout: Duration,
) -> CaseContext<EchoTarget> {
    let sender = Sender { case: case.id.clone(), level: case.level, marker: case.id.clone() };
    CaseContext::new(Arc::clone(target), sender, timeout)
}

async fn say(context: &mut CaseContext<EchoTarget>, said: &Value) -> AnswerResult {
    let sent = context.target.say(said, context.timeout).await;
    let reply = sent.reply.clone();
    context.found.sent.push(CaseExchange { hop: Hop::ClientService, sent, curl: None });
    reply
}
