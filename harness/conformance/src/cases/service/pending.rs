use std::time::Duration;

use edgeproof_fixtures::spec::Stimulus;
use edgeproof_reports::{CaseLevel as Level, Hop};

use super::super::{Ask, Backend, Catalog, Need, Phase, summary};
use super::{PENDING, answer};
use crate::judge;

/// Sessions that nobody knows: the pending marker, with the reference exactly as it was asked for (4, 7.4).
pub(super) fn add(cases: &mut Catalog<'_>) {
    for (id, phase, title) in [
        (
            "verdict.sanity.first",
            Phase::First,
            "a session that nobody knows is pending, before all other cases",
        ),
        ("verdict.sanity.last", Phase::Last, "a session that nobody knows is pending, after all other cases"),
    ] {
        unknown(cases, id, title, "unknown").phase(phase).also("endpoint.service.verdict");
    }
    for (name, title, reference) in references() {
        let case = unknown(cases, &format!("verdict.reference.{name}"), title, reference);
        if name == "slash" {
            // RFC 3986 §2.2 lets a segment hold one, and many servers in front of a service refuse it.
            case.level(Level::Should);
        }
    }
    bare_plus(cases);
    odd(cases);
    content_type(cases);
    side_by_side(cases);
    in_turn(cases);
}

/// References that a page may pass to `start()`, each as its text: on the way it is percent-encoded once.
fn references() -> [(&'static str, &'static str, &'static str); 12] {
    [
        ("plain", "a reference of letters, digits and dashes comes back as it was sent", "Abc-123_x.y~z"),
        ("space", "a reference with spaces comes back as it was sent", "a b  c"),
        ("slash", "a reference with a slash comes back as it was sent", "shop/cart/7"),
        ("unicode", "a reference in other scripts comes back as it was sent", "größe-注文-🛒"),
        ("percent", "a reference with a percent sign comes back as it was sent", "100% sure"),
        ("percent-encoded", "a reference that looks encoded is not decoded twice", "a%20b%2Fc"),
        ("plus", "a plus sign in a reference stays one", "a+b"),
        (
            "reserved",
            "a reference with characters that mean something in URLs comes back as it was sent",
            "a?b=c&d#e;f:g@h",
        ),
        (
            "quotes",
            "a reference with quotes and backslashes comes back as it was sent",
            "say \"hi\" \\ 'bye'",
        ),
        ("markup", "a reference that is markup comes back as text", "<script>alert(1)</script>"),
        ("case", "capitals in a reference stay capitals", "AbCdEf"),
        ("number", "a reference of digits comes back as text", "00012345678901234567890"),
    ]
}

fn unknown<'c>(
    cases: &'c mut Catalog<'_>,
    id: &str,
    title: &str,
    text: &'static str,
) -> &'c mut super::super::Case {
    let row = cases.row(PENDING).clone();
    cases
        .asks(PENDING, id, title, move |backend| {
            let row = row.clone();
            Box::pin(async move {
                let reference = backend.reference(text);
                let ask = Ask::new(&reference).bearer(&backend.read_token());
                let reply = backend.ask(&ask).await;
                backend.checks(judge::exact(&answer(&row, &reference), &reply));
            })
        })
        .needs(&[Need::ReadToken])
        .stimulus(Stimulus::ReferenceUnknown)
}

/// In a path a plus sign stands for itself also where it is not encoded (RFC 3986 §3.3): only forms write spaces so.
fn bare_plus(cases: &mut Catalog<'_>) {
    let row = cases.row(PENDING).clone();
    cases
        .asks(
            PENDING,
            "verdict.reference.bare-plus",
            "a plus sign in a reference that is not encoded is no space",
            move |backend| {
                let row = row.clone();
                Box::pin(async move {
                    let reference = backend.reference("a+b");
                    let mut draft = Ask::new(&reference).bearer(&backend.read_token()).draft();
                    draft.path = draft.path.replace("%2B", "+");
                    let sent = backend.send(&draft, backend.limit).await;
                    backend.checks(judge::exact(&answer(&row, &reference), &sent.reply));
                })
            },
        )
        .needs(&[Need::ReadToken])
        .stimulus(Stimulus::ReferenceUnknown);
}

