use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use fixtures::credentials::{Credentials, Redactor};
use reports::Level;

use super::Conversation;
use super::conversation;
use crate::judge::Check;
use crate::mock::{Arrival, Match, MockService, Script, Scripted};
use crate::target::LogTail;
use crate::wire::{self, Draft, Endpoint, Sent};

/// Where cases play: an edge and the mock service behind it.
#[derive(Debug)]
pub struct Scene {
    /// Where the edge is.
    pub endpoint: Endpoint,
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
}

/// One case on its scene, and everything it finds there.
pub struct Stage {
    /// Where it plays.
    pub scene: Arc<Scene>,
    /// A text that no other case sends.
    pub marker: String,
    /// Longest wait for an answer.
    pub limit: Duration,
    /// What was found so far.
    pub found: Found,
    /// What is to be judged once the edge was ended and has written all that it had to write.
    pub later: Option<Later>,
    alone: bool,
    level: Level,
    scripted: Vec<Scripted>,
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
pub struct Found {
    /// Everything that was looked at.
    pub checks: Vec<Check>,
    /// Open points, as `(point, saw)`.
    pub observations: Vec<(String, String)>,
    /// What the client sent, with a `curl` command where there can be one.
    pub sent: Vec<(Sent, Option<String>)>,
    /// What the service got.
    pub arrivals: Vec<Arrival>,
    /// Why the case does not apply to this edge, as it turned out.
    pub not_applicable: Option<String>,
    /// Why it could not be played to its end.
    pub not_run: Option<String>,
}

impl Stage {
    /// A stage for one case. `alone`: whatever arrives at the service belongs to it.
    pub fn new(scene: Arc<Scene>, marker: String, alone: bool, level: Level, limit: Duration) -> Self {
        Self {
            scene,
            marker,
            limit,
            found: Found::default(),
            later: None,
            alone,
            level,
            scripted: Vec::new(),
        }
    }

    /// Plays a conversation and checks what is expected of it.
    pub async fn converse(&mut self, conversation: &Conversation) -> Sent {
        let script = conversation.script.clone().unwrap_or_else(Script::decide);
        self.script(script);
        let draft = self.fill(&conversation.draft);
        let sent = self.send(&draft).await;
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
        self.scripted.extend(self.scene.service.as_ref().map(|service| service.script(on, script)));
    }

    /// The same for requests that hold another text.
    pub fn script_on(&mut self, marker: &str, script: Script) {
        let on = Match::Marker(Bytes::copy_from_slice(marker.as_bytes()));
        self.scripted.extend(self.scene.service.as_ref().map(|service| service.script(on, script)));
    }

    /// Sends a request over a connection of its own.
    pub async fn send(&mut self, draft: &Draft) -> Sent {
        let draft = self.fill(draft);
        let sent = wire::send(&self.scene.endpoint, &draft, self.limit).await;
        self.record(&draft, sent.clone());
        sent
    }

    /// Notes what was sent by other means.
    pub fn record(&mut self, draft: &Draft, sent: Sent) {
        let curl = wire::curl(&self.scene.endpoint, draft);
        self.found.sent.push((sent, curl));
    }

    /// What arrived at the service for this case so far.
    pub fn arrivals(&self) -> Vec<Arrival> {
        self.scripted.iter().flat_map(Scripted::arrivals).collect()
    }

    /// A draft with its placeholders filled in.
    pub fn fill(&self, draft: &Draft) -> Draft {
        conversation::fill(draft, &self.marker, self.origin())
    }

    /// The origin that the edge allows. Cases that depend on it need [`super::Need::Origin`]; to others any will do.
    pub fn origin(&self) -> &str {
        self.scene.origin.as_deref().unwrap_or("https://page.example")
    }

    /// Adds a check. One that weighs `must` weighs no more than its case.
    pub fn check(&mut self, mut check: Check) {
        check.level = check.level.max(self.level);
        self.found.checks.push(check);
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
    pub fn end(mut self) -> Found {
        self.found.arrivals = self.arrivals();
        self.found
    }
}
