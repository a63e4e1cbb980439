use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use edgeproof_http::{Draft, ReusedConnection, Sent, Violation};
use edgeproof_reports::Hop;

use super::play::{Played, SequencePlayer, StepPlayer, StepResult, play_waves};
use super::service_step::{ServiceAction, SessionChoice, VerdictStep};
use super::steps::Sequence;
use crate::cases::service::{Expected, Probe};
use crate::cases::{PENDING, PUBLISHED, ServiceCaseContext, next_marker, without_private_keys};
use crate::judge::Check;
use crate::states::StateNeed;

/// Wait of a client that leaves (ms), and the time after which it leaves.
const WAIT_MS: u64 = 600;
const LEAVES: Duration = Duration::from_millis(30);

/// Plays sequences at a service.
pub(super) struct ServicePlayer<'c> {
    pub(super) context: &'c mut ServiceCaseContext,
}

/// Plays the steps of one sequence.
struct ServiceSteps<'c> {
    context: &'c ServiceCaseContext,
    limit: Duration,
    /// A text that no other sequence sends.
    marker: String,
    /// References of the sessions that the sequence names.
    sessions: BTreeMap<SessionChoice, String>,
}

impl SequencePlayer for ServicePlayer<'_> {
    type Action = ServiceAction;

    fn now(&self) -> Instant {
        self.context.now()
    }

    async fn play(&mut self, sequence: &Sequence<ServiceAction>, limit: Duration) -> Played {
        let marker = next_marker();
        let sessions = self.sessions(sequence, &marker).await;
        let steps = ServiceSteps { context: self.context, limit, marker, sessions };
        let is_known = |action: &ServiceAction| matches!(action, ServiceAction::Verdict(step) if step.session == SessionChoice::Known);
        let mut played = play_waves(&steps, sequence).await;
        if let Some(failure) = &played.failure
            && is_known(&sequence.steps[failure.step].action)
            && steps.verdict_ended().await
        {
            // The verdict of --session-ref became too old during the run.
            played.failure = None;
        }
        played
    }

    /// No service can be restarted: not even the built-in mock, which other cases share.
    async fn restart(&mut self) -> bool {
        false
    }
}

impl ServicePlayer<'_> {
    /// Makes the sessions that a sequence names. Yields their references.
    async fn sessions(
        &mut self,
        sequence: &Sequence<ServiceAction>,
        marker: &str,
    ) -> BTreeMap<SessionChoice, String> {
        let named: BTreeSet<SessionChoice> = sequence
            .steps
            .iter()
            .filter_map(|step| match &step.action {
                ServiceAction::Verdict(step) => Some(step.session),
                _ => None,
            })
            .collect();
        let mut sessions = BTreeMap::new();
        for choice in named {
            let reference = self.context.reference(&format!("{marker}-{choice}"));
            let made = choice.make(self.context, reference).await;
            sessions.insert(choice, made.unwrap_or_default());
        }
        sessions
    }
}

impl StepPlayer<ServiceAction> for ServiceSteps<'_> {
    async fn pause(&self, time: Duration) {
        self.context.sleep(time).await;
    }

    async fn step(&self, action: &ServiceAction, kept: Option<&mut ReusedConnection>) -> StepResult {
        let mut own = ReusedConnection::default();
        let connection = kept.unwrap_or(&mut own);
        match action {
            ServiceAction::Verdict(step) => self.verdict(step, connection).await,
            ServiceAction::KeySet => self.key_set(connection).await,
            ServiceAction::ClientLeft => {
                let reference = self.reference("left");
                let query = format!("waitMs={WAIT_MS}");
                let draft = self.context.with_token(&reference).query(&query).draft();
                // Its answer, if any, is not judged: the client is gone.
                let _ = ReusedConnection::default().send(self.context.service(), &draft, LEAVES).await;
                StepResult::default()
            }
        }
    }
}

impl ServiceSteps<'_> {
    async fn verdict(&self, step: &VerdictStep, connection: &mut ReusedConnection) -> StepResult {
        let reference = self.sessions.get(&step.session).cloned().unwrap_or_default();
        let Some(probe) = step.probe(self.context, &reference) else { return StepResult::default() };
        self.send(&probe, connection).await
    }

    async fn key_set(&self, connection: &mut ReusedConnection) -> StepResult {
        let draft = self.context.key_set();
        let Some(keys) = &self.context.target.keys else {
            // A service may publish its key set elsewhere.
            return self.send(&Probe::new("", draft, Expected::NoServerError).should(), connection).await;
        };
        let sent = ReusedConnection::default().send(keys, &draft, self.limit).await;
        let violations = sent.violations.into_iter().map(Violation::without_excerpt).collect();
        let sent = Sent { reply: without_private_keys(sent.reply), violations, ..sent };
        self.context.trace(Hop::ClientKeys, &draft, sent.clone());
        let probe = Probe::new("", draft.clone(), Expected::Status { rows: &[PUBLISHED], others: &[] });
        StepResult { checks: self.judge(&probe, &sent), exchange: Some((draft, sent)) }
    }

    async fn send(&self, probe: &Probe, connection: &mut ReusedConnection) -> StepResult {
        let draft: &Draft = probe.draft();
        let sent = connection.send(self.context.service(), draft, self.limit).await;
        self.context.trace(Hop::ClientService, draft, sent.clone());
        StepResult { checks: self.judge(probe, &sent), exchange: Some((draft.clone(), sent)) }
    }

    fn judge(&self, probe: &Probe, sent: &Sent) -> Vec<Check> {
        probe.judge(self.context.spec(), &sent.reply)
    }

    /// A reference that no other sequence sends.
    fn reference(&self, name: &str) -> String {
        self.context.reference(&format!("{}-{name}", self.marker))
    }

    /// Whether the session of `--session-ref` has no verdict any more.
    async fn verdict_ended(&self) -> bool {
        if self.context.supports(StateNeed::Verdict) {
            return false;
        }
        let known = self.sessions.get(&SessionChoice::Known).cloned().unwrap_or_default();
        let draft = self.context.verdict(&known).bearer(&self.context.read_token()).draft();
        let sent = self.context.begin(&draft, self.limit).await;
        self.context.trace(Hop::ClientService, &draft, sent.clone());
        self.context.has_status(PENDING, &sent.reply)
    }
}