/// What a reference may look like is not shown beyond that it is a text.
fn odd(cases: &mut Catalog<'_>) {
    let long = "x".repeat(4000);
    for (id, title, path) in [
        ("empty", "no reference at all", String::new()),
        ("invalid-utf-8", "a reference that is not UTF-8", "%ff%fe".to_owned()),
        ("invalid-encoding", "a reference with a broken percent encoding", "a%zz".to_owned()),
        ("nul", "a reference with a NUL", "a%00b".to_owned()),
        ("dots", "a reference of two dots, encoded", "%2e%2e".to_owned()),
        ("long", "a reference of 4000 characters", long),
    ] {
        let point = format!("verdict.reference.{id}");
        cases
            .asks("statement.reference-odd", &point.clone(), title, move |backend| {
                let (path, point) = (path.clone(), point.clone());
                Box::pin(async move {
                    let mut draft = Ask::new("").bearer(&backend.read_token()).draft();
                    draft.path.push_str(&path);
                    let sent = backend.send(&draft, backend.limit).await;
                    backend.observe(&point, summary::status(&sent.reply));
                })
            })
            .needs(&[Need::ReadToken]);
    }
}

fn content_type(cases: &mut Catalog<'_>) {
    cases
        .asks(
            "statement.json-content-type",
            "verdict.content-type.pending",
            "the pending marker says that it is JSON",
            |backend| {
                Box::pin(async move {
                    let ask = Ask::new(&backend.reference("kind")).bearer(&backend.read_token());
                    let reply = backend.ask(&ask).await;
                    backend.check(summary::json_content_type(&reply));
                })
            },
        )
        .needs(&[Need::ReadToken]);
    cases.asks(
        "statement.json-content-type",
        "verdict.content-type.unauthorized",
        "a refusal says that it is JSON",
        |backend| {
            Box::pin(async move {
                let reply = backend.ask(&Ask::new(&backend.reference("kind"))).await;
                backend.check(summary::json_content_type(&reply));
            })
        },
    );
}

/// Requests that are there at once.
const AT_ONCE: usize = 16;

fn side_by_side(cases: &mut Catalog<'_>) {
    let row = cases.row(PENDING).clone();
    cases
        .asks(
            PENDING,
            "verdict.isolation.at-once",
            "of many at once each gets its own reference back",
            move |backend| {
                let row = row.clone();
                Box::pin(async move {
                    let references: Vec<String> =
                        (0..AT_ONCE).map(|number| backend.reference(&format!("{number}"))).collect();
                    let drafts = drafts(backend, &references);
                    let endpoint = backend.service().clone();
                    let limit = backend.limit;
                    let sending = drafts.iter().map(|draft| edgeproof_http::send(&endpoint, draft, limit));
                    let sent = futures_util::future::join_all(sending).await;
                    for ((reference, draft), sent) in references.iter().zip(&drafts).zip(sent) {
                        backend.checks(judge::exact(&answer(&row, reference), &sent.reply));
                        backend.record(Hop::ClientService, &endpoint, draft, sent);
                    }
                })
            },
        )
        .needs(&[Need::ReadToken])
        .takes(Duration::from_secs(1));
}

fn in_turn(cases: &mut Catalog<'_>) {
    let row = cases.row(PENDING).clone();
    cases
        .asks(
            PENDING,
            "verdict.isolation.in-turn",
            "of several over one connection each gets its own reference back",
            move |backend| {
                let row = row.clone();
                Box::pin(async move {
                    let references: Vec<String> =
                        (0..4).map(|number| backend.reference(&format!("{number}"))).collect();
                    let drafts = drafts(backend, &references);
                    let endpoint = backend.service().clone();
                    let all = edgeproof_http::send_in_turn(&endpoint, &drafts, backend.limit).await;
                    // A server may end a connection after any answer: what it did not answer says nothing.
                    for ((reference, draft), sent) in references.iter().zip(&drafts).zip(all) {
                        if backend.found.sent.is_empty() || sent.reply.is_ok() {
                            backend.checks(judge::exact(&answer(&row, reference), &sent.reply));
                        }
                        backend.record(Hop::ClientService, &endpoint, draft, sent);
                    }
                })
            },
        )
        .needs(&[Need::ReadToken]);
}

fn drafts(backend: &Backend, references: &[String]) -> Vec<edgeproof_http::Draft> {
    let token = backend.read_token();
    references.iter().map(|reference| Ask::new(reference).bearer(&token).draft()).collect()
}
