use std::sync::Arc;
use std::time::Duration;

use edgeproof_reports::CaseReport;
use tokio::sync::mpsc;

use super::enter::enter;
use super::options::RunOptions;
use crate::cases::{CaseFacts, CaseFindings};

/// Options of the run and the channel for messages to its report.
#[derive(Clone)]
pub struct RunnerContext {
    pub(super) options: Arc<RunOptions>,
    pub(super) messages: mpsc::UnboundedSender<Message>,
}

/// Progress of one case.
pub(super) enum Message {
    Began { id: String, title: String },
    Notice(String),
    Ended(usize, Box<CaseReport>),
}

impl RunnerContext {
    /// Sends a message. Drops it if the run was interrupted.
    pub(super) fn send(&self, message: Message) {
        let _ = self.messages.send(message);
    }

    /// Announces that a case begins.
    pub(super) fn begin(&self, case: &CaseFacts) {
        self.send(Message::Began { id: case.id.clone(), title: case.title.clone() });
    }

    /// Timeout of one request within a case.
    pub fn request_timeout(&self) -> Duration {
        self.options.case_timeout.mul_f32(0.5)
    }

    /// Timeout of a whole case.
    pub fn case_timeout(&self, case: &CaseFacts) -> Duration {
        self.options.case_timeout + case.takes
    }

    /// Judges what a case observed: by its rule about an open point, or by the pins. `complete`: it ended in time.
    pub(super) fn judge_observations(&self, case: &CaseFacts, found: &mut CaseFindings, complete: bool) {
        match &case.rule {
            Some(rule) if complete => rule.judge(case, found),
            Some(_) => found.observations.clear(),
            None => self.options.pins.check(found),
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
