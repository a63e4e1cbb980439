use edgeproof_fixtures::spec::Advice;
use edgeproof_http::Answer;
use edgeproof_reports::CaseLevel;
use edgeproof_reports::difference::{Breach, DifferenceKind, Invariant, SecretPlace, Secrets};
use memchr::{memchr, memmem};

use super::breaches::{Breaches, by_case, by_exchange};
use super::edge_record::EdgeRecord;
use crate::cases::ServiceExchange;
use crate::judge::Check;

/// Texts of stack traces, and folders of libraries.
const TRACES: [&str; 9] = [
    "Traceback (most recent call last)",
    "Stack trace:",
    "goroutine 1 [",
    "panicked at ",
    "node:internal/",
    "/node_modules/",
    "/site-packages/",
    "/dist-packages/",
    "/vendor/bundle/",
];
/// What stands between the name of a source file and the number of a line.
const SOURCES: [&str; 14] = [
    ".js:",
    ".mjs:",
    ".cjs:",
    ".ts:",
    ".py:",
    ".go:",
    ".rs:",
    ".rb:",
    ".php:",
    ".java:",
    ".kt:",
    ".cs:line ",
    ".py\", line ",
    ".php on line ",
];
/// A shorter path can stand in an answer by chance.
const SHORTEST_PATH: usize = 8;
/// Shown bytes before and after what was found.
const AROUND: usize = 30;

/// No answer of an edge shows a stack trace, one of its files or the address of the service.
pub(super) fn of_edge(edge: &EdgeRecord) -> Check {
    let answered = edge.requests.iter().filter_map(|request| {
        let answer = request.sent.as_ref()?.reply.as_ref().ok()?;
        Some((answer, by_case(&request.sender.case)))
    });
    check(answered, &edge.internals)
}

/// No answer of a service shows a stack trace.
pub(super) fn of_service<'e>(exchanges: impl Iterator<Item = &'e ServiceExchange>) -> Check {
    let answered = exchanges.filter_map(|exchange| {
        let answer = exchange.sent.reply.as_ref().ok()?;
        Some((answer, by_exchange(exchange)))
    });
    check(answered, &[])
}

/// What an answer must not show of an edge with these settings: paths of its files, and the address of the service.
pub(crate) fn internals(
    files: &[&std::path::Path],
    service_url: Option<&str>,
    origin: Option<&str>,
) -> Vec<String> {
    let paths =
        files.iter().map(|file| file.display().to_string()).filter(|path| path.len() >= SHORTEST_PATH);
    let url = service_url.and_then(|url| url::Url::parse(url).ok());
    let address = url.and_then(|url| Some((url.host_str()?.to_owned(), url.port()?)));
    let addresses = address.into_iter().flat_map(|(host, port)| {
        let hosts = if host == "localhost" {
            vec!["localhost", "127.0.0.1", "::1", "[::1]"]
        } else {
            vec![host.as_str()]
        };
        hosts.into_iter().map(|host| format!("{host}:{port}")).collect::<Vec<_>>()
    });
    paths
        .chain(addresses)
        .filter(|text| !origin.is_some_and(|origin| origin.contains(text.as_str())))
        .collect()
}

/// Adds each answer that shows something. At every level it is a `should`: an attacker reads open answers as well.
fn check<'a>(answered: impl Iterator<Item = (&'a Answer, Breach)>, internals: &[String]) -> Check {
    let mut breaches = Breaches::default();
    for (answer, breach) in answered {
        let fields = answer
            .headers
            .iter()
            .map(|(name, value)| (SecretPlace::Header(name.to_string()), value.as_bytes()));
        let mut texts = fields.chain([(SecretPlace::Body, &answer.body[..])]);
        let Some((place, shown)) = texts.find_map(|(place, text)| Some((place, shown(text, internals)?)))
        else {
            continue;
        };
        let difference = DifferenceKind::Secret { secrets: Secrets::Internals, place: Some(place) };
        let breach = Breach {
            status: Some(answer.status),
            value: Some(shown.into()),
            difference: Some(Box::new(difference)),
            ..breach
        };
        breaches.push_at(CaseLevel::Should, breach);
    }
    breaches.check(Invariant::InternalsInAnswers).advise(Advice::InternalsAnswered)
}

/// The part of a text that shows an internal. None: it shows nothing.
fn shown<'t>(text: &'t [u8], internals: &[String]) -> Option<&'t [u8]> {
    let places = internals.iter().map(String::as_str).chain(TRACES);
    // A longer port is another one.
    let is_whole = |(_, end): &(usize, usize)| {
        let is_digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
        !(is_digit(text[..*end].last()) && is_digit(text.get(*end)))
    };
    let find = |word: &str| memmem::find(text, word.as_bytes()).map(|at| (at, at + word.len()));
    let plain = places.filter_map(find).find(is_whole);
    // Each of these words has a dot, which most answers lack.
    let sources = memchr(b'.', text).map_or(&[][..], |_| &SOURCES);
    let (from, to) = plain.or_else(|| sources.iter().find_map(|word| source_line(text, word)))?;
    Some(&text[from.saturating_sub(AROUND)..(to + AROUND).min(text.len())])
}

/// Where a text names a line of a source file.
fn source_line(text: &[u8], word: &str) -> Option<(usize, usize)> {
    let names_line = |at: &usize| {
        // `.rs` and `.py` are top-level domains as well.
        let is_host = memmem::rfind(&text[..*at], b"://").is_some_and(|scheme| {
            let after = &text[scheme + 3..*at];
            after.iter().all(|byte| byte.is_ascii_alphanumeric() || b".-".contains(byte))
        });
        if is_host {
            return false;
        }
        let (before, after) = (at.checked_sub(1).map(|before| text[before]), text.get(at + word.len()));
        before.is_some_and(|byte| byte.is_ascii_alphanumeric() || b"_-]".contains(&byte))
            && after.is_some_and(u8::is_ascii_digit)
    };
    memmem::find_iter(text, word.as_bytes()).find(names_line).map(|at| (at, at + word.len()))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::node("Error: read\n    at relay (file:///srv/edge.mjs:10:5)", true)]
    #[case::node_in_json(r#"{"stack":"Error\\n    at relay (/srv/edge.js:10:5)"}"#, true)]
    #[case::python("Traceback (most recent call last):\n  File \"edge.py\", line 3", true)]
    #[case::java("at edge.Relay.post(Relay.java:31)", true)]
    #[case::go("main.relay(0x0)\n\t/src/main.go:31 +0x1d", true)]
    #[case::php("Fatal error in /srv/index.php on line 12", true)]
    #[case::csharp("in /src/Relay.cs:line 12", true)]
    #[case::library("/app/node_modules/express/lib", true)]
    #[case::file("open '/etc/edge/ca.pem'", true)]
    #[case::service("connect ECONNREFUSED 127.0.0.1:4433", true)]
    #[case::interface(r#"{"error":"service_unreachable"}"#, false)]
    #[case::page("<a href=\"/v1/app.js\">app.js: 3 KB</a>", false)]
    #[case::other_port("localhost:3000", false)]
    #[case::longer_port("localhost:44331", false)]
    #[case::host("https://shop.rs:9001", false)]
    #[case::no_line("edge.js:x and .js:3", false)]
    fn traces_files_and_addresses_are_found(#[case] text: &str, #[case] expected: bool) {
        let internals = internals(
            &[Path::new("/etc/edge/ca.pem")],
            Some("https://localhost:4433"),
            Some("https://shop.example"),
        );
        assert_eq!(shown(text.as_bytes(), &internals).is_some(), expected);
    }
}
