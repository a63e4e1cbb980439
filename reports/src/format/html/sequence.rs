//! The exchanges of a case as one sequence of messages.

use crate::model::{Exchange, Hop};
use crate::text::escape::one_line;

/// A request or a response.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Message {
    /// `client → edge`.
    pub(super) way: String,
    /// First line.
    pub(super) start: String,
    /// The whole text; empty if the first line is all of it.
    pub(super) text: String,
}

/// Messages in their order: what the edge sends to the service stands between the request and the answer of the client.
pub(super) fn sequence(exchanges: &[Exchange]) -> Vec<Message> {
    let mut messages = Vec::new();
    let mut open: Option<&Exchange> = None;
    for exchange in exchanges {
        if exchange.hop == Hop::EdgeService {
            messages.extend([request(exchange), response(exchange)]);
            continue;
        }
        messages.extend(open.replace(exchange).map(response));
        messages.push(request(exchange));
    }
    messages.extend(open.map(response));
    messages
}

fn request(exchange: &Exchange) -> Message {
    message(exchange.hop.name().replace('→', " → "), &exchange.request)
}

fn response(exchange: &Exchange) -> Message {
    let (client, server) = exchange.hop.name().split_once('→').expect("each name has an arrow");
    message(format!("{server} → {client}"), &exchange.response)
}

fn message(way: String, text: &str) -> Message {
    let (start, rest) = text.split_once('\n').unwrap_or((text, ""));
    let text = if rest.is_empty() { String::new() } else { text.to_owned() };
    Message { way, start: one_line(start).into_owned(), text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answer_of_the_edge_follows_what_its_request_caused() {
        let exchange = |hop, request: &str, response: &str| Exchange {
            hop,
            request: request.to_owned(),
            response: response.to_owned(),
        };
        let exchanges = [
            exchange(Hop::ClientEdge, "POST 1", "200"),
            exchange(Hop::EdgeService, "RELAY 1\nhost: a", "(no answer yet)"),
            exchange(Hop::ClientEdge, "POST 2", "404"),
            exchange(Hop::EdgeService, "RELAY 2", "401\n\n{}"),
        ];
        let starts: Vec<_> =
            sequence(&exchanges).into_iter().map(|one| format!("{}: {}", one.way, one.start)).collect();
        assert_eq!(
            starts,
            [
                "client → edge: POST 1",
                "edge → service: RELAY 1",
                "service → edge: (no answer yet)",
                "edge → client: 200",
                "client → edge: POST 2",
                "edge → service: RELAY 2",
                "service → edge: 401",
                "edge → client: 404",
            ]
        );
    }
}
