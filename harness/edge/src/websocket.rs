use bytes::Bytes;
use futures_util::{SinkExt, StreamExt};
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use tokio::sync::watch;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::server::create_response_with_body;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Message, Utf8Bytes};

/// A measurement is small; more than this at once is none.
const LONGEST_MESSAGE: usize = 64 * 1024;

/// The answer that opens a WebSocket; none where the request does not ask for one as RFC 6455 has it.
pub(super) fn handshake(request: &Request<Incoming>) -> Option<Response<Full<Bytes>>> {
    create_response_with_body(request, Full::default).ok()
}

/// Sends every message back until one side has enough. For a request whose handshake was answered.
pub(super) async fn echo(request: Request<Incoming>, mut stopping: watch::Receiver<bool>) {
    let Ok(upgraded) = hyper::upgrade::on(request).await else { return };
    let config = WebSocketConfig::default()
        .max_message_size(Some(LONGEST_MESSAGE))
        .max_frame_size(Some(LONGEST_MESSAGE));
    let mut socket =
        WebSocketStream::from_raw_socket(TokioIo::new(upgraded), Role::Server, Some(config)).await;
    loop {
        let message = tokio::select! {
            message = socket.next() => message,
            () = stop(&mut stopping) => {
                let frame = CloseFrame { code: CloseCode::Away, reason: Utf8Bytes::default() };
                // Whoever is gone already needs no farewell.
                let _ = socket.close(Some(frame)).await;
                return;
            }
        };
        // Pings are answered, and a close is finished, by the library.
        let Some(Ok(message)) = message else { return };
        if matches!(message, Message::Text(_) | Message::Binary(_)) && socket.send(message).await.is_err() {
            return;
        }
    }
}

/// Waits until the edge stops.
async fn stop(stopping: &mut watch::Receiver<bool>) {
    let _ = stopping.wait_for(|stopping| *stopping).await;
}
