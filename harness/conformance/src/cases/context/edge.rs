use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use edgeproof_fixtures::credentials::{Credentials, EdgeSettings, Redactor};
use edgeproof_fixtures::spec::Spec;
use edgeproof_http::{Draft, Sent, ServerAddress};
use edgeproof_launch::LogTail;
use edgeproof_mock::{Arrival, ListenerMode, Match, MockService, Script, Scripted};
use edgeproof_reports::{CaseLevel, Hop};
use edgeproof_targets::FaultInjection;
use futures_util::future::join_all;

use super::{CaseContext, CaseExchange, CaseFindings, CaseTarget, FreshEdges, Sender, Traffic};
use crate::cases::{Conversation, ExpectedRelay, collection, fill, judge};
use crate::judge::{AnswerResult, Check, RelayedRequests, without_coding};

/// Longest wait for the end of a request that the edge has begun.
const END_LIMIT: Duration = Duration::from_secs(2);
/// Number of collections at the same time that use up connections which the service has closed.
const CLOSED_AT_ONCE: usize = 8;
/// Most rounds of them. Together they exceed the pages that a case has at the same time: an edge can hold a connection for each.
const CLOSED_ROUNDS: usize = 32;

/// An edge and the mock service behind it. Several cases can share it.
#[derive(Debug)]
pub struct EdgeTarget {
    /// The interface.
    pub spec: Arc<Spec>,
    /// Address of the edge.
    pub endpoint: ServerAddress,
    /// The mock service behind the edge. None: an edge in production.
    pub service: Option<Arc<MockService>>,
    /// A second mock service that no edge is configured with. Redirects point to it; no request may arrive there.
    pub elsewhere: Option<Arc<MockService>>,
    /// Process id of a launched edge.
    pub process: Option<u32>,
    /// The edge's output. None: it is not captured.
    pub log: Option<LogTail>,
    /// Credentials of the run.
    pub credentials: Arc<Credentials>,
    /// Finds every secret of the run.
    pub redactor: Arc<Redactor>,
    /// Settings of this edge. None: unknown.
    pub settings: Option<EdgeSettings>,
    /// `LICENSE` of this edge, if it is a token.
    pub license: Option<String>,
    /// The origin that this edge allows, if known.
    pub origin: Option<String>,
    /// All requests to the edge.
    pub traffic: Traffic,
    /// Faults of an embedded edge.
    pub faults: Option<Arc<dyn FaultInjection>>,
}

/// The context of one case at its edge.
pub type EdgeCaseContext = CaseContext<EdgeTarget>;

/// What an edge and its mock service keep for one case.
#[derive(Default)]
pub struct EdgeState {
    /// A check of log lines that runs after the edge has ended.
    pub deferred: Option<DeferredLogCheck>,
    /// Starts further edges with the same settings. None: this edge exists only once, or other cases share it.
    pub fresh_edges: Option<FreshEdges>,
    /// Every request at the service belongs to this case.
    pub(crate) exclusive: bool,
    /// Number of connections at the service at the last mark. None: its listener did not change its mode.
    connections: Option<u64>,
    scripted: Vec<Scripted>,
    /// End of the service's journal before the first script.
    began: Option<u64>,
}

impl CaseTarget for EdgeTarget {
    type State = EdgeState;

    fn spec(&self) -> &Spec {
        &self.spec
    }
}

/// A check of log lines that the edge may still hold in its buffers.
#[derive(Clone)]
pub struct DeferredLogCheck {
    /// Position in the log of the first line to check.
    pub since: usize,
    /// The check.
    pub check: LogCheck,
}

/// Checks log lines.
pub type LogCheck = Arc<dyn Fn(&[String]) -> Check + Send + Sync>;

impl EdgeCaseContext {
    /// Plays a conversation and checks its result.
    pub async fn converse(&mut self, conversation: &Conversation) -> Sent {
        let script = conversation.script.clone().unwrap_or_else(Script::decide);
        let earlier = self.state.scripted.len();
        self.script(script);
        let draft = self.fill(&conversation.draft);
        let sent = self.send(&draft).await;
        let relayed = match conversation.relay {
            ExpectedRelay::Any => RelayedRequests::default(),
            ExpectedRelay::Once | ExpectedRelay::Nothing => self.relayed_after(earlier).await,
        };
        let checks = judge(conversation, &draft, self.origin(), &sent.reply, &relayed);
        self.checks(checks);
        for rule in &conversation.rules {
            rule.judge(self, &sent.reply).await;
        }
        sent
    }

    /// Sets how the mock service replies to this case's requests from now on. No effect without a mock service.
    pub fn script(&mut self, script: Script) {
        let marker = || Match::Marker(Bytes::from(self.marker.clone()));
        self.add_script(if self.state.exclusive { Match::Everything } else { marker() }, script);
    }

