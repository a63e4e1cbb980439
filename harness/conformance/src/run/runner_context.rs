use std::sync::Arc;
use std::time::{Duration, Instant};

use edgeproof_launch::{ProcessorTime, TimeLimit};
use edgeproof_reports::difference::{DifferenceKind, LogValue, SilenceReason, TimeRule};
use edgeproof_reports::{CaseLevel, CaseReport, TargetKind};
use tokio::sync::mpsc;

use super::enter::enter;
use super::options::RunOptions;
use super::pace::Pace;
use super::rate_limit::RateLimit;
use crate::cases::{CaseFacts, CaseFindings};
use crate::judge::Check;

/// Options of the run and the channel for messages to its report.
#[derive(Clone)]
pub struct RunnerContext {
    pub(super) options: Arc<RunOptions>,
    /// What other programs leave of the processors.
    pub(super) processors: Arc<ProcessorTime>,
    /// Somebody else started the target.
    pub(super) is_attached: bool,
    /// Whether the target limits the rate of requests.
    pub(super) rate_limit: Arc<RateLimit>,
    /// How fast the target answers.
    pub(super) pace: Arc<Pace>,
    pub(super) messages: mpsc::UnboundedSender<Message>,
}

/// Part of a timeout that counts as all of it: the share is an estimate.
const NEARLY: f64 = 0.8;
/// Share of the processors without which a delay says nothing about the target.
const LEAST_SHARE: f64 = 0.5;

/// Whether other programs alone can explain a difference. `share`: what they left of the processors while the case took
/// `took`; `request`: timeout of a request on a free machine. A timeout that was extended by what they took explains nothing.
fn is_delay_of_others(kind: &DifferenceKind, share: f64, took: Duration, request: Duration) -> bool {
    let is_short = |granted: Duration, full: Duration| granted.mul_f64(share) < full.mul_f64(NEARLY);
    let is_delay = match kind {
        DifferenceKind::NoAnswer { silence, .. } if silence.reason == SilenceReason::TimedOut => {
            silence.within_ms.is_none_or(|within| is_short(Duration::from_millis(within), request))
        }
        DifferenceKind::Time { rule: TimeRule::CaseTimeout, limit_us, .. } => {
            limit_us.is_none_or(|limit| is_short(took, Duration::from_micros(limit)))
        }
        DifferenceKind::Time { rule, .. } => *rule != TimeRule::MayWait,
        DifferenceKind::LogLine { actual, .. } => *actual == LogValue::Empty,
        _ => false,
    };
    is_delay && share < LEAST_SHARE
}

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
        Self {
            options,
            messages,
            processors: Arc::new(ProcessorTime::start()),
            is_attached,
            rate_limit: Arc::default(),
            pace: Arc::default(),
        }
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

    /// Timeout of a whole case, longer than that of its requests.
    pub fn case_timeout(&self, case: &CaseFacts) -> TimeLimit {
        let usual = self.options.case_timeout + case.takes;
        TimeLimit::new(usual.mul_f64(self.pace.factor()), Arc::clone(&self.processors))
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
        let Some(share) = self.share_of_others(began, found) else { return };
        let percent = (100.0 * share).round();
        // The processes of a target that somebody else started are unknown.
        let among = if self.is_attached { ", perhaps the target," } else { "" };
        found.not_run = Some(format!(
            "this machine is too busy: other programs{among} used {percent} % of its processors during the case; \
             run it again on a quiet machine"
        ));
    }

    /// The share of the processors that other programs used, where only the delays that explains failed.
    pub(super) fn share_of_others(&self, began: Instant, found: &CaseFindings) -> Option<f64> {
        let took = began.elapsed();
        let mut failed =
            found.checks.iter().filter(|check| !check.ok && check.level == CaseLevel::Must).peekable();
        failed.peek()?;
        self.processors.read();
        let share = self.processors.share_since(began);
        let request = self.options.case_timeout / 2;
        let is_delay =
            |check: &Check| check.kind().is_some_and(|kind| is_delay_of_others(kind, share, took, request));
        failed.all(is_delay).then_some(1.0 - share)
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

#[cfg(test)]
mod tests {
    use edgeproof_reports::difference::Silence;
    use rstest::rstest;

    use super::*;

    fn silent(within_ms: u64) -> DifferenceKind {
        let silence = Silence { reason: SilenceReason::TimedOut, within_ms: Some(within_ms), error: None };
        DifferenceKind::NoAnswer { silence, wanted: None }
    }

    fn time(rule: TimeRule) -> DifferenceKind {
        DifferenceKind::time(rule, None, Duration::from_secs(10))
    }

    fn two_lines() -> DifferenceKind {
        DifferenceKind::LogLine { status: 401, reason: "revoked".into(), actual: LogValue::Lines(2) }
    }

    #[rstest]
    #[case::free_machine(silent(5_000), 1.0, 5, false)]
    #[case::busy_machine(silent(5_000), 0.3, 5, true)]
    #[case::extended_timeout(silent(16_000), 0.3, 16, false)]
    #[case::extended_case(time(TimeRule::CaseTimeout), 0.3, 32, false)]
    #[case::longest_extension(time(TimeRule::CaseTimeout), 0.05, 100, true)]
    #[case::slow_answer(time(TimeRule::AtOnce), 0.3, 1, true)]
    #[case::slow_answer_on_a_free_machine(time(TimeRule::AtOnce), 0.9, 1, false)]
    #[case::two_log_lines(two_lines(), 0.1, 1, false)]
    fn others_explain_delays_only(
        #[case] kind: DifferenceKind,
        #[case] share: f64,
        #[case] took_s: u64,
        #[case] expected: bool,
    ) {
        let [took, request] = [took_s, 5].map(Duration::from_secs);
        assert_eq!(is_delay_of_others(&kind, share, took, request), expected);
    }
}
