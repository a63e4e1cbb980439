use edgeproof_fixtures::spec::{Endpoint, Stimulus};
use edgeproof_reports::CaseLevel;
use edgeproof_reports::difference::Statuses;

use crate::cases::{
    CaseList, Conversation, Edge, EdgeObservation, EdgeRule, ExpectedRelay, ORIGIN, OTHER_ORIGIN, collection,
    methods, preflight, to_signals,
};
use crate::judge;
use edgeproof_http::{Body, Draft, Sent};

/// Methods other than `POST` (4, 7.2).
pub(super) fn add(cases: &mut CaseList<'_, Edge>) {
    for method in methods::OF_COLLECTIONS {
        if cases.spec.takes(Endpoint::Signals, method) {
            taken(cases, method);
            continue;
        }
        let mut answer = cases.answer("edge.405.method-not-allowed", None);
        answer.to_head = method == "HEAD";
        let mut draft = to_signals(method).header("Origin", ORIGIN);
        if matches!(method, "PUT" | "PATCH") {
            draft = draft.header("Content-Type", "application/json").body(collection().body);
        }
        let mut conversation =
            Conversation::post(cases.accept(), answer).draft(draft).relay(ExpectedRelay::Nothing);
        if method == "TRACE" {
            conversation = conversation.wording(CaseLevel::Should);
        }
        let case = cases
            .case(
                "edge.405.method-not-allowed",
                &format!("method.{}", method.to_lowercase()),
                &format!("the edge answers {method} with 405 and does not relay it"),
            )
            .conversation(conversation)
            .requires(&[])
            // Most of these requests have no body for a marker, and a query would change the path.
            .exclusive()
            .stimulus(Stimulus::OtherMethod)
            .also("endpoint.edge.signals")
            .also("statement.error-bodies-json");
        if method == "TRACE" {
            case.also("statement.trace");
        }
    }
    never_relayed(cases);
    allow(cases);
    content_type(cases);
    invented(cases);
    options(cases);
    head_length(cases);
}

/// A method beside `POST` that the version lists: the edge takes collections by it.
fn taken(cases: &mut CaseList<'_, Edge>, method: &str) {
    if !methods::plays_listed(Endpoint::Signals, method) {
        return;
    }
    let id = format!("method.{}", method.to_lowercase());
    let title = format!("the edge relays a collection that comes with {method}");
    let exchange = cases.accepted_post().draft(Draft { method: method.to_owned(), ..collection() });
    cases.case(Endpoint::Signals.row(), &id, &title).conversation(exchange).exclusive();
}

/// Bodies of methods that have none, and methods that few stacks know: no such request is a collection. Frameworks write
/// methods in upper case, so `post` is none of them.
fn never_relayed(cases: &mut CaseList<'_, Edge>) {
    for (id, method, title) in [
        ("get-with-body", "GET", "the edge does not relay the body of a GET"),
        ("purge", "PURGE", "the edge does not relay a request with the method PURGE"),
    ] {
        if cases.spec.takes(Endpoint::Signals, method) {
            continue;
        }
        let draft = Draft { method: method.to_owned(), ..collection() };
        let exchange = Conversation::request(draft).script(cases.accept()).relay(ExpectedRelay::Nothing);
        cases
            .case("edge.405.method-not-allowed", &format!("method.not-relayed.{id}"), title)
            .conversation(exchange)
            .exclusive();
    }
}

/// `Content-Length` of an answer to `HEAD` is that of the answer to `GET`.
fn head_length(cases: &mut CaseList<'_, Edge>) {
    cases
        .case(
            "statement.head-length",
            "method.head-length",
            "an answer to HEAD states the length of the answer to GET, or none",
        )
        .steps(steps!(async |context| {
            // Pages for unknown paths often name the method, and no cache needs their length.
            for endpoint in [Endpoint::Signals, Endpoint::Health] {
                let path = context.spec().path(endpoint).to_owned();
                let [get, head] = ["GET", "HEAD"].map(|method| Draft::new(method, &path));
                let (first, head) = (context.send(&get).await, context.send(&head).await);
                // A health check may tell the time: then the length is that of no other answer.
                let body = |sent: Sent| sent.reply.ok().map(|answer| answer.body);
                if body(first.clone()) == body(context.send(&get).await) {
                    context.check(judge::head_length(&first.reply, &head.reply).of(&path));
                }
            }
        }))
        .requires(&[]);
}

fn allow(cases: &mut CaseList<'_, Edge>) {
    let conversation = Conversation::request(to_signals(methods::refused(cases.spec, "PUT")));
    let conversation = conversation.expect(EdgeRule::AllowsPost);
    cases
        .case("statement.allow-on-405", "method.allow", "a 405 lists the allowed methods")
        .conversation(conversation)
        .requires(&[]);
}

fn content_type(cases: &mut CaseList<'_, Edge>) {
    let other = to_signals(methods::refused(cases.spec, "GET"));
    let refused = cases.accepted_post().draft(other).only().content_type(CaseLevel::Must);
    cases
        .case("statement.json-content-type", "method.content-type", "a 405 has the content type JSON")
        .conversation(refused)
        .requires(&[]);
}

fn invented(cases: &mut CaseList<'_, Edge>) {
    let draft = to_signals("EDGEPROOF").header("Content-Type", "application/json").body(collection().body);
    cases
        .case("statement.invented-method", "method.invented", "the answer to an unknown method")
        .conversation(Conversation::request(draft).observe(EdgeObservation::StatusAndRelay))
        .requires(&[]);
}

/// `OPTIONS` is allowed for every sender.
fn options(cases: &mut CaseList<'_, Edge>) {
    let drafts = [
        (
            "options-plain",
            "the edge does not answer 405 to OPTIONS without preflight headers",
            to_signals("OPTIONS"),
        ),
        (
            "options-other-origin",
            "the edge does not answer 405 to a preflight from another origin",
            preflight(OTHER_ORIGIN),
        ),
        (
            "options-with-body",
            "the edge does not answer 405 to OPTIONS with a body",
            to_signals("OPTIONS").header("Origin", ORIGIN).body(Body::Sized("{}".into())),
        ),
    ];
    for (id, title, draft) in drafts {
        let exchange = Conversation::request(draft).expect(EdgeRule::Status(Statuses::Except(405)));
        let case = cases
            .case("statement.options-not-405", &format!("method.{id}"), title)
            .conversation(exchange.observe(EdgeObservation::Status));
        case.requires(&[]);
        // Frameworks route only preflights to their CORS layer, and a page sends nothing else.
        if ["options-plain", "options-with-body"].contains(&id) {
            case.level(CaseLevel::Should);
        }
    }
}
