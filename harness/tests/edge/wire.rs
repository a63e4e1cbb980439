use std::fmt::Write;

use bytes::Bytes;
use fixtures::spec::Table;
use harness::mock::{Action, Facade};
use harness::wire::{Answer, Body, Draft};
use serde_json::json;

use crate::support::{OK, SIGNALS, World, answer, draft, post};

/// One way to bring about each row of the edge's table; all ways are tested elsewhere.
fn conversations() -> Vec<(&'static str, Draft, Option<Action>)> {
    let preflight = draft("OPTIONS", SIGNALS)
        .header("access-control-request-method", "POST")
        .header("access-control-request-headers", "content-type");
    let short = draft("POST", SIGNALS)
        .header("content-length", "20")
        .body(Body::Broken(Bytes::from_static(b"{\"sealed\":")));
    let reasoned = answer(409, r#"{"error":"replayed_bundle","reason":"replayed_bundle"}"#);
    vec![
        ("edge.200.accepted", post(r#"{"sealed":true}"#), Some(answer(200, OK))),
        ("edge.400.read-failed", short, None),
        ("edge.405.method-not-allowed", draft("GET", SIGNALS), None),
        ("edge.502.service-unreachable", post(r#"{"sealed":true}"#), Some(Action::Reset)),
        ("edge.refused", post(r#"{"sealed":true}"#), Some(reasoned)),
        ("edge.refused.unknown", post(r#"{"sealed":true}"#), Some(answer(503, "<html>"))),
        ("edge.preflight", preflight, None),
    ]
}

#[tokio::test]
async fn every_edge_row_on_the_wire() {
    let world = World::with(|settings| {
        settings.service_url = settings.service_url.take().map(|url| url.replace("https:", "http:"));
        settings.license = Some(fixtures::credentials::Secret::new("the-license"));
    })
    .await;
    world.service.set_facade(Facade::PlainHttp).await.unwrap();
    let conversations = conversations();
    let mut told: Vec<_> = conversations.iter().map(|(row, ..)| (*row).to_owned()).collect();
    let mut rows: Vec<_> = world.spec.table(Table::Edge).map(|row| row.id.clone()).collect();
    told.sort();
    rows.sort();
    assert_eq!(told, rows, "each row of the edge's table has a conversation");
    for (row, draft, action) in conversations {
        let scripted = action.map(|action| world.script(action));
        let (lines, arrivals) = (world.log.mark(), world.service.mark());
        let answer = world.send(&draft).await;
        let mut seen = format!("> {} {}\n", draft.method, draft.path);
        for (name, value) in &draft.headers {
            let _ = writeln!(seen, "> {name}: {value}");
        }
        let _ = writeln!(seen, "> {}", draft.body.bytes().escape_ascii());
        for arrival in world.service.arrivals_since(arrivals) {
            let _ = writeln!(seen, "\n    > {} {}", arrival.request.method, arrival.request.target);
            seen.push_str(&fields("    > ", &arrival.request.headers));
            let _ = writeln!(seen, "    > {}", arrival.request.body.escape_ascii());
        }
        seen.push_str(&shown(&answer));
        for line in world.log.since(lines) {
            let _ = writeln!(seen, "\nlog: {}", line.text);
        }
        drop(scripted);
        insta::assert_snapshot!(row, seen);
    }
}

#[tokio::test]
async fn every_relay_row_on_the_wire() {
    let world = World::new().await;
    let mut seen = String::new();
    for row in world.spec.table(Table::Relay) {
        let (status, code) = (row.status().unwrap(), row.code().unwrap());
        let reply = json!({"error": code, "reason": code}).to_string();
        let _scripted = world.scripted(status, &reply);
        let answer = world.post("{}").await;
        let _ = writeln!(seen, "{}\n    service: {status} {reply}", row.id);
        let _ = writeln!(
            seen,
            "    edge:    {} {}",
            answer.status,
            answer.body.escape_ascii().to_string().replace("\\\"", "\"")
        );
    }
    insta::assert_snapshot!("relay", seen);
}

fn shown(answer: &Answer) -> String {
    let body = String::from_utf8_lossy(&answer.body);
    format!("\n< {}\n{}< {body}\n", answer.status, fields("< ", &answer.headers))
}

/// In an order of their own; what differs between two runs is named only.
fn fields(indent: &str, headers: &http::HeaderMap) -> String {
    let mut lines: Vec<_> = headers
        .iter()
        .map(|(name, value)| match name.as_str() {
            "date" | "host" => format!("{indent}{name}: …\n"),
            _ => format!("{indent}{name}: {}\n", value.to_str().unwrap()),
        })
        .collect();
    lines.sort();
    lines.concat()
}
