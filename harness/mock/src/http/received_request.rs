use std::future::pending;
use std::panic::resume_unwind;
use std::pin::pin;
use std::sync::Arc;

use bytes::Bytes;
use edgeproof_http::Peer;
use futures_util::FutureExt;
use http::header::{ACCEPT_ENCODING, CONTENT_LENGTH};
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, Version};
use http_body::Body;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use tokio::task::JoinError;

use super::answer::{AnswerBody, ConnectionEnded, answer, cut_body, cut_head, cut_stream};
use crate::decision::ServiceDecision;
use crate::fault_hooks::{ServiceAction, ServiceRequest};
use crate::journal::{ArrivalAnswer, Recording};
use crate::keys::decide_key_set;
use crate::route::Route;
use crate::scripts::{Action, PreparedReply, Registration, ShapedAnswer, When};
use crate::state::ServiceState;
use crate::{collections, verdicts};

/// Records a request, and answers it from its script or with the decision of the mock service.
pub(crate) async fn handle(
    state: Arc<ServiceState>,
    request: Request<Incoming>,
    peer: Arc<Peer>,
) -> Result<Response<AnswerBody>, ConnectionEnded> {
    let (parts, body) = request.into_parts();
    let route = state.router.route(&parts.method, parts.uri.path());
    let recording = state.journal.open(parts.into(), route.endpoint(), &peer);
    let mut exchange = ReceivedRequest { recording, route, body, peer };
    match exchange.read(&state).await {
        BodyRead::Early(script) => exchange.scripted(&state, script, false).await,
        BodyRead::Whole => {
            exchange.recording.end_body();
            match exchange.script(&state) {
                Some(script) => exchange.scripted(&state, script, true).await,
                None => exchange.decide(&state).await,
            }
        }
        BodyRead::BrokenOff => {
            if let Some(script) = exchange.script(&state) {
                script.claim_without_reply(&exchange.recording);
            }
            exchange
                .recording
                .record_answer(Arc::new(ArrivalAnswer::Other("nothing, its body broke off")), None);
            exchange.recording.finish(false);
            Err(ConnectionEnded)
        }
        BodyRead::TooSlow => {
            let decision = ServiceDecision::of_http(StatusCode::REQUEST_TIMEOUT);
            Ok(exchange.answer(decision, false))
        }
    }
}

struct ReceivedRequest {
    recording: Recording,
    route: Route,
    body: Incoming,
    peer: Arc<Peer>,
}

/// Progress of reading a body.
enum BodyRead {
    /// Far enough for this script, which replies before the end of the body.
    Early(Arc<Registration>),
    /// To the end.
    Whole,
    /// Until it broke off.
    BrokenOff,
    /// Until the timeout.
    TooSlow,
}

impl ReceivedRequest {
    async fn read(&mut self, state: &ServiceState) -> BodyRead {
        if self.body.is_end_stream() {
            return BodyRead::Whole;
        }
        let mut reading = pin!(self.read_unbounded(state));
        // Most bodies arrive with their head and need no timer.
        if let Some(read) = reading.as_mut().now_or_never() {
            return read;
        }
        tokio::time::timeout(state.limits.body, reading).await.unwrap_or(BodyRead::TooSlow)
    }

    async fn read_unbounded(&mut self, state: &ServiceState) -> BodyRead {
        // After a match of a script that waits for the end of the body, the search stops until then.
        let mut searching = true;
        while let Some(frame) = self.body.frame().await {
            let Ok(frame) = frame else { return BodyRead::BrokenOff };
            let Some(chunk) = frame.data_ref().filter(|chunk| !chunk.is_empty()) else { continue };
            let searched = self.recording.body().len();
            self.recording.push(chunk);
            if !searching {
                continue;
            }
            let scripts = state.registry.scripts();
            if !scripts.iter().any(|script| script.is_early()) {
                continue;
            }
            if let Some(script) =
                scripts.iter().find(|script| script.matches(&self.route, self.recording.body(), searched))
            {
                if script.is_early() {
                    return BodyRead::Early(Arc::clone(script));
                }
                searching = false;
            }
        }
        if self.was_reset() { BodyRead::BrokenOff } else { BodyRead::Whole }
    }

    /// hyper reports a stream that the client cancelled as one that ended (HTTP/2).
    fn was_reset(&self) -> bool {
        self.recording.head().version == Version::HTTP_2 && !self.body.is_end_stream()
    }

    /// Reads the rest of the body. True if it reached the end.
    async fn read_rest(&mut self, state: &ServiceState) -> bool {
        let reading = async {
            while let Some(frame) = self.body.frame().await {
                let Ok(frame) = frame else { return false };
                if let Some(chunk) = frame.data_ref() {
                    self.recording.push(chunk);
                }
            }
            !self.was_reset()
        };
        tokio::time::timeout(state.limits.body, reading).await.unwrap_or(false)
    }

