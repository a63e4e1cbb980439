use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use edgeproof_fixtures::credentials::{Credentials, Redactor};
use edgeproof_reports::{CaseLevel as Level, Hop};

use super::conversation;
use super::{Conversation, Relayed};
use crate::judge::Check;
use edgeproof_http::{Draft, Sent, ServerAddress};
use edgeproof_launch::LogTail;
use edgeproof_mock::{Arrival, Match, MockService, Script, Scripted};

/// Where cases play: an edge and the mock service behind it.
#[derive(Debug)]
pub struct EdgeContext {
    /// Where the edge is.
    pub endpoint: ServerAddress,
    /// The service behind it; none for an edge in production.
    pub service: Option<Arc<MockService>>,
    /// A service that no edge is pointed at: nothing may ever arrive there.
    pub elsewhere: Option<Arc<MockService>>,
    /// What the edge writes, where that can be seen.
    pub log: Option<LogTail>,
    /// The credentials of the run.
    pub credentials: Arc<Credentials>,
    /// Knows all secrets of the run.
    pub redactor: Arc<Redactor>,
    /// `LICENSE` as this edge has it.
    pub license: Option<String>,
    /// `ALLOWED_ORIGIN` as this edge has it, where it is known.
    pub origin: Option<String>,
    /// Scripts of cases that are over, which still count copies of their collections.
    pub kept: Mutex<Vec<Kept>>,
}

impl EdgeContext {
    /// Collections of cases that are over, of which a copy has arrived since.
    pub fn late_copies(&self) -> Vec<Arrival> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let late = |kept: &Kept| {
            let arrivals = kept.scripted.iter().flat_map(Scripted::arrivals);
            arrivals.skip(kept.arrived).collect::<Vec<_>>()
        };
        kept.iter().flat_map(late).collect()
    }
}

/// One case on its edge, and everything it finds there.
pub struct CaseContext {
    /// Where it plays.
    pub edge: Arc<EdgeContext>,
    /// A text that no other case sends.
    pub marker: String,
    /// Longest wait for an answer.
    pub limit: Duration,
    /// What was found so far.
    pub found: CaseFindings,
    /// What is to be judged once the edge was ended and has written all that it had to write.
    pub later: Option<Later>,
    alone: bool,
    level: Level,
    scripted: Vec<Scripted>,
    /// A collection has to arrive once, and no second time later.
    once: bool,
}

/// The scripts of a case that is over, and how much had arrived for it by then.
#[derive(Debug)]
pub struct Kept {
    scripted: Vec<Scripted>,
    arrived: usize,
}

/// A judgement on lines of a log that may still be in the edge's buffers.
#[derive(Clone)]
pub struct Later {
    /// The lines from here on.
    pub since: usize,
    /// The judgement.
    pub judge: LogJudge,
}

/// Judges the lines of a log.
pub type LogJudge = Arc<dyn Fn(&[String]) -> Check + Send + Sync>;

/// What a case found.
#[derive(Debug, Default)]
pub struct CaseFindings {
    /// Everything that was looked at.
    pub checks: Vec<Check>,
    /// Open points, as `(point, saw)`.
    pub observations: Vec<(String, String)>,
    /// What we sent.
    pub sent: Vec<CaseExchange>,
    /// What the service got.
    pub arrivals: Vec<Arrival>,
    /// Why the case does not apply to this edge, as it turned out.
    pub not_applicable: Option<String>,
    /// Why it could not be played to its end.
    pub not_run: Option<String>,
}

/// A request that a case sent, with what came of it.
#[derive(Debug, Clone)]
pub struct CaseExchange {
    /// Whom.
    pub hop: Hop,
    /// Request and answer.
    pub sent: Sent,
    /// A `curl` command that sends the same, where there can be one.
    pub curl: Option<String>,
}

impl CaseFindings {
    /// Adds a check. One that weighs `must` weighs no more than its case.
    pub fn check(&mut self, mut check: Check, case: Level) {
        check.level = check.level.max(case);
        self.checks.push(check);
    }
}

impl CaseContext {
    /// A context for one case. `alone`: whatever arrives at the service belongs to it.
    pub fn new(edge: Arc<EdgeContext>, marker: String, alone: bool, level: Level, limit: Duration) -> Self {
        Self {
            edge,
            marker,
            limit,
            found: CaseFindings::default(),
            later: None,
            alone,
            level,
            scripted: Vec::new(),
            once: false,
        }
    }

