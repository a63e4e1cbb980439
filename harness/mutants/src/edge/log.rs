//! Edges that log secrets or end-user data, or no refusal.

use edgeproof_edge::LogSink;
use edgeproof_fixtures::credentials::Secret;

use super::prelude::*;
use crate::behaviour::{Seen, Setup};

pub(super) const MUTANTS: &[Behaviour<EdgeEffect>] = &[
    mutant("logs-body", "Logs the body of a refused collection.")
        .breaks("statement.log-without-end-user-data", "end-user-data-logged")
        .also_late()
        .then(LogAlso(|seen| seen.body.map(|_| seen.text()))),
    mutant("logs-address", "Logs the client's address.")
        .breaks("statement.log-without-end-user-data", "end-user-data-logged")
        .then(LogAlso(|seen| seen.peer.map(|peer| peer.ip().to_string()))),
    mutant("logs-forwarded-address", "Logs the header X-Forwarded-For.")
        .breaks("statement.log-without-end-user-data", "end-user-data-logged")
        .also_late()
        .then(LogAlso(|seen| seen.header("x-forwarded-for"))),
    mutant("logs-user-agent", "Logs the header User-Agent.")
        .breaks("statement.log-without-end-user-data", "end-user-data-logged")
        .also_late()
        .then(LogAlso(|seen| seen.header("user-agent"))),
    mutant("logs-cookie", "Logs the header Cookie.")
        .breaks("statement.log-without-end-user-data", "end-user-data-logged")
        .also_late()
        .then(LogAlso(|seen| seen.header("cookie"))),
    mutant("writes-access-log", "Writes an access log with address and user agent.")
        .breaks("statement.log-without-end-user-data", "end-user-data-logged")
        .answers(By(|seen, answer| {
            let (agent, length) = (seen.header("user-agent").unwrap_or("-".into()), answer.body.len());
            let peer = seen.peer.map(|peer| peer.ip().to_string()).unwrap_or_default();
            let (line, status) = (request_line(seen), answer.status);
            let date = "14/Mar/2025:09:26:53 +0000";
            with_line(answer, &format!("{peer} - - [{date}] \"{line}\" {status} {length} \"-\" \"{agent}\""))
        })),
    mutant("writes-short-access-log", "Writes an access log with the client's address, as uvicorn does.")
        .breaks("statement.log-without-end-user-data", "end-user-data-logged")
        .answers(By(|seen, answer| {
            let peer = seen.peer.map(|peer| peer.to_string()).unwrap_or_default();
            let line = format!("INFO:     {peer} - \"{}\" {}", request_line(seen), answer.status);
            with_line(answer, &line)
        })),
    mutant("logs-license", "Logs the license on refusals.")
        .breaks("statement.secrets-not-logged", "secrets-logged")
        .also_late()
        .then(LogAlso(|seen| Some(seen.setup.license().to_owned()))),
    mutant("logs-license-at-start", "Logs the license at start.")
        .breaks("statement.secrets-not-logged", "secrets-logged")
        .then(Start(|options, _| {
            let license = options.settings.license.as_ref().map(Secret::expose);
            options.log.write(format!("LICENSE={}", license.unwrap_or_default()));
        })),
    mutant("logs-client-error", "Logs the error of the HTTP client with the request.")
        .breaks("statement.secrets-not-logged", "secrets-logged")
        .then(Log(|seen, line| {
            let status = status(seen);
            format!(
                "{line}\nAxiosError: Request failed with status code {status} {{\n  config: {{\n    \
             headers: {{ Authorization: 'Bearer {}' }},\n    data: '{}'\n  }}\n}}",
                seen.setup.license(),
                seen.text()
            )
        })),
    mutant("logs-client-key", "Logs the client key at start.")
        .breaks("statement.secrets-not-logged", "secrets-logged")
        .then(Start(|options, _| options.log.write(format!("client key {}", Setup::of_edge(options).key)))),
    mutant("logs-without-status-and-reason", "Logs refusals without status and reason.")
        .breaks("statement.refusal-logged", "refusal-log-wrong")
        .also_late()
        .then(Log(|_, _| "a collection was refused".to_owned())),
    mutant("logs-nothing", "Logs nothing.")
        .breaks("statement.refusal-logged", "refusal-log-wrong")
        .should()
        .then(Start(|options, _| options.log = LogSink::new(drop))),
    mutant("logs-replies", "Logs the reply of the service with its line ends.")
        .breaks("statement.refusal-logged", "refusal-log-wrong")
        .when(REFUSED)
        .then(LogAlso(|seen| Some(String::from_utf8_lossy(&seen.reply().1).into_owned()))),
    mutant("logs-twice", "Logs each refusal twice.")
        .breaks("statement.refusal-logged", "refusal-log-wrong")
        .then(Start(|options, _| {
            let log = options.log.clone();
            options.log = LogSink::new(move |line| {
                log.write(line.clone());
                log.write(line);
            });
        })),
    mutant("logs-two-lines", "Logs the reason on a separate line.")
        .breaks("statement.refusal-logged", "refusal-log-wrong")
        .then(Start(|options, _| {
            let log = options.log.clone();
            options.log =
                LogSink::new(move |line| line.splitn(2, " reason=").for_each(|part| log.write(part)));
        })),
    mutant("logs-raw-reasons", "Logs a reason with its line breaks.")
        .breaks("statement.refusal-logged", "refusal-log-wrong")
        .then(Log(|seen, line| {
            let (status, body) = seen.reply();
            let body: serde_json::Value = serde_json::from_slice(&body).unwrap_or_default();
            let Some(reason) = body["reason"].as_str() else { return line.to_owned() };
            format!("refused status={status} reason={reason}")
        })),
    mutant("logs-decoded-targets", "Logs the decoded path of a request that it does not know.")
        .breaks("statement.refusal-logged", "refusal-log-wrong")
        .when(All(&[AnswerIs(404, 404), Not(&Signals)]))
        .answers(By(|seen, answer| {
            let line = format!("no route for {}", seen.target.replace("%0A", "\n"));
            with_line(answer, &line)
        })),
    mutant("logs-no-unknown-reasons", "Logs no refusal without a plain reason.")
        .breaks("statement.refusal-logged", "refusal-log-wrong")
        .then(Log(|_, line| if line.contains("reason=unknown") { String::new() } else { line.to_owned() })),
    mutant("logs-reply-object", "Logs the service's reply as an object over several lines.")
        .breaks("statement.refusal-logged", "refusal-log-wrong")
        .then(Log(|seen, _| {
            let (status, body) = seen.reply();
            if status == 0 {
                return String::new();
            }
            let body = String::from_utf8_lossy(&body);
            format!(
                "Response {{\n  status: {status},\n  ok: false,\n  \
             headers: Headers {{ 'content-type': 'application/json' }},\n  body: '{body}'\n}}"
            )
        })),
    mutant("logs-without-reason", "Logs refusals without the reason.")
        .breaks("statement.refusal-logged", "refusal-log-wrong")
        .also_late()
        .then(Log(|_, line| line.split(" reason=").next().unwrap_or_default().to_owned())),
    mutant("logs-without-status", "Logs refusals without the status.")
        .breaks("statement.refusal-logged", "refusal-log-wrong")
        .also_late()
        .then(Log(|seen, line| line.replace(&format!(" status={}", status(seen)), ""))),
    mutant("logs-other-status", "Logs another status than the service's.")
        .breaks("statement.refusal-logged", "refusal-log-wrong")
        .also_late()
        .then(Log(|seen, line| line.replace(&format!("status={}", status(seen)), "status=502"))),
];

fn status(seen: &Seen<'_>) -> u16 {
    seen.answer.map_or(0, |answer| answer.status)
}

fn request_line(seen: &Seen<'_>) -> String {
    format!("{} {} HTTP/1.1", seen.method, seen.target)
}

/// Logs another line after the refusal.
fn with_line(answer: Answer, line: &str) -> Answer {
    let refusal = answer.log.map_or_else(String::new, |refusal| refusal + "\n");
    Answer { log: Some(refusal + line), ..answer }
}
