use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use edgeproof_fixtures::spec::{Fact, Stimulus};
use edgeproof_reports::CaseLevel as Level;
use serde_json::Value;

use super::super::backend::Reply;
use super::super::{Ask, Backend, Catalog, Need};
use super::{PENDING, answer};
use crate::judge::{self, Check};

/// Time beyond the limit in which an old verdict may still be on its way out.
const SLACK: Duration = Duration::from_secs(10);
/// Between two looks at a verdict that grows old.
const PAUSE: Duration = Duration::from_secs(2);

/// A session that has a verdict (3, 7.4).
pub(super) fn add(cases: &mut Catalog<'_>) {
    available(cases);
    age(cases);
}

fn available(cases: &mut Catalog<'_>) {
    cases
        .asks(
            "verdict.200.available",
            "verdict.available",
            "a session that has a verdict is answered with it",
            |backend| {
                Box::pin(async move {
                    let Some(reference) = backend.session().await else { return };
                    let reply = backend.ask(&Ask::new(&reference).bearer(&backend.read_token())).await;
                    backend.checks(given(&reply));
                    if let Ok(answer) = &reply {
                        backend.observe("verdict.form", form(&answer.body));
                    }
                })
            },
        )
        .needs(&[Need::ReadToken, Need::Session])
        .stimulus(Stimulus::VerdictReady)
        .also("endpoint.service.verdict");
    cases
        .asks(
            "statement.wait-optional",
            "verdict.available.with-wait",
            "a verdict that is there is given at once, whatever waitMs says",
            |backend| {
                Box::pin(async move {
                    let Some(reference) = backend.session().await else { return };
                    let ask = Ask::new(&reference).bearer(&backend.read_token()).query("waitMs=4000");
                    let sent = backend.ask_within(&ask, Duration::from_secs(8)).await;
                    backend.checks(given(&sent.reply));
                    let at_once = sent.took < Duration::from_secs(3);
                    let actual = if at_once { "at once" } else { "only after a wait" };
                    backend.check(Check::new("time", "at once", actual, at_once).at(Level::Should));
                })
            },
        )
        .needs(&[Need::ReadToken, Need::Session])
        .also("verdict.200.available");
    cases
        .asks(
            "verdict.200.available",
            "verdict.available.again",
            "a verdict can be fetched more than once",
            |backend| {
                Box::pin(async move {
                    let Some(reference) = backend.session().await else { return };
                    let ask = Ask::new(&reference).bearer(&backend.read_token());
                    let first = backend.ask(&ask).await;
                    let second = backend.ask(&ask).await;
                    backend.checks(given(&first));
                    backend.checks(given(&second));
                    let same = judge::same_answer("the first time", &first, &second).ok;
                    backend.observe("verdict.again", if same { "the same" } else { "another body" });
                })
            },
        )
        .needs(&[Need::ReadToken, Need::Session]);
}

/// Status 200, and a whole body that says something.
fn given(reply: &Reply) -> Vec<Check> {
    let status = judge::status_in("200", |status| status == 200, reply);
    let Ok(answer) = reply else { return vec![status] };
    let actual = match (answer.body.len(), answer.complete) {
        (0, _) => "nothing".to_owned(),
        (_, false) => "one that is cut off".to_owned(),
        (length, true) => format!("{length} bytes"),
    };
    let ok = !answer.body.is_empty() && answer.complete;
    vec![status, Check::new("body", "the verdict", actual, ok)]
}

/// The reference that our mock's verdict names.
pub(super) fn reference_in(reply: &Reply) -> Option<String> {
    let body: Value = serde_json::from_slice(&reply.as_ref().ok()?.body).ok()?;
    Some(body.get("ref")?.as_str()?.to_owned())
}

/// What a verdict looks like; its fields are not shown.
fn form(body: &[u8]) -> String {
    match serde_json::from_slice::<Value>(body) {
        Ok(Value::Object(members)) => {
            let mut names: Vec<&str> = members.keys().map(String::as_str).collect();
            names.sort_unstable();
            format!("a JSON object with {}", names.join(", "))
        }
        Ok(_) => "JSON, but no object".into(),
        Err(_) if judge::is_jws(&String::from_utf8_lossy(body)) => "a signed token".into(),
        Err(_) => "not JSON".into(),
    }
}

/// A verdict that was seen is gone when it has become older than the limit (8).
fn age(cases: &mut Catalog<'_>) {
    let Fact::Limit { value: Some(seconds), .. } = cases.row("limit.verdict-age").fact else { return };
    let limit = Duration::from_secs(seconds);
    let row = cases.row(PENDING).clone();
    cases
        .asks(
            "limit.verdict-age",
            "verdict.too-old",
            "a verdict older than two minutes is pending again",
            move |backend| {
                let row = row.clone();
                Box::pin(async move {
                    let Some(reference) = backend.session().await else { return };
                    let ask = Ask::new(&reference).bearer(&backend.read_token());
                    let first = backend.ask(&ask).await;
                    backend.checks(given(&first));
                    let last = grown_old(backend, &ask, limit).await;
                    let expected = answer(&row, &reference);
                    let checks = judge::exact(&expected, &last);
                    backend.checks(checks);
                    let unknown = backend.reference("unknown");
                    let reply = backend.ask(&Ask::new(&unknown).bearer(&backend.read_token())).await;
                    backend.checks(judge::exact(&answer(&row, &unknown), &reply));
                    backend.check(same_fields(&last, &reply));
                })
            },
        )
        .needs(&[Need::ReadToken, Need::Session, Need::Waits])
        .alone()
        .takes(limit + 2 * SLACK)
        .also(PENDING)
        .stimulus(Stimulus::VerdictTooOld);
}

/// The names of the header fields are the same for an old verdict as for none. Values differ also where nothing is told, such as
/// the number of a request.
fn same_fields(old: &Reply, none: &Reply) -> Check {
    let names = |reply: &Reply| {
        let fields = reply.iter().flat_map(|answer| answer.headers.keys().map(ToString::to_string));
        fields.collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>().join(", ")
    };
    let (old, none) = (names(old), names(none));
    let same = old == none;
    Check::new("header fields for an old verdict", none, old, same)
        .at(Level::Should)
        .hint("whoever has no verdict need not learn why: answer alike for each reason")
}

/// The answer once the verdict is older than the limit: our mock's clock is put forward, a stranger's is waited for.
async fn grown_old(backend: &mut Backend, ask: &Ask, limit: Duration) -> Reply {
    if let Some(mock) = &backend.target.mock {
        mock.clock().advance(limit + Duration::from_secs(1));
        return backend.ask(ask).await;
    }
    let seen = Instant::now();
    loop {
        tokio::time::sleep(PAUSE).await;
        let endpoint = backend.service().clone();
        let sent = edgeproof_http::send(&endpoint, &ask.draft(), backend.limit).await;
        let there = sent.reply.as_ref().is_ok_and(|answer| answer.status == 200);
        if !there || seen.elapsed() > limit + SLACK {
            let reply = sent.reply.clone();
            backend.record(edgeproof_reports::Hop::ClientService, &endpoint, &ask.draft(), sent);
            return reply;
        }
    }
}
