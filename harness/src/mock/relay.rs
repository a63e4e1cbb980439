use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response, Version};
use http_body_util::BodyExt;
use hyper::body::Incoming;

use super::arrival::Given;
use super::connection::Peer;
use super::journal::Recording;
use super::registry::{Prepared, Registration};
use super::respond::{Ended, Payload, answer, cut_body, cut_head, cut_stream, json_headers};
use super::script::{Action, When};
use super::service::Shared;

/// Records a request, and answers it as a script says or as the mock service decides.
pub(super) async fn handle(
    shared: Arc<Shared>,
    request: Request<Incoming>,
    peer: Arc<Peer>,
) -> Result<Response<Payload>, Ended> {
    let (parts, body) = request.into_parts();
    let recording = shared.journal.open(parts, &peer);
    let mut relay = Relay { recording, body, peer };
    match relay.read(&shared).await {
        Read::Early(script) => {
            let prepared = script.claim(&relay.recording);
            relay.reply(&shared, prepared, false).await
        }
        Read::Whole => {
            let scripts = shared.registry.scripts();
            let script = scripts.iter().find(|script| script.matches(relay.recording.body(), 0));
            let Some(script) = script else { return Ok(relay.decide(&shared)) };
            let prepared = script.claim(&relay.recording);
            relay.reply(&shared, prepared, true).await
        }
        Read::BrokenOff => {
            let scripts = shared.registry.scripts();
            if let Some(script) = scripts.iter().find(|script| script.matches(relay.recording.body(), 0)) {
                script.note(&relay.recording);
            }
            relay.recording.give(Arc::new(Given::Other("nothing, its body broke off")), None);
            relay.recording.finish(false);
            Err(Ended)
        }
    }
}

struct Relay {
    recording: Recording,
    body: Incoming,
    peer: Arc<Peer>,
}

/// How far a body was read.
enum Read {
    /// As far as a script that doesn't wait for its end needs it.
    Early(Arc<Registration>),
    /// To its end.
    Whole,
    /// To where it broke off.
    BrokenOff,
}

impl Relay {
    async fn read(&mut self, shared: &Shared) -> Read {
        // Once a script is found that waits for the end, no other is looked for before it.
        let mut looking = true;
        while let Some(frame) = self.body.frame().await {
            let Ok(frame) = frame else { return Read::BrokenOff };
            let Some(chunk) = frame.data_ref().filter(|chunk| !chunk.is_empty()) else { continue };
            let searched = self.recording.body().len();
            self.recording.push(chunk);
            if !looking {
                continue;
            }
            let scripts = shared.registry.scripts();
            if !scripts.iter().any(|script| script.is_early()) {
                continue;
            }
            if let Some(script) =
                scripts.iter().find(|script| script.matches(self.recording.body(), searched))
            {
                if script.is_early() {
                    return Read::Early(Arc::clone(script));
                }
                looking = false;
            }
        }
        Read::Whole
    }

    /// Reads what is left, and says whether it came to its end.
    async fn read_rest(&mut self) -> bool {
        while let Some(frame) = self.body.frame().await {
            let Ok(frame) = frame else { return false };
            if let Some(chunk) = frame.data_ref() {
                self.recording.push(chunk);
            }
        }
        true
    }

    async fn reply(
        mut self,
        shared: &Shared,
        prepared: &Prepared,
        read: bool,
    ) -> Result<Response<Payload>, Ended> {
        let Prepared { reply, headers, given } = prepared;
        debug_assert!(read || reply.when == When::BeforeBodyEnds, "only such replies come before the end");
        if !reply.delay.is_zero() {
            tokio::time::sleep(reply.delay).await;
        }
        if let Some(given) = given {
            self.recording.give(Arc::clone(given), None);
        }
        let version = self.recording.entry().version();
        let http2 = version == Version::HTTP_2;
        match &reply.action {
            Action::Decide => {
                if !read && !self.read_rest().await {
                    return Err(Ended);
                }
                Ok(self.decide(shared))
            }
            Action::Answer { status, body, .. } => {
                self.finish(read);
                Ok(answer(*status, headers.clone(), body.clone()))
            }
            Action::CutBody { status, body, after } if http2 => {
                let response = cut_stream(*status, body, *after, &self.peer.tap);
                self.finish(read);
                Ok(response)
            }
            Action::CutBody { status, body, after } => {
                self.end_with(cut_body(*status, body, *after), read).await
            }
            Action::Raw(bytes) => self.end_with(bytes.clone(), read).await,
            Action::CutHead => self.end_with(cut_head(version), read).await,
            Action::Close => self.end_with(Bytes::new(), read).await,
            Action::Reset => {
                self.recording.finish(read);
                self.peer.tap.reset();
                Err(Ended)
            }
            Action::Silence => {
                let complete = read || self.read_rest().await;
                self.recording.finish(complete);
                if http2 {
                    // The end of the stream, or of the connection, ends this.
                    return std::future::pending().await;
                }
                self.peer.tap.peer_closed().await;
                Err(Ended)
            }
        }
    }

    fn decide(self, shared: &Shared) -> Response<Payload> {
        let decision = shared.decide(&self.recording);
        let headers = json_headers();
        let given =
            Given::Answer { status: decision.status, headers: headers.clone(), body: decision.body.clone() };
        self.recording.give(Arc::new(given), decision.cause);
        self.recording.finish(true);
        answer(decision.status, headers, decision.body)
    }

    /// Ends the entry, at once or when the rest of the body is read.
    fn finish(mut self, read: bool) {
        if read {
            return self.recording.finish(true);
        }
        let peer = Arc::clone(&self.peer);
        peer.spawn(async move {
            let complete = self.read_rest().await;
            self.recording.finish(complete);
        });
    }

    async fn end_with(mut self, bytes: Bytes, read: bool) -> Result<Response<Payload>, Ended> {
        if read {
            self.recording.finish(true);
            // Where it can't be written, the client has gone already.
            let _ = self.peer.tap.end_with(bytes).await;
        } else {
            let _ = self.peer.tap.end_with(bytes).await;
            let complete = self.read_rest().await;
            self.recording.finish(complete);
        }
        Err(Ended)
    }
}
