use std::pin::pin;
use std::time::Duration;

use edgeproof_reports::{CaseLevel as Level, Hop};
use tokio::time::timeout;

use super::super::backend::Reply;
use super::super::{Ask, Backend, Catalog, Need, summary};
use super::{PENDING, UNAUTHORIZED, answer};
use crate::judge::{self, Check};
use edgeproof_http::{NoAnswer, Sent};

/// Longest wait for an answer to a `waitMs` that asks for no long one. A service may have a usual wait of its own.
const PATIENCE: Duration = Duration::from_secs(60);
/// Longest wait for an answer to one that asks for ages: what is longer, no proxy in front of a service holds.
const AGES: Duration = Duration::from_secs(150);
/// Within this time a request is answered that asks for no wait, or for one that makes no sense.
const SOON: Duration = Duration::from_secs(5);
/// Waits that are longer than any service can mean: id, title, value.
const AGES_ASKED: [(&str, &str, &str); 4] = [
    ("huge", "waitMs of four months", "9999999999"),
    ("beyond-32-bits", "waitMs beyond 32 bits", "4294967296"),
    ("beyond-64-bits", "waitMs beyond 64 bits", "18446744073709551616"),
    ("endless", "waitMs=Infinity", "Infinity"),
];
/// How soon a request whose client has left ends.
const LEFT: Duration = Duration::from_secs(2);
/// How long an answer to that is waited for where real time is dear.
const GLIMPSE: Duration = Duration::from_secs(2);
/// A wait that is asked for to see how it is kept.
const ASKED: Duration = Duration::from_millis(700);

/// The query parameter `waitMs`, whose type, unit and bounds the interface does not show (4).
pub(super) fn add(cases: &mut Catalog<'_>) {
    optional(cases);
    robust(cases);
    ages(cases);
    kept(cases);
    without_token(cases);
    client_leaves(cases);
}

fn optional(cases: &mut Catalog<'_>) {
    for (id, title, query) in [
        ("absent", "without waitMs a session that nobody knows is pending", None),
        ("zero", "with waitMs=0 a session that nobody knows is pending", Some("waitMs=0")),
        ("short", "with waitMs=50 a session that nobody knows is pending", Some("waitMs=50")),
    ] {
        let row = cases.row(PENDING).clone();
        cases
            .asks("statement.wait-optional", &format!("verdict.wait.{id}"), title, move |backend| {
                let row = row.clone();
                Box::pin(async move {
                    let reference = backend.reference(id);
                    let mut ask = Ask::new(&reference).bearer(&backend.read_token());
                    if let Some(query) = query {
                        ask = ask.query(query);
                    }
                    let sent = backend.ask_within(&ask, PATIENCE).await;
                    backend.checks(judge::exact(&answer(&row, &reference), &sent.reply));
                    // Without the parameter a service may have a usual wait.
                    if query.is_some() {
                        backend.check(soon(&sent));
                    }
                })
            })
            .needs(&[Need::ReadToken])
            .also(PENDING)
            .takes(PATIENCE);
    }
}

/// What no service can have been asked for on purpose: it is answered, and not with an error of the server.
fn robust(cases: &mut Catalog<'_>) {
    for (id, title, query) in [
        ("negative", "waitMs=-1", "waitMs=-1"),
        ("most-negative", "waitMs of the smallest 64-bit number", "waitMs=-9223372036854775808"),
        ("not-a-number", "waitMs that is a word", "waitMs=soon"),
        ("nan", "waitMs=NaN", "waitMs=NaN"),
        ("empty", "waitMs without a value", "waitMs="),
        ("name-alone", "waitMs without an equals sign", "waitMs"),
        ("fraction", "waitMs=0.5", "waitMs=0.5"),
        ("twice", "waitMs twice", "waitMs=0&waitMs=1"),
        ("list", "waitMs as an array", "waitMs[]=0"),
        ("unit", "waitMs with a unit", "waitMs=1ms"),
        ("other-name", "a parameter that the interface does not have", "edgeproof=1"),
    ] {
        let point = format!("verdict.wait.{id}");
        cases
            .asks(
                "statement.wait-robust",
                &point.clone(),
                &format!("{title} is answered, and not with an error of the server"),
                move |backend| {
                    let point = point.clone();
                    Box::pin(async move {
                        let ask = Ask::new(&backend.reference(id)).bearer(&backend.read_token()).query(query);
                        let sent = backend.ask_within(&ask, PATIENCE).await;
                        backend.check(no_server_error(&sent.reply));
                        if id.ends_with("negative") {
                            backend.check(soon(&sent));
                        }
                        backend.observe(&point, summary::status(&sent.reply));
                    })
                },
            )
            .needs(&[Need::ReadToken])
            .takes(PATIENCE);
    }
}

/// A wait far beyond any bound: at once no error of the server, and an end at last.
fn ages(cases: &mut Catalog<'_>) {
    for (id, title, value) in AGES_ASKED {
        let point = format!("verdict.wait.{id}");
        cases
            .asks(
                "statement.wait-robust",
                &point.clone(),
                &format!("{title} is no error of the server"),
                move |backend| {
                    let point = point.clone();
                    Box::pin(async move {
                        let ask = ages_long(backend, value);
                        let sent = backend.ask_within(&ask, GLIMPSE).await;
                        let held = matches!(sent.reply, Err(NoAnswer::TimedOut(_)));
                        if held {
                            backend.check(Check::new(
                                "answer",
                                "any but 500 to 599, or a wait",
                                "a wait",
                                true,
                            ));
                            backend.observe(&point, "waits");
                        } else {
                            backend.check(no_server_error(&sent.reply));
                            backend.observe(&point, summary::status(&sent.reply));
                        }
                    })
                },
            )
            .needs(&[Need::ReadToken]);
    }
    for (id, title, value) in AGES_ASKED {
        ends(cases, id, title, value);
    }
}

