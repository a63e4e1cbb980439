//! Connection to Chromium: commands with their answers, and the events of all sessions.
//!
//! chromiumoxide's `Handler` follows pages only and detaches service workers. This task uses its wire format and its typed
//! commands, and attaches to everything that a page starts.

use std::collections::HashMap;
use std::sync::Arc;

use chromiumoxide::cdp::browser_protocol::inspector::EnableParams as EnableInspector;
use chromiumoxide::cdp::browser_protocol::log::{DisableParams as DisableLog, EnableParams as EnableLog};
use chromiumoxide::cdp::browser_protocol::network::{
    DisableParams as DisableNetwork, EnableParams as EnableNetwork, GetRequestPostDataParams,
};
use chromiumoxide::cdp::browser_protocol::page::{EnableParams as EnablePage, HandleJavaScriptDialogParams};
use chromiumoxide::cdp::browser_protocol::target::{
    DetachFromTargetParams, FilterEntry, SetAutoAttachParams, TargetFilter,
};
use chromiumoxide::cdp::js_protocol::runtime::{
    DisableParams as DisableRuntime, EnableParams as EnableRuntime, RunIfWaitingForDebuggerParams,
};
use chromiumoxide::types::{CallId, Command, EventMessage, Message, Method, MethodId, Response};
use futures_util::StreamExt as _;
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot, watch};

use super::page_state::{PageState, Phase};
use super::recording::{Reaction, text};

/// Maximum size of a body that an event carries (bytes). Longer ones are asked for.
const LARGEST_BODY_IN_EVENT: i64 = 4 * 1024 * 1024;

/// Types of targets that run code of a page. Others, such as `browser_ui`, are Chromium's own.
const KINDS: [&str; 5] = ["page", "iframe", "worker", "shared_worker", "service_worker"];

/// Handle of the connection. Clones share it.
#[derive(Debug, Clone)]
pub(super) struct Connection {
    orders: mpsc::UnboundedSender<Order>,
    ended: watch::Receiver<bool>,
}

/// Command without a result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum CommandFailure {
    /// Chromium refused it.
    #[error("{0}")]
    Refused(String),
    /// The session or Chromium ended before the answer.
    #[error("the page or the browser ended")]
    Ended,
}

#[derive(Debug)]
enum Order {
    /// Sends a command.
    Send { session: Option<String>, method: MethodId, params: Value, reply: Reply },
    /// Records everything in a browser context as the page's.
    Watch { context: String, page: Arc<PageState> },
    /// Ends that.
    Forget { page: Arc<PageState> },
}

#[derive(Debug)]
enum Reply {
    Caller(oneshot::Sender<Result<Value, CommandFailure>>),
    /// Body of a request.
    Body {
        page: Arc<PageState>,
        request: String,
    },
    Nobody,
}

/// Event of a session, with its parameters as JSON: a field that this version of chromiumoxide does not know must not lose
/// the event.
#[derive(Debug, Deserialize)]
struct Event {
    method: String,
    #[serde(rename = "sessionId")]
    session_id: Option<String>,
    #[serde(default)]
    params: Value,
}

impl Method for Event {
    fn identifier(&self) -> MethodId {
        self.method.clone().into()
    }
}

impl EventMessage for Event {
    fn session_id(&self) -> Option<&str> {
        self.session_id.as_deref()
    }
}

impl Connection {
    /// Connects to the WebSocket of a browser, and attaches to each of its targets before they run.
    pub(super) async fn open(url: &str) -> Result<Self, String> {
        let wire = chromiumoxide::Connection::connect(url).await.map_err(|why| why.to_string())?;
        let (orders, mut received) = mpsc::unbounded_channel();
        let (ending, ended) = watch::channel(false);
        let mut exchange =
            Exchange { wire, pending: HashMap::new(), contexts: HashMap::new(), sessions: HashMap::new() };
        tokio::spawn(async move {
            exchange.run(&mut received).await;
            // Before pending commands fail because of it.
            ending.send_replace(true);
        });
        let connection = Self { orders, ended };
        let attach = SetAutoAttachParams {
            auto_attach: true,
            wait_for_debugger_on_start: true,
            flatten: Some(true),
            filter: None,
        };
        connection.execute(None, &attach).await.map_err(|why| why.to_string())?;
        Ok(connection)
    }