    /// Plays a conversation and checks what is expected of it.
    pub async fn converse(&mut self, conversation: &Conversation) -> Sent {
        let script = conversation.script.clone().unwrap_or_else(Script::decide);
        self.script(script);
        let draft = self.fill(&conversation.draft);
        let sent = self.send(&draft).await;
        self.once |= conversation.relayed == Relayed::Once && !self.alone;
        let checks = conversation::judge(conversation, &draft, self.origin(), &sent.reply, &self.arrivals());
        self.checks(checks);
        sent
    }

    /// Plays conversations one after the other; the checks of each say which it is.
    pub async fn converse_each(&mut self, conversations: &[(String, Conversation)]) {
        for (name, conversation) in conversations {
            let before = self.found.checks.len();
            self.converse(conversation).await;
            for check in &mut self.found.checks[before..] {
                *check = check.clone().of(name);
            }
        }
    }

    /// Says what the service does with this case's requests from here on. Without a service, nothing.
    pub fn script(&mut self, script: Script) {
        let on = if self.alone { Match::Everything } else { Match::Marker(Bytes::from(self.marker.clone())) };
        self.scripted.extend(self.edge.service.as_ref().map(|service| service.script(on, script)));
    }

    /// The same for requests that hold another text.
    pub fn script_on(&mut self, marker: &str, script: Script) {
        let on = Match::Marker(Bytes::copy_from_slice(marker.as_bytes()));
        self.scripted.extend(self.edge.service.as_ref().map(|service| service.script(on, script)));
    }

    /// Sends a request over a connection of its own.
    pub async fn send(&mut self, draft: &Draft) -> Sent {
        let draft = self.fill(draft);
        let sent = edgeproof_http::send(&self.edge.endpoint, &draft, self.limit).await;
        self.record(&draft, sent.clone());
        sent
    }

    /// Notes what was sent by other means.
    pub fn record(&mut self, draft: &Draft, sent: Sent) {
        let curl = crate::curl::curl(&self.edge.endpoint, draft);
        self.found.sent.push(CaseExchange { hop: Hop::ClientEdge, sent, curl });
    }

    /// What arrived at the service for this case so far.
    pub fn arrivals(&self) -> Vec<Arrival> {
        self.scripted.iter().flat_map(Scripted::arrivals).collect()
    }

    /// Where the service's journal stands: a mark for [`Self::arrivals_since`].
    pub fn service_mark(&self) -> u64 {
        self.edge.service.as_ref().map_or(0, |service| service.mark())
    }

    /// Everything that arrived at the service from a mark on, also what has only begun to. For a case that has its edge to
    /// itself.
    pub fn arrivals_since(&self, mark: u64) -> Vec<Arrival> {
        self.edge.service.as_ref().map(|service| service.arrivals_since(mark)).unwrap_or_default()
    }

    /// A draft with its placeholders filled in.
    pub fn fill(&self, draft: &Draft) -> Draft {
        conversation::fill(draft, &self.marker, self.origin())
    }

    /// The origin that the edge allows. Cases that depend on it need [`super::Need::Origin`]; to others any will do.
    pub fn origin(&self) -> &str {
        self.edge.origin.as_deref().unwrap_or("https://page.example")
    }

    /// Adds a check. One that weighs `must` weighs no more than its case.
    pub fn check(&mut self, check: Check) {
        self.found.check(check, self.level);
    }

    /// Adds checks.
    pub fn checks(&mut self, checks: Vec<Check>) {
        for check in checks {
            self.check(check);
        }
    }

    /// Notes how the edge behaves at an open point.
    pub fn observe(&mut self, point: &str, saw: impl Into<String>) {
        self.found.observations.push((point.into(), saw.into()));
    }

    /// Ends the case and hands out what it found.
    pub fn end(mut self) -> CaseFindings {
        self.found.arrivals = self.arrivals();
        if self.once {
            let kept =
                Kept { scripted: std::mem::take(&mut self.scripted), arrived: self.found.arrivals.len() };
            self.edge.kept.lock().unwrap_or_else(PoisonError::into_inner).push(kept);
        }
        self.found
    }
}
