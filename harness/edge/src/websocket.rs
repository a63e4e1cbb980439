use bytes::Bytes;
use futures_util::{SinkExt, StreamExt};
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use tokio::io::AsyncWriteExt;
use tokio::sync::watch;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::server::create_response_with_body;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Message, Utf8Bytes};

use crate::fault_hooks::WebSocketAction;

/// Maximum size of a message (bytes). Measurements are smaller.
const MAX_MESSAGE: usize = 64 * 1024;

/// Answer to a WebSocket handshake; `None` if the request is no valid handshake (RFC 6455).
pub(super) fn handshake(request: &Request<Incoming>) -> Option<Response<Full<Bytes>>> {
    create_response_with_body(request, Full::default).ok()
}

/// Serves a WebSocket until the page closes it or the edge stops. The handshake must have been answered.
pub(super) async fn serve(
    request: Request<Incoming>,
    action: WebSocketAction,
    mut stopping: watch::Receiver<bool>,
) {
    match action {
        WebSocketAction::Echo => echo(request, stopping).await,
        // Dropping the upgraded stream closes it.
        WebSocketAction::Close => drop(hyper::upgrade::on(request).await),
        WebSocketAction::Send(bytes) => tokio::select! {
            () = send(request, &bytes) => {}
            () = stop(&mut stopping) => {}
        },
    }
}

/// Sends bytes, then reads until the page closes the connection.
async fn send(request: Request<Incoming>, bytes: &[u8]) {
    let Ok(upgraded) = hyper::upgrade::on(request).await else { return };
    let mut stream = TokioIo::new(upgraded);
    if stream.write_all(bytes).await.is_ok() && stream.flush().await.is_ok() {
        let _ = tokio::io::copy(&mut stream, &mut tokio::io::sink()).await;
    }
}

/// Echoes messages until the page closes the WebSocket or the edge stops. The handshake must have been answered.
async fn echo(request: Request<Incoming>, mut stopping: watch::Receiver<bool>) {
    let Ok(upgraded) = hyper::upgrade::on(request).await else { return };
    let config =
        WebSocketConfig::default().max_message_size(Some(MAX_MESSAGE)).max_frame_size(Some(MAX_MESSAGE));
    let mut socket =
        WebSocketStream::from_raw_socket(TokioIo::new(upgraded), Role::Server, Some(config)).await;
    loop {
        let message = tokio::select! {
            message = socket.next() => message,
            () = stop(&mut stopping) => {
                let frame = CloseFrame { code: CloseCode::Away, reason: Utf8Bytes::default() };
                // Fails only if the page is gone already.
                let _ = socket.close(Some(frame)).await;
                return;
            }
        };
        // tungstenite answers pings and completes the closing handshake.
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