    /// Sets how the mock service replies to requests whose body contains this text.
    pub fn script_on(&mut self, marker: &str, script: Script) {
        self.add_script(Match::Marker(Bytes::copy_from_slice(marker.as_bytes())), script);
    }

    fn add_script(&mut self, on: Match, script: Script) {
        if let Some(service) = &self.target.service {
            self.state.began.get_or_insert_with(|| service.mark());
            self.state.scripted.push(service.script(on, script));
        }
    }

    /// Changes the mode of the mock service's listener. Returns false and marks the case as not run if this fails.
    pub async fn set_listener(&mut self, mode: ListenerMode) -> bool {
        let Some(service) = self.target.service.clone() else { return false };
        if let Err(why) = service.set_mode(mode).await {
            self.found.not_run = Some(format!("the mock service cannot change its listener: {why}"));
            return false;
        }
        self.mark_connections();
        true
    }

    /// Begins to count the edge's connections to the service.
    pub(crate) fn mark_connections(&mut self) {
        self.state.connections = self.target.service.as_ref().map(|service| service.connections_accepted());
    }

    /// Number of connections that the edge opened to the service since the last mark. None: nothing was marked.
    pub(crate) fn new_connections(&self) -> Option<u64> {
        let (service, before) = (self.target.service.as_ref()?, self.state.connections?);
        Some(service.connections_accepted() - before)
    }

    /// Posts collections until the edge holds no connection that the service has closed. A client that may not repeat a POST
    /// loses one on each.
    pub(crate) async fn use_up_closed(&mut self) {
        for _ in 0..CLOSED_ROUNDS {
            self.mark_connections();
            let draft = self.fill(&collection());
            let sent = join_all((0..CLOSED_AT_ONCE).map(|_| self.exchange(&draft))).await;
            let lost = sent.iter().filter(|sent| self.is_unreachable(&sent.reply)).count();
            if self.new_connections().is_none_or(|opened| lost as u64 <= opened) {
                return;
            }
        }
    }

    /// The edge answers as without its service.
    pub(crate) fn is_unreachable(&self, reply: &AnswerResult) -> bool {
        self.has_status("edge.502.service-unreachable", reply)
    }

    /// The edge answers as to an accepted collection. A version may not state its status.
    pub(crate) fn is_accepted(&self, reply: &AnswerResult) -> bool {
        let status = self.spec().status("edge.200.accepted").unwrap_or(200);
        reply.as_ref().is_ok_and(|answer| answer.status == status)
    }

    /// Sends a request over a new connection.
    pub async fn send(&mut self, draft: &Draft) -> Sent {
        let draft = self.fill(draft);
        let sent = self.exchange(&draft).await;
        self.record(&draft, sent.clone());
        sent
    }

    /// Sends a filled draft over a new connection. The case's report does not show the exchange.
    pub async fn exchange(&self, draft: &Draft) -> Sent {
        self.exchange_until(draft, self.timeout).await
    }

    /// Sends a filled draft from a client that leaves after this time.
    pub async fn exchange_until(&self, draft: &Draft, leaves: Duration) -> Sent {
        self.exchange_as(&self.marker, self.level, draft, leaves).await
    }

    /// Sends a filled draft over HTTP/2. None: the edge does not offer it.
    pub async fn exchange_http2(&self, draft: &Draft) -> Option<Sent> {
        let sending = edgeproof_http::send_http2(&self.target.endpoint, draft, self.timeout);
        let sender = self.sender_of(&self.marker, self.level);
        self.traced([(sender, draft)], async { sending.await.into_iter().collect() }).await.pop()
    }

    /// Sends filled drafts in turn over one connection. The case's report does not show the exchanges.
    pub async fn exchange_in_turn(&self, drafts: &[Draft]) -> Vec<Sent> {
        let senders = drafts.iter().map(|draft| (self.sender_of(&self.marker, self.level), draft));
        let sending = edgeproof_http::send_in_turn(&self.target.endpoint, drafts, self.timeout);
        self.traced(senders, sending).await
    }

    /// Sends filled drafts in turn over one connection, with this pause between them. The case's report does not show the
    /// exchanges.
    pub(in crate::cases) async fn exchange_with_pause(&self, drafts: &[Draft], pause: Duration) -> Vec<Sent> {
        let senders = drafts.iter().map(|draft| (self.sender_of(&self.marker, self.level), draft));
        let sending = edgeproof_http::send_with_pause(&self.target.endpoint, drafts, pause, self.timeout);
        self.traced(senders, sending).await
    }

    /// Sends a filled draft over a new connection, with a marker and a level of its own.
    pub(crate) async fn exchange_as(
        &self,
        marker: &str,
        level: CaseLevel,
        draft: &Draft,
        limit: Duration,
    ) -> Sent {
        let sending = async { vec![edgeproof_http::send(&self.target.endpoint, draft, limit).await] };
        let sent = self.traced([(self.sender_of(marker, level), draft)], sending).await.pop();
        sent.expect("the exchange has a result")
    }

