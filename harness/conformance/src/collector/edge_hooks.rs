use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use edgeproof_edge::{
    EdgeAction, EdgeAnswer, EdgeDecision, EdgeFaultHooks, EdgeRequest, RelayResult, WebSocketAction,
};
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN, CONTENT_TYPE,
    HeaderName,
};
use http::{HeaderMap, HeaderValue, Method, StatusCode, Version};
use parking_lot::Mutex;
use tokio::sync::watch;

use super::edge_setup::{CorsReaction, EdgeSetup, PostReaction, WebSocketReaction};

/// An origin that no page has.
const OTHER_ORIGIN: &str = "https://other.test";

/// A request that an edge received.
#[derive(Debug, Clone)]
pub struct SeenRequest {
    /// Method.
    pub method: Method,
    /// Path, without query.
    pub path: String,
    /// HTTP version.
    pub version: Version,
    /// Headers.
    pub headers: HeaderMap,
    /// Body, if the edge read one.
    pub body: Option<Bytes>,
    /// When its head arrived.
    pub at: Instant,
    /// The edge's answer. None: it sent none.
    pub answer: Option<EdgeAnswer>,
    connection: u64,
}

/// Records the requests to an edge, and changes its behaviour as the case wants.
#[derive(Debug)]
pub(super) struct CollectorEdgeHooks {
    setup: Mutex<EdgeSetup>,
    seen: Mutex<Vec<SeenRequest>>,
    /// Number of posted collections that arrived completely.
    posts: watch::Sender<usize>,
    /// Number of held collections whose request the page gave up.
    abandoned: watch::Sender<usize>,
}

impl CollectorEdgeHooks {
    pub(super) fn new(setup: EdgeSetup) -> Arc<Self> {
        Arc::new(Self {
            setup: Mutex::new(setup),
            seen: Mutex::default(),
            posts: watch::Sender::new(0),
            abandoned: watch::Sender::new(0),
        })
    }

    pub(super) fn set_post(&self, post: PostReaction) {
        self.setup.lock().post = post;
    }

    pub(super) fn seen(&self) -> Vec<SeenRequest> {
        self.seen.lock().clone()
    }

    pub(super) fn posts(&self) -> watch::Receiver<usize> {
        self.posts.subscribe()
    }

    pub(super) fn abandoned(&self) -> watch::Receiver<usize> {
        self.abandoned.subscribe()
    }

    /// Changes the newest entry of the same request without an answer.
    fn update(&self, request: &EdgeRequest<'_>, change: impl FnOnce(&mut SeenRequest)) {
        let is_same = |seen: &&mut SeenRequest| {
            seen.connection == request.connection
                && seen.method == request.facts.method
                && seen.path == request.facts.path
                && seen.answer.is_none()
                && (seen.body.is_none() || seen.body == request.body)
        };
        if let Some(seen) = self.seen.lock().iter_mut().rev().find(is_same) {
            change(seen);
        }
    }

    fn change_cors(&self, request: &EdgeRequest<'_>, answer: &mut EdgeAnswer) {
        let is_preflight = request.facts.method == Method::OPTIONS;
        let grant = match self.setup.lock().cors {
            CorsReaction::Right => return,
            CorsReaction::NoneOnPost if is_preflight => return,
            CorsReaction::None | CorsReaction::NoneOnPost | CorsReaction::PreflightRefused => None,
            CorsReaction::OtherOrigin => Some(HeaderValue::from_static(OTHER_ORIGIN)),
            CorsReaction::AnyOrigin => Some(HeaderValue::from_static("*")),
        };
        match grant {
            Some(origin) => {
                answer.headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
            }
            None => {
                for name in
                    [ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_HEADERS]
                {
                    answer.headers.remove(name);
                }
            }
        }
    }
}

impl EdgeFaultHooks for CollectorEdgeHooks {
    fn decide(&self, request: &EdgeRequest<'_>, right: EdgeDecision) -> EdgeDecision {
        self.seen.lock().push(SeenRequest {
            method: request.facts.method.clone(),
            path: request.facts.path.clone(),
            version: request.version,
            headers: request.headers.clone(),
            body: None,
            at: Instant::now(),
            answer: None,
            connection: request.connection,
        });
        let setup = self.setup.lock();
        match (&right, &setup.websocket) {
            (EdgeDecision::Measure, WebSocketReaction::Refuse(status)) => empty(*status),
            // `conclude` closes it.
            (EdgeDecision::Measure, WebSocketReaction::Drop) => empty(StatusCode::BAD_GATEWAY),
            _ if setup.cors == CorsReaction::PreflightRefused && request.facts.method == Method::OPTIONS => {
                empty(StatusCode::FORBIDDEN)
            }
            _ => right,
        }
    }

    fn body(&self, request: &EdgeRequest<'_>, body: Bytes) -> Result<Bytes, Box<EdgeAnswer>> {
        self.update(request, |seen| seen.body = Some(body.clone()));
        self.posts.send_modify(|posts| *posts += 1);
        let setup = self.setup.lock();
        let (status, content_type, headers, answer) = match &setup.post {
            PostReaction::Relay => return Ok(body),
            PostReaction::Close | PostReaction::Hold => {
                (StatusCode::OK, "text/plain", &[][..], &Bytes::new())
            }
            PostReaction::Answer { status, content_type, headers, body } => {
                (*status, *content_type, headers.as_slice(), body)
            }
        };
        let mut sent = HeaderMap::new();
        sent.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
        if let Ok(origin) = HeaderValue::try_from(setup.allowed_origin.as_str()) {
            sent.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        }
        for (name, value) in headers {
            if let Ok(value) = HeaderValue::try_from(value.as_str()) {
                sent.insert(HeaderName::from_static(name), value);
            }
        }
        Err(Box::new(EdgeAnswer { status, headers: sent, body: answer.clone(), log: None }))
    }

    fn websocket(&self, _request: &EdgeRequest<'_>) -> WebSocketAction {
        match &self.setup.lock().websocket {
            WebSocketReaction::Close => WebSocketAction::Close,
            WebSocketReaction::Send(bytes) => WebSocketAction::Send(bytes.clone()),
            WebSocketReaction::Echo | WebSocketReaction::Refuse(_) | WebSocketReaction::Drop => {
                WebSocketAction::Echo
            }
        }
    }

    fn conclude(
        &self,
        request: &EdgeRequest<'_>,
        _result: Option<&RelayResult>,
        mut right: EdgeAnswer,
    ) -> EdgeAction {
        let post = self.setup.lock().post.clone();
        let is_post = request.facts.method == Method::POST && request.body.is_some();
        match post {
            PostReaction::Close if is_post => return EdgeAction::Nothing,
            PostReaction::Hold if is_post => return EdgeAction::Silence,
            _ => {}
        }
        if request.facts.websocket && self.setup.lock().websocket == WebSocketReaction::Drop {
            return EdgeAction::Nothing;
        }
        self.change_cors(request, &mut right);
        self.update(request, |seen| seen.answer = Some(right.clone()));
        EdgeAction::Answer(right)
    }

    fn given_up(&self, _request: &EdgeRequest<'_>) {
        self.abandoned.send_modify(|count| *count += 1);
    }
}

fn empty(status: StatusCode) -> EdgeDecision {
    EdgeDecision::Answer(EdgeAnswer { status, headers: HeaderMap::new(), body: Bytes::new(), log: None })
}