    /// Sends a command at once. The future yields its result as JSON.
    pub(super) fn execute<C: Command>(
        &self,
        session: Option<&str>,
        command: &C,
    ) -> impl Future<Output = Result<Value, CommandFailure>> + Send + 'static + use<C> {
        let (reply, answered) = oneshot::channel();
        self.submit(session, command, Reply::Caller(reply));
        async move { answered.await.unwrap_or(Err(CommandFailure::Ended)) }
    }

    /// Sends a command whose result does not matter.
    pub(super) fn send<C: Command>(&self, session: Option<&str>, command: &C) {
        self.submit(session, command, Reply::Nobody);
    }

    /// Records what happens in a browser context.
    pub(super) fn watch(&self, context: &str, page: &Arc<PageState>) {
        self.order(Order::Watch { context: context.to_owned(), page: Arc::clone(page) });
    }

    /// Ends the recording.
    pub(super) fn forget(&self, page: &Arc<PageState>) {
        self.order(Order::Forget { page: Arc::clone(page) });
    }

    /// Waits for the end of the connection.
    pub(super) async fn ended(&self) {
        let mut ended = self.ended.clone();
        // An error means that the task is gone.
        let _ = ended.wait_for(|ended| *ended).await;
    }

    fn submit<C: Command>(&self, session: Option<&str>, command: &C, reply: Reply) {
        let params = serde_json::to_value(command).expect("a command is JSON");
        let (session, method) = (session.map(str::to_owned), command.identifier());
        self.order(Order::Send { session, method, params, reply });
    }

    /// An order after the end of the connection is dropped, and with it the sender of its result.
    fn order(&self, order: Order) {
        let _ = self.orders.send(order);
    }
}

/// State of the task that owns the connection.
struct Exchange {
    wire: chromiumoxide::Connection<Event>,
    pending: HashMap<CallId, (Option<String>, Reply)>,
    contexts: HashMap<String, Arc<PageState>>,
    sessions: HashMap<String, Session>,
}

/// Attached target of a page.
#[derive(Clone)]
struct Session {
    page: Arc<PageState>,
    /// As in [`PageRequest::sender`](crate::PageRequest::sender).
    kind: String,
    target: String,
    /// Whether it is the page itself.
    is_main: bool,
}

impl Exchange {
    async fn run(&mut self, orders: &mut mpsc::UnboundedReceiver<Order>) {
        loop {
            tokio::select! {
                order = orders.recv() => match order {
                    Some(order) => self.obey(order),
                    None => break,
                },
                message = self.wire.next() => match message {
                    Some(Ok(Message::Response(response))) => self.answer(response),
                    Some(Ok(Message::Event(event))) => self.handle(event),
                    // A message in an unknown form concerns nobody here.
                    Some(Err(chromiumoxide::error::CdpError::InvalidMessage(..))) => {}
                    Some(Err(_)) | None => break,
                },
            }
        }
        for page in self.contexts.values() {
            page.is_gone("Chromium ended");
        }
    }

    fn obey(&mut self, order: Order) {
        match order {
            Order::Send { session, method, params, reply } => self.submit(session, method, params, reply),
            Order::Watch { context, page } => {
                self.contexts.insert(context, page);
            }
            Order::Forget { page } => {
                self.contexts.retain(|_, other| !Arc::ptr_eq(other, &page));
                let gone: Vec<String> = self
                    .sessions
                    .iter()
                    .filter(|(_, session)| Arc::ptr_eq(&session.page, &page))
                    .map(|(id, _)| id.clone())
                    .collect();
                for session in gone {
                    self.end_session(&session);
                }
            }
        }
    }

    fn submit(&mut self, session: Option<String>, method: MethodId, params: Value, reply: Reply) {
        // Serializing JSON as JSON cannot fail.
        let Ok(id) = self.wire.submit_command(method, session.clone().map(Into::into), params) else {
            return;
        };
        self.pending.insert(id, (session, reply));
    }

    fn send<C: Command>(&mut self, session: &str, command: &C) {
        let params = serde_json::to_value(command).expect("a command is JSON");
        self.submit(Some(session.to_owned()), command.identifier(), params, Reply::Nobody);
    }

    fn answer(&mut self, response: Response) {
        let Some((_, reply)) = self.pending.remove(&response.id) else { return };
        let result = match response.error {
            Some(error) => Err(CommandFailure::Refused(error.message)),
            None => Ok(response.result.unwrap_or_default()),
        };
        match reply {
            Reply::Caller(caller) => {
                // The caller may have given up.
                let _ = caller.send(result);
            }
            Reply::Body { page, request } => page.body_arrived(&request, result.ok().as_ref()),
            Reply::Nobody => {}
        }
    }

    fn handle(&mut self, event: Event) {
        let params = &event.params;
        match (event.method.as_str(), event.session_id) {
            ("Target.attachedToTarget", parent) => self.attach(parent.as_deref(), params),
            ("Target.detachedFromTarget", _) => self.detach(text(params, "/sessionId")),
            (method, Some(id)) => {
                let Some(session) = self.sessions.get(&id).cloned() else { return };
                self.handle_in(&id, &session, method, params);
            }
            _ => {}
        }
    }

