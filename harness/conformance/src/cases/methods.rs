use edgeproof_fixtures::spec::Stimulus;
use edgeproof_reports::CaseLevel as Level;

use super::conversation::{Conversation, ORIGIN, Relayed, SIGNALS, collection, preflight};
use super::{Catalog, summary};
use crate::judge;
use edgeproof_http::{Body, Draft};

/// Methods other than `POST` (4, 7.2).
pub(super) fn add(cases: &mut Catalog<'_>) {
    for method in ["GET", "HEAD", "PUT", "PATCH", "DELETE", "TRACE"] {
        let mut answer = cases.answer("edge.405.method-not-allowed", None);
        answer.headless = method == "HEAD";
        let mut draft = Draft::new(method, SIGNALS).header("Origin", ORIGIN);
        if matches!(method, "PUT" | "PATCH") {
            draft = draft.header("Content-Type", "application/json").body(collection().body);
        }
        let conversation = Conversation::post(cases.accept(), answer).draft(draft).relayed(Relayed::Nothing);
        cases
            .conversation(
                "edge.405.method-not-allowed",
                &format!("method.{}", method.to_lowercase()),
                &format!("{method} is answered with 405 and does not reach the service"),
                conversation,
            )
            .needs(&[])
            // Most of them have no body that could hold a marker, and a query would make it another target.
            .alone()
            .stimulus(Stimulus::OtherMethod)
            .also("endpoint.edge.signals")
            .also("statement.error-bodies-json");
    }
    allow(cases);
    content_type(cases);
    invented(cases);
    options(cases);
}

fn allow(cases: &mut Catalog<'_>) {
    cases
        .steps(
            "statement.allow-on-405",
            "method.allow",
            "a 405 names the methods that are allowed",
            |context| {
                Box::pin(async move {
                    let sent = context.send(&Draft::new("PUT", SIGNALS)).await;
                    let names_post = |value: &str| value.split(',').any(|method| method.trim() == "POST");
                    context.check(judge::header_has("allow", "a list with POST", names_post, &sent.reply));
                })
            },
        )
        .needs(&[]);
}

fn content_type(cases: &mut Catalog<'_>) {
    cases
        .steps(
            "statement.json-content-type",
            "method.content-type",
            "a 405 says that its body is JSON",
            |context| {
                Box::pin(async move {
                    let sent = context.send(&Draft::new("GET", SIGNALS)).await;
                    context.check(summary::json_content_type(&sent.reply));
                })
            },
        )
        .needs(&[]);
}

fn invented(cases: &mut Catalog<'_>) {
    cases
        .steps("statement.invented-method", "method.invented", "a method that nobody has seen", |context| {
            Box::pin(async move {
                let draft = Draft::new("EDGEPROOF", SIGNALS)
                    .header("Content-Type", "application/json")
                    .body(collection().body);
                context.script(edgeproof_mock::Script::decide());
                let sent = context.send(&draft).await;
                let relayed = if context.arrivals().is_empty() { "not relayed" } else { "relayed" };
                let saw = format!("{}, {relayed}", summary::status(&sent.reply));
                context.observe("method.invented", saw);
            })
        })
        .needs(&[]);
}

/// `OPTIONS` is permitted, whoever asks.
fn options(cases: &mut Catalog<'_>) {
    let drafts = [
        (
            "options-plain",
            "OPTIONS without the headers of a preflight is not answered with 405",
            Draft::new("OPTIONS", SIGNALS),
        ),
        (
            "options-other-origin",
            "a preflight from another origin is not answered with 405",
            preflight("https://other.example"),
        ),
        (
            "options-with-body",
            "OPTIONS with a body is not answered with 405",
            Draft::new("OPTIONS", SIGNALS).header("Origin", ORIGIN).body(Body::Sized("{}".into())),
        ),
    ];
    for (id, title, draft) in drafts {
        let case = cases.steps("statement.options-not-405", &format!("method.{id}"), title, move |context| {
            let draft = draft.clone();
            Box::pin(async move {
                let sent = context.send(&draft).await;
                context.check(judge::status_in("any but 405", |status| status != 405, &sent.reply));
                let saw = summary::status(&sent.reply);
                context.observe(&format!("method.{id}"), saw);
            })
        });
        case.needs(&[]);
        if id == "options-with-body" {
            case.level(Level::Should);
        }
    }
}
