use bytes::Bytes;
use http::StatusCode;

use super::blocked::{SESSION, collected, session_with};
use crate::cases::{CaseList, Collector};
use crate::collector::WebSocketReaction;

const ROW: &str = "statement.websocket-failure";

/// A frame header that announces a message of four exabytes (RFC 6455 §5.2).
const ENORMOUS: &[u8] = b"\x82\x7f\x40\x00\x00\x00\x00\x00\x00\x00";
/// Reserved bits and a reserved opcode.
const RESERVED: &[u8] = b"\xff\xff\xff\xff not a frame";
/// A text message that no collector sent.
const UNASKED: &[u8] = b"\x81\x07unasked";
/// A text message that is not UTF-8.
const NOT_TEXT: &[u8] = b"\x81\x03\xff\xfe\xfd";
/// A close frame: 1011, the server failed.
const CLOSE_FRAME: &[u8] = b"\x88\x02\x03\xf3";

/// A WebSocket that fails is no error (1.6, 7.1).
pub(super) fn add(cases: &mut CaseList<'_, Collector>) {
    let refuse = |status| WebSocketReaction::Refuse(status);
    let send = |bytes| WebSocketReaction::Send(Bytes::from_static(bytes));
    for (id, title, reactions) in [
        (
            "refused",
            "refuses the WebSocket",
            vec![
                refuse(StatusCode::UNAUTHORIZED),
                refuse(StatusCode::NOT_FOUND),
                refuse(StatusCode::OK),
                WebSocketReaction::Drop,
            ],
        ),
        ("closed", "closes the WebSocket early", vec![WebSocketReaction::Close, send(CLOSE_FRAME)]),
        ("silent", "never answers on the WebSocket", vec![send(b"")]),
        ("invalid", "sends invalid frames", vec![send(RESERVED), send(NOT_TEXT), send(ENORMOUS)]),
        ("unasked", "sends messages that nobody asked for", vec![send(UNASKED)]),
    ] {
        let takes = SESSION * u32::try_from(reactions.len()).unwrap_or(1);
        cases
            .case(
                ROW,
                &format!("websocket.{id}"),
                &format!("the collector sends the collection without an error if the edge {title}"),
            )
            .steps(steps!(with(reactions), async |context| {
                let Some(page) = context.page().await else { return };
                for reaction in reactions {
                    let what = format!("{reaction:?}");
                    let setup = context.edge_setup().websocket(reaction);
                    let Some(edge) = context.edge(setup).await else { return };
                    session_with(context, &page, &edge, &what).await;
                }
                collected(context, &page).await;
            }))
            .also("statement.measurement-failure")
            .takes(takes);
    }
}