fn ends(cases: &mut Catalog<'_>, id: &str, title: &str, value: &'static str) {
    let longest = cases.spec.profile().wait_max;
    let point = format!("verdict.wait.{id}-ends");
    cases
        .asks(
            "statement.wait-robust",
            &point.clone(),
            &format!("{title} is answered within two and a half minutes"),
            move |backend| {
                let point = point.clone();
                Box::pin(async move {
                    let (endpoint, draft) = (backend.service().clone(), ages_long(backend, value).draft());
                    let mut asking = pin!(edgeproof_http::send(&endpoint, &draft, AGES));
                    let sent = tokio::select! {
                        sent = &mut asking => sent,
                        () = time_passes(backend, longest) => asking.await,
                    };
                    backend.check(no_server_error(&sent.reply));
                    backend.observe(&point, summary::status(&sent.reply));
                    backend.record(Hop::ClientService, &endpoint, &draft, sent);
                })
            },
        )
        .needs(&[Need::ReadToken, Need::Waits])
        .alone()
        .takes(AGES);
}

/// Our mock waits by a clock that is put forward; a stranger takes its time.
async fn time_passes(backend: &Backend, longest: Duration) {
    if let Some((mock, _)) = backend.ours() {
        // Not before the request waits; if the mock is gone, there is nothing to wait for.
        let _ = mock.polls().wait_for(|polls| *polls > 0).await;
        mock.clock().advance(longest);
    }
}

fn ages_long(backend: &Backend, value: &str) -> Ask {
    Ask::new(&backend.reference("ages")).bearer(&backend.read_token()).query(&format!("waitMs={value}"))
}

/// What is not asked to wait is not held.
fn soon(sent: &Sent) -> Check {
    let ok = sent.took < SOON;
    let actual = if ok { "at once".to_owned() } else { format!("after {:.0?}", sent.took) };
    Check::new("time", "at once", actual, ok)
        .at(Level::Should)
        .hint("wait as long as waitMs says, and not at all for nothing or less: each held request keeps a connection open")
}

fn no_server_error(reply: &Reply) -> Check {
    judge::no_server_error(reply).hint("bound waitMs before it is used, and ignore what is no number")
}

/// How a wait within any bounds is kept.
fn kept(cases: &mut Catalog<'_>) {
    cases
        .asks("statement.wait-bounds", "verdict.wait.kept", "how long a wait of 700 ms lasts", |backend| {
            Box::pin(async move {
                let query = format!("waitMs={}", ASKED.as_millis());
                let ask = Ask::new(&backend.reference("kept")).bearer(&backend.read_token()).query(&query);
                let sent = backend.ask_within(&ask, PATIENCE).await;
                let length = match sent.took {
                    took if took < ASKED / 2 => "answered at once",
                    took if took < ASKED => "answered early",
                    took if took < ASKED + Duration::from_secs(2) => {
                        "answered after as long as was asked for"
                    }
                    _ => "answered later than was asked for",
                };
                let saw = format!("{}, {length}", summary::status(&sent.reply));
                backend.observe("verdict.wait.kept", saw);
            })
        })
        .needs(&[Need::ReadToken])
        .takes(PATIENCE);
}

/// Who has no token is not waited with: that would hold connections open for anybody.
fn without_token(cases: &mut Catalog<'_>) {
    let row = cases.row(UNAUTHORIZED).clone();
    cases
        .asks(
            UNAUTHORIZED,
            "verdict.wait.without-token",
            "a request without a token is unauthorized also with waitMs",
            move |backend| {
                let row = row.clone();
                Box::pin(async move {
                    let ask = Ask::new(&backend.reference("wait")).query("waitMs=4000");
                    let sent = backend.ask_within(&ask, PATIENCE).await;
                    backend.checks(judge::exact(&answer(&row, ""), &sent.reply));
                    let at_once = sent.took < Duration::from_secs(3);
                    let actual = if at_once { "answered at once" } else { "held" };
                    let check = Check::new("time", "answered at once", actual, at_once).at(Level::Should);
                    backend.check(
                        check.hint("check the token before the wait: else anybody can hold connections open"),
                    );
                })
            },
        )
        .takes(PATIENCE);
}

/// Whoever leaves must not keep a place that others need: only our mock tells how many wait.
fn client_leaves(cases: &mut Catalog<'_>) {
    cases
        .asks(
            "statement.wait-ends-with-client",
            "verdict.wait.client-leaves",
            "a request whose client has left waits no longer",
            |backend| {
                Box::pin(async move {
                    let ask = Ask::new(&backend.reference("leaves")).bearer(&backend.read_token());
                    let draft = ask.query("waitMs=25000").draft();
                    let endpoint = backend.service().clone();
                    let Some((mock, _)) = backend.ours() else { return };
                    let mut polls = mock.polls();
                    let begun = tokio::select! {
                        begun = polls.wait_for(|polls| *polls > 0) => begun.is_ok(),
                        // What is answered at once holds nothing. Otherwise the request, and its connection, ends here.
                        _ = edgeproof_http::send(&endpoint, &draft, PATIENCE) => false,
                    };
                    let ended = !begun || timeout(LEFT, polls.wait_for(|polls| *polls == 0)).await.is_ok();
                    let actual = if ended { "none" } else { "the one that left" };
                    backend.check(Check::new("requests that wait", "none", actual, ended));
                })
            },
        )
        .needs(&[Need::Mock])
        .alone();
}
