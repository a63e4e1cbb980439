use crate::cases::{CaseExchange, CaseFindings};
use crate::curl;

/// Most requests before the failed one that its commands repeat. Later ones stand for themselves.
const EARLIER: usize = 3;
/// Most requests in one command.
const REQUESTS: usize = 12;

/// `curl` commands that send the failed request of a case and the ones before it, in lines, one for each connection.
/// Empty: curl cannot repeat them.
pub(in crate::run) fn reproduce(found: &CaseFindings) -> String {
    let last = found.failed.map_or(0, |(_, position)| position);
    let Some(failed) = found.sent.get(last) else { return String::new() };
    let before = if last <= EARLIER { &found.sent[..last] } else { &[] };
    let mut connections: Vec<u64> = Vec::new();
    for exchange in before.iter().chain([failed]) {
        let connection = exchange.sent.place.connection;
        if !connections.contains(&connection) {
            connections.push(connection);
        }
    }
    // A case may check an answer before it records the exchange, so the next request can be the failed one.
    let sent = &found.sent[..found.sent.len().min(last + 2)];
    let lines: Option<Vec<String>> =
        connections.into_iter().map(|connection| over(connection, sent)).collect();
    lines.unwrap_or_default().join("\n")
}

/// One command with these requests of a connection: curl keeps it. None: curl cannot send one of them, the case does not
/// show all, or there are too many.
fn over(connection: u64, sent: &[CaseExchange]) -> Option<String> {
    let mut requests: Vec<&CaseExchange> =
        sent.iter().filter(|exchange| exchange.sent.place.connection == connection).collect();
    requests.sort_by_key(|exchange| exchange.sent.place.earlier);
    let has_gap = requests.iter().enumerate().any(|(number, exchange)| exchange.sent.place.earlier != number);
    if has_gap || requests.len() > REQUESTS {
        return None;
    }
    let commands: Option<Vec<&str>> = requests.iter().map(|exchange| exchange.curl.as_deref()).collect();
    Some(curl::in_turn(&commands?))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use bytes::Bytes;
    use edgeproof_http::{ConnectionUse, NoAnswer, Request, Sent};
    use edgeproof_reports::difference::Counted;
    use edgeproof_reports::{CaseLevel, Hop};
    use http::{HeaderMap, Version};
    use rstest::rstest;

    use super::*;
    use crate::judge::Check;

    /// An exchange over a connection, with a command that names both. An upper-case name: curl cannot send the request.
    fn exchange(name: &str, connection: u64, earlier: usize) -> CaseExchange {
        let request = Request {
            method: "GET".into(),
            target: "/".into(),
            version: Version::HTTP_11,
            headers: HeaderMap::new(),
            body: Bytes::new(),
            complete: true,
        };
        let place = ConnectionUse { connection, earlier };
        let sent = Sent {
            place,
            request,
            reply: Err(NoAnswer::Closed),
            violations: Vec::new(),
            at: Instant::now(),
            took: Duration::ZERO,
        };
        let curl = (name.to_lowercase() == name).then(|| format!("curl -i {name}"));
        CaseExchange { hop: Hop::ClientEdge, sent, curl }
    }

    /// The findings of exchanges, of which the one with the number `failed` fails.
    fn found(exchanges: &[(&str, u64, usize)], failed: usize) -> CaseFindings {
        let mut found = CaseFindings::default();
        for (number, (name, connection, earlier)) in exchanges.iter().enumerate() {
            found.sent.push(exchange(name, *connection, *earlier));
            found.check(Check::counted(Counted::Copies, 0, usize::from(number == failed)), CaseLevel::Must);
        }
        found
    }

    #[rstest]
    #[case::alone(&[("a", 0, 0)], 0, "curl -i a")]
    #[case::later_ones_are_left_out(&[("a", 0, 0), ("b", 1, 0)], 0, "curl -i a")]
    #[case::separate_connections(&[("a", 0, 0), ("b", 1, 0)], 1, "curl -i a\ncurl -i b")]
    #[case::same_connection(&[("a", 0, 0), ("b", 0, 1)], 1, "curl -i a --next -i b")]
    #[case::both(&[("a", 0, 0), ("b", 0, 1), ("c", 1, 0)], 2, "curl -i a --next -i b\ncurl -i c")]
    #[case::many_before(
        &[("a", 0, 0), ("b", 1, 0), ("c", 2, 0), ("d", 3, 0), ("e", 4, 0)],
        4,
        "curl -i e"
    )]
    #[case::one_before_is_not_shown(&[("b", 0, 1)], 0, "")]
    #[case::curl_cannot_send_one_before(&[("A", 0, 0), ("b", 0, 1)], 1, "")]
    #[case::curl_cannot_send_it(&[("A", 0, 0)], 0, "")]
    fn commands_repeat_all_requests_up_to_the_failed_one(
        #[case] exchanges: &[(&str, u64, usize)],
        #[case] failed: usize,
        #[case] expected: &str,
    ) {
        assert_eq!(reproduce(&found(exchanges, failed)), expected);
    }

    #[test]
    fn command_with_too_many_requests_is_left_out() {
        let all: Vec<_> = (0..60).map(|earlier| ("a", 0, earlier)).collect();
        assert_eq!(reproduce(&found(&all, 3)).matches("--next").count(), 4);
        assert_eq!(reproduce(&found(&all, REQUESTS - 2)).matches("--next").count(), REQUESTS - 1);
        assert_eq!(reproduce(&found(&all, REQUESTS - 1)), "");
    }

    /// Such as probes that are judged and then recorded.
    #[test]
    fn check_before_the_record_of_its_exchange_belongs_to_it() {
        let mut found = CaseFindings::default();
        for (name, earlier) in [("a", 0), ("b", 1), ("c", 2), ("d", 3)] {
            found.check(Check::counted(Counted::Copies, 0, usize::from(name == "c")), CaseLevel::Must);
            found.sent.push(exchange(name, 0, earlier));
        }
        assert_eq!(reproduce(&found), "curl -i a --next -i b --next -i c");
    }
}