    fn handle_in(&mut self, id: &str, session: &Session, method: &str, params: &Value) {
        let page = &session.page;
        match method {
            "Inspector.targetCrashed" if session.is_main => page.is_gone("the page crashed"),
            "Page.javascriptDialogOpening" => {
                page.record(|recording| recording.dialog(params));
                self.send(id, &HandleJavaScriptDialogParams::new(false));
            }
            "Page.frameNavigated" if session.is_main && params.pointer("/frame/parentId").is_none() => {
                page.committed(text(params, "/frame/url"));
            }
            "Page.navigatedWithinDocument"
                if session.is_main && text(params, "/frameId") == session.target =>
            {
                page.moved_within(text(params, "/url"));
            }
            "Page.loadEventFired" if session.is_main => page.advance(Phase::Committed, Phase::Loaded),
            _ => match page.record(|recording| recording.apply(&session.kind, method, params)) {
                None => {}
                Some(Reaction::FetchBody(request)) => self.fetch_body(id, page, request),
                Some(Reaction::StopConsole) => {
                    self.send(id, &DisableRuntime::default());
                    self.send(id, &DisableLog::default());
                }
                Some(Reaction::StopNetwork) => self.send(id, &DisableNetwork::default()),
            },
        }
    }

    fn fetch_body(&mut self, session: &str, page: &Arc<PageState>, request: String) {
        page.body_awaited();
        let command = GetRequestPostDataParams::new(request.clone());
        let params = serde_json::to_value(&command).expect("a command is JSON");
        let reply = Reply::Body { page: Arc::clone(page), request };
        self.submit(Some(session.to_owned()), command.identifier(), params, reply);
    }

    /// A target waits until its recording is set up. One of no page, such as Chromium's own first tab, runs unobserved.
    fn attach(&mut self, parent: Option<&str>, params: &Value) {
        let id = text(params, "/sessionId").to_owned();
        let page = match parent.and_then(|parent| self.sessions.get(parent)) {
            Some(parent) => Some(&parent.page),
            None => self.contexts.get(text(params, "/targetInfo/browserContextId")),
        };
        let kind = text(params, "/targetInfo/type").to_owned();
        let is_observed = KINDS.contains(&kind.as_str());
        let Some(page) = page.cloned().filter(|_| is_observed) else {
            self.send(&id, &RunIfWaitingForDebuggerParams::default());
            let detach = DetachFromTargetParams { session_id: Some(id.into()) };
            let params = serde_json::to_value(&detach).expect("a command is JSON");
            self.submit(None, detach.identifier(), params, Reply::Nobody);
            return;
        };
        let is_main = kind == "page" && page.main().is_none();
        let target = text(params, "/targetInfo/targetId").to_owned();
        if !is_main {
            page.record(|recording| recording.attached(&kind, text(params, "/targetInfo/url")));
        }
        self.sessions
            .insert(id.clone(), Session { page: Arc::clone(&page), kind: kind.clone(), target, is_main });
        if matches!(kind.as_str(), "page" | "iframe") {
            self.send(&id, &EnablePage::default());
            self.send(&id, &EnableInspector::default());
            self.send(&id, &EnableLog::default());
        }
        self.send(&id, &EnableRuntime::default());
        self.send(&id, &EnableNetwork::builder().max_post_data_size(LARGEST_BODY_IN_EVENT).build());
        // Windows, shared workers and service workers attach at the browser.
        let children =
            ["worker", "iframe"].map(|kind| FilterEntry { exclude: None, r#type: Some(kind.to_owned()) });
        let attach = SetAutoAttachParams {
            auto_attach: true,
            wait_for_debugger_on_start: true,
            flatten: Some(true),
            filter: Some(TargetFilter::new(children.to_vec())),
        };
        self.send(&id, &attach);
        self.send(&id, &RunIfWaitingForDebuggerParams::default());
        page.attached(&id, is_main);
    }

    fn detach(&mut self, id: &str) {
        if let Some(session) = self.end_session(id)
            && session.is_main
        {
            session.page.is_gone("the page closed");
        }
    }

    fn end_session(&mut self, id: &str) -> Option<Session> {
        let session = self.sessions.remove(id)?;
        session.page.detached(id);
        let ended: Vec<CallId> = self
            .pending
            .iter()
            .filter(|(_, (of, _))| of.as_deref() == Some(id))
            .map(|(call, _)| *call)
            .collect();
        for call in ended {
            if let Some((_, Reply::Body { page, request })) = self.pending.remove(&call) {
                page.body_arrived(&request, None);
            }
        }
        Some(session)
    }
}
