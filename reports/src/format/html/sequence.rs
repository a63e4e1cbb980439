//! The exchanges of a case as one sequence of messages.

use crate::model::{Exchange, Hop};

/// A request or a response.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Message {
    /// `client → edge`.
    pub(super) way: String,
    /// Head, blank line, body.
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
    Message { way: exchange.hop.name().replace('→', " → "), text: exchange.request.clone() }
}

fn response(exchange: &Exchange) -> Message {
    let (client, server) = exchange.hop.name().split_once('→').expect("each name has an arrow");
    Message { way: format!("{server} → {client}"), text: exchange.response.clone() }
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
        let texts: Vec<_> =
            sequence(&exchanges).into_iter().map(|one| format!("{}: {}", one.way, one.text)).collect();
        assert_eq!(
            texts,
            [
                "client → edge: POST 1",
                "edge → service: RELAY 1\nhost: a",
                "service → edge: (no answer yet)",
                "edge → client: 200",
                "client → edge: POST 2",
                "edge → service: RELAY 2",
                "service → edge: 401\n\n{}",
                "edge → client: 404",
            ]
        );
    }
}