    /// The script that matches the request.
    fn script(&self, state: &ServiceState) -> Option<Arc<Registration>> {
        let scripts = state.registry.scripts();
        let script = scripts.iter().find(|script| script.matches(&self.route, self.recording.body(), 0));
        script.map(Arc::clone)
    }

    async fn scripted(
        self,
        state: &Arc<ServiceState>,
        script: Arc<Registration>,
        read: bool,
    ) -> Result<Response<AnswerBody>, ConnectionEnded> {
        let prepared = script.claim(&self.recording);
        match &prepared.reply.action {
            // Fast path of the usual reply.
            Action::Answer { status, body, .. } if read && prepared.reply.delay.is_zero() => {
                let (status, headers, body) = (*status, prepared.headers.clone(), body.clone());
                self.recording.record_prepared(prepared);
                self.recording.finish(true);
                Ok(answer(status, headers, body))
            }
            _ => Box::pin(self.reply(state, prepared, read)).await,
        }
    }

    async fn reply(
        mut self,
        state: &Arc<ServiceState>,
        prepared: &PreparedReply,
        read: bool,
    ) -> Result<Response<AnswerBody>, ConnectionEnded> {
        let PreparedReply { reply, headers, .. } = prepared;
        assert!(read || reply.when == When::BeforeBodyEnds, "other replies follow the end of the body");
        if !reply.delay.is_zero() {
            tokio::time::sleep(reply.delay).await;
        }
        self.recording.record_prepared(prepared);
        let version = self.recording.head().version;
        let http2 = version == Version::HTTP_2;
        match &reply.action {
            Action::Decide | Action::Pass | Action::Again | Action::CutDecision { .. } => {
                if !read && !self.read_rest(state).await {
                    return Err(ConnectionEnded);
                }
                if let Action::CutDecision { after } = &reply.action {
                    self.peer.control.cut_after(*after);
                }
                self.decide(state).await
            }
            Action::Answer { status, body, .. } => {
                self.finish(state, read);
                Ok(answer(*status, headers.clone(), body.clone()))
            }
            Action::Shaped(shaped) if http2 => {
                self.finish(state, read);
                Ok(answer(shaped.status, headers.clone(), shaped.body.clone()))
            }
            Action::Shaped(shaped) => self.shaped(state, shaped, read).await,
            Action::CutBody { status, body, after } if http2 => {
                let response = cut_stream(*status, body, *after, &self.peer.control);
                self.finish(state, read);
                Ok(response)
            }
            Action::CutBody { status, body, after } => {
                self.end_with(state, cut_body(*status, body, *after), read).await
            }
            Action::RawBytes(bytes) => self.end_with(state, bytes.clone(), read).await,
            Action::CutHead => self.end_with(state, cut_head(version), read).await,
            Action::Close => self.end_with(state, Bytes::new(), read).await,
            Action::Reset => {
                self.recording.finish(read);
                self.peer.control.reset();
                Err(ConnectionEnded)
            }
            Action::Silence => {
                let complete = read || self.read_rest(state).await;
                self.recording.finish(complete);
                if http2 {
                    // hyper drops this future at the end of the stream or the connection.
                    return pending().await;
                }
                self.peer.control.peer_closed().await;
                Err(ConnectionEnded)
            }
        }
    }

    async fn decide(self, state: &Arc<ServiceState>) -> Result<Response<AnswerBody>, ConnectionEnded> {
        if let Some(decision) = state.hooks.at_once(&self.request()) {
            return Ok(self.answer(decision, true));
        }
        let mut client_listens = true;
        let (exchange, decision) = match self.route {
            // Boxed: otherwise each long poll would hold its memory.
            Route::Relay => Box::pin(self.decide_on_collection(state)).await,
            Route::Verdict(ref reference) => {
                let head = self.recording.head();
                let control = (head.version != Version::HTTP_2).then_some(&self.peer.control);
                let answered =
                    verdicts::answer(state, &self.request(), reference, head.query(), control).await;
                client_listens = answered.client_listens;
                (self, answered.decision)
            }
            Route::KeySet => {
                let published = state.keys.published(state.clock.now());
                let headers = &self.recording.head().headers;
                let decision = decide_key_set(&state.spec, &state.profile, &published, headers);
                (self, decision)
            }
            Route::Health => {
                let body = state.profile.health_body.to_string();
                (self, ServiceDecision::json(state.profile.health_status, body, None))
            }
            Route::NotFound => (self, ServiceDecision::of_http(StatusCode::NOT_FOUND)),
            Route::MethodNotAllowed => (self, ServiceDecision::method_not_allowed()),
        };
        match state.hooks.conclude(&exchange.request(), decision) {
            ServiceAction::At(late, decision) => {
                if !late.is_zero() {
                    tokio::time::sleep(late).await;
                }
                if client_listens {
                    return Ok(exchange.answer(decision, true));
                }
                let recorded = ArrivalAnswer::Other("no verdict, to a client that sends no more");
                Ok(exchange.answer_as(recorded, ServiceDecision { stimulus: None, ..decision }, true))
            }
            ServiceAction::Raw(decision, bytes) => {
                let control = exchange.peer.control.clone();
                drop(exchange.answer(decision, true));
                control.replace_answer(vec![bytes]).await.map_err(|_| ConnectionEnded)?;
                Ok(answer(200, HeaderMap::new(), Bytes::new()))
            }
            ServiceAction::Nothing => {
                exchange.recording.finish(true);
                Err(ConnectionEnded)
            }
        }
    }