    /// Sends filled drafts over one connection, each with a marker of its own: in turn, or all before the first answer.
    pub(crate) async fn exchanges_as(
        &self,
        requests: &[(String, Draft)],
        level: CaseLevel,
        pipelined: bool,
        limit: Duration,
    ) -> Vec<Sent> {
        let drafts: Vec<Draft> = requests.iter().map(|(_, draft)| draft.clone()).collect();
        let endpoint = &self.target.endpoint;
        let sending = async {
            if pipelined {
                edgeproof_http::send_pipelined(endpoint, &drafts, limit).await
            } else {
                edgeproof_http::send_in_turn(endpoint, &drafts, limit).await
            }
        };
        let senders = requests.iter().map(|(marker, draft)| (self.sender_of(marker, level), draft));
        self.traced(senders, sending).await
    }

    /// Records requests of these senders, and their answers without the content coding.
    pub(in crate::cases) async fn traced<'d>(
        &self,
        requests: impl IntoIterator<Item = (Sender, &'d Draft)>,
        sending: impl Future<Output = Vec<Sent>>,
    ) -> Vec<Sent> {
        let traffic = &self.target.traffic;
        let begin = |(sender, draft)| traffic.begin(sender, draft);
        let numbers: Vec<usize> = requests.into_iter().map(begin).collect();
        let sent: Vec<Sent> = sending.await.into_iter().map(without_coding).collect();
        for (number, sent) in numbers.into_iter().zip(&sent) {
            traffic.end(number, sent.clone());
        }
        sent
    }

    /// The sender of a request of this case with a marker and a level of its own.
    pub(crate) fn sender_of(&self, marker: &str, level: CaseLevel) -> Sender {
        Sender { case: self.case.clone(), level: level.max(self.exchange_level()), marker: marker.to_owned() }
    }

    /// Shows an exchange in the case's report.
    pub fn record(&mut self, draft: &Draft, sent: Sent) {
        self.show_exchange(draft, sent, true);
    }

    /// Shows an exchange in the case's report. `repeats`: the same request gets the same answer, so that a `curl` command
    /// can repeat it.
    pub(crate) fn show_exchange(&mut self, draft: &Draft, sent: Sent, repeats: bool) {
        let curl = crate::curl::curl(&self.target.endpoint, draft).filter(|_| repeats);
        self.found.sent.push(CaseExchange { hop: Hop::ClientEdge, sent, curl });
    }

    /// Requests of this case at the service, after the edge has completed or broken off the last one.
    pub async fn relayed(&self) -> RelayedRequests {
        self.relayed_after(0).await
    }

    /// The same, without those that arrived under this number of earlier scripts.
    async fn relayed_after(&self, earlier: usize) -> RelayedRequests {
        let mut arrivals = Vec::new();
        for scripted in self.state.scripted.iter().skip(earlier) {
            arrivals.extend(scripted.finished(END_LIMIT).await);
        }
        let unclaimed = match (&self.target.service, self.state.began) {
            (Some(service), Some(mark)) => service.unclaimed_since(mark),
            _ => Vec::new(),
        };
        RelayedRequests::new(arrivals).unclaimed(unclaimed)
    }

    /// All requests at the service after a mark, also those of other cases. For exclusive cases.
    pub async fn relayed_since(&self, mark: u64) -> RelayedRequests {
        match &self.target.service {
            Some(service) => RelayedRequests::new(service.finished_since(mark, END_LIMIT).await),
            None => RelayedRequests::default(),
        }
    }

    /// Requests of this case at the service so far, also incomplete ones.
    pub fn arrivals(&self) -> Vec<Arrival> {
        self.state.scripted.iter().flat_map(Scripted::arrivals).collect()
    }

    /// The current end of the service's journal, for [`Self::relayed_since`].
    pub fn service_mark(&self) -> u64 {
        self.target.service.as_ref().map_or(0, |service| service.mark())
    }

    /// Fills in the placeholders of a draft.
    pub fn fill(&self, draft: &Draft) -> Draft {
        fill(draft, self.spec(), &self.marker, self.origin())
    }

    /// The origin that the edge allows, or any origin if it is unknown. Cases that depend on it require
    /// [`EdgeNeed::Origin`](crate::cases::EdgeNeed::Origin).
    pub fn origin(&self) -> &str {
        self.target.origin.as_deref().unwrap_or("https://page.example")
    }

    /// Ends the case and returns its findings.
    pub fn end(mut self) -> CaseFindings {
        let arrivals = self.arrivals();
        self.found.arrivals.extend(arrivals);
        self.found
    }
}
