use std::sync::Arc;
use std::time::{Duration, Instant};

use edgeproof_launch::ProcessorTime;
use edgeproof_reports::difference::DifferenceKind;
use edgeproof_reports::{CaseLevel, CaseReport, TargetKind};
use tokio::sync::mpsc;

use super::enter::enter;
use super::options::RunOptions;
use crate::cases::{CaseFacts, CaseFindings, TimeLimit};
use crate::judge::Check;

/// Options of the run and the channel for messages to its report.
#[derive(Clone)]
pub struct RunnerContext {
    pub(super) options: Arc<RunOptions>,
    /// What other programs leave of the processors.
    pub(super) processors: Arc<ProcessorTime>,
    /// Somebody else started the target.
    pub(super) is_attached: bool,
    pub(super) messages: mpsc::UnboundedSender<Message>,
}

/// Share of the processors without which a delay says nothing about the target.
const LEAST_SHARE: f64 = 0.5;

/// Progress of one case.
pub(super) enum Message {
    Began { id: String, title: String },
    Notice(String),
    Ended(usize, Box<CaseReport>),
}

impl RunnerContext {
    /// The context of a run that begins now.
    pub(super) fn new(
        options: Arc<RunOptions>,
        messages: mpsc::UnboundedSender<Message>,
        target: TargetKind,
    ) -> Self {
        let is_attached = target == TargetKind::Attached;
        Self { options, messages, processors: Arc::new(ProcessorTime::start()), is_attached }
    }

    /// Sends a message. Drops it if the run was interrupted.
    pub(super) fn send(&self, message: Message) {
        let _ = self.messages.send(message);
    }

    /// Announces that a case begins.
    pub(super) fn begin(&self, case: &CaseFacts) {
        self.send(Message::Began { id: case.id.clone(), title: case.title.clone() });
    }

    /// Timeout of one request within a case. It is longer while other programs use the processors.
    pub fn request_timeout(&self) -> Duration {
        self.options.case_timeout.div_f64(2.0 * self.processors.latest_share())
    }

    /// Timeout of a whole case.
    pub fn case_timeout(&self, case: &CaseFacts) -> TimeLimit {
        TimeLimit::new(self.options.case_timeout + case.takes, Arc::clone(&self.processors))
    }

    /// Judges what a case observed: by its rule about an open point, or by the pins. `complete`: it ended in time.
    pub(super) fn judge_observations(&self, case: &CaseFacts, found: &mut CaseFindings, complete: bool) {
        match &case.rule {
            Some(rule) if complete => rule.judge(case, found),
            Some(_) => found.observations.clear(),
            None => self.options.pins.check(found),
        }
    }

    /// A case that only delays fail is not judged if other programs used most of the processors
    /// meanwhile.
    pub(super) fn excuse_delays(&self, began: Instant, found: &mut CaseFindings) {
        let is_delayed = |check: &Check| check.kind().is_some_and(DifferenceKind::is_delay);
        let mut failed =
            found.checks.iter().filter(|check| !check.ok && check.level == CaseLevel::Must).peekable();
        if failed.peek().is_none() || !failed.all(is_delayed) {
            return;
        }
        self.processors.read();
        let share = self.processors.share_since(began);
        if share < LEAST_SHARE {
            let percent = (100.0 * (1.0 - share)).round();
            // The processes of a target that somebody else started are unknown.
            let among = if self.is_attached { ", perhaps the target," } else { "" };
            found.not_run = Some(format!(
                "this machine is too busy: other programs{among} used {percent} % of its processors during the case; \
                 run it again on a quiet machine"
            ));
        }
    }

    /// Whether the user asked to stop before this case.
    pub(super) fn holds(&self, case: &CaseFacts) -> bool {
        self.options.hold.as_ref() == Some(&case.id)
    }

    /// Prints how to reach the target, then waits for a line on standard input.
    pub(super) async fn wait_for_enter(&self, text: String) {
        self.send(Message::Notice(text + "\npress Enter to continue"));
        // A closed standard input continues the run as well.
        enter().await;
    }
}