    /// Decides on a relayed collection, with its cryptography on another thread if the options say so.
    async fn decide_on_collection(self, state: &Arc<ServiceState>) -> (Self, ServiceDecision) {
        let shared = Arc::clone(state);
        let decide = move || {
            let decision = collections::answer(&shared, &self.recording, &self.peer);
            (self, decision)
        };
        if !state.verifies_on_blocking_threads {
            return decide();
        }
        match tokio::task::spawn_blocking(decide).await.map_err(JoinError::try_into_panic) {
            Ok(decided) => decided,
            Err(Ok(panic)) => resume_unwind(panic),
            // The runtime ends, and with it this task.
            Err(Err(_)) => pending().await,
        }
    }

    /// The request for fault hooks.
    fn request(&self) -> ServiceRequest<'_> {
        let head = self.recording.head();
        let reference = match &self.route {
            Route::Verdict(reference) => Some(reference.text.as_str()),
            _ => None,
        };
        ServiceRequest {
            endpoint: self.route.endpoint(),
            target: head.target(),
            reference,
            method: &head.method,
            headers: &head.headers,
            version: head.version,
            connection: self.recording.entry().connection(),
        }
    }

    /// Sends an answer. `complete`: the body reached its end.
    fn answer(self, decision: ServiceDecision, complete: bool) -> Response<AnswerBody> {
        let ServiceDecision { status, headers, body, .. } = decision.clone();
        self.answer_as(ArrivalAnswer::Answer { status, headers, body }, decision, complete)
    }

    /// Sends an answer, and records another one.
    fn answer_as(
        self,
        recorded: ArrivalAnswer,
        decision: ServiceDecision,
        complete: bool,
    ) -> Response<AnswerBody> {
        let ServiceDecision { status, mut headers, mut body, stimulus } = decision;
        self.recording.record_answer(Arc::new(recorded), stimulus);
        if self.recording.head().method == Method::HEAD && status != 304 {
            // The length of the answer to `GET` (RFC 9110, 9.3.2), which hyper does not know.
            headers.insert(CONTENT_LENGTH, HeaderValue::from(body.len()));
            body = Bytes::new();
        }
        self.recording.finish(complete);
        answer(status, headers, body)
    }

    /// Finishes the entry, after the rest of the body if some is left.
    fn finish(mut self, state: &Arc<ServiceState>, read: bool) {
        if read {
            return self.recording.finish(true);
        }
        let (peer, state) = (Arc::clone(&self.peer), Arc::clone(state));
        peer.spawn(async move {
            let complete = self.read_rest(&state).await;
            self.recording.finish(complete);
        });
    }

    /// Writes an answer in a form that hyper does not write.
    async fn shaped(
        self,
        state: &Arc<ServiceState>,
        shaped: &ShapedAnswer,
        read: bool,
    ) -> Result<Response<AnswerBody>, ConnectionEnded> {
        let pieces = shaped.pieces(accepts_gzip(&self.recording.head().headers));
        let control = self.peer.control.clone();
        self.finish(state, read);
        // An error means that the client has left.
        if shaped.ends_connection() {
            let _ = control.end_with_pieces(pieces).await;
            return Err(ConnectionEnded);
        }
        control.replace_answer(pieces).await.map_err(|_| ConnectionEnded)?;
        Ok(answer(200, HeaderMap::new(), Bytes::new()))
    }

    async fn end_with(
        mut self,
        state: &ServiceState,
        bytes: Bytes,
        read: bool,
    ) -> Result<Response<AnswerBody>, ConnectionEnded> {
        if read {
            self.recording.finish(true);
            // An error means that the client has left.
            let _ = self.peer.control.end_with(bytes).await;
        } else {
            let _ = self.peer.control.end_with(bytes).await;
            let complete = self.read_rest(state).await;
            self.recording.finish(complete);
        }
        Err(ConnectionEnded)
    }
}

/// Whether a request accepts the content coding gzip (RFC 9110 §12.5.3).
fn accepts_gzip(headers: &HeaderMap) -> bool {
    let values = headers.get_all(ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|coding| {
        let mut parts = coding.split(';').map(str::trim);
        let gzip = parts.next().is_some_and(|name| name.eq_ignore_ascii_case("gzip"));
        gzip && !parts.any(|parameter| matches!(parameter, "q=0" | "q=0.0" | "q=0.00" | "q=0.000"))
    })
}

impl Recording {
    /// Records the answer of a script, if it is known in advance.
    fn record_prepared(&self, prepared: &PreparedReply) {
        if let Some(answer) = &prepared.answer {
            self.record_answer(Arc::clone(answer), None);
        }
    }
}
