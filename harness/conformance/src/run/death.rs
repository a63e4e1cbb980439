use edgeproof_reports::difference::{DeathEvidence, ProcessDeath, ProcessEnd, ProcessError, Subject};
use parking_lot::Mutex;
use tokio::sync::watch;

use crate::judge::Check;

/// Death of a target.
#[derive(Debug)]
pub struct Death {
    /// The case with the last exchange. None: a case that has its outcome already, or a probe.
    pub(super) last: Option<usize>,
    /// Cases whose exchanges can have killed the target.
    pub(super) suspects: Vec<usize>,
    /// Another target replaces the dead one.
    pub(super) is_replaced: bool,
    /// What happened, with the last exchange. Not redacted.
    pub(super) facts: ProcessDeath,
    /// Repetitions of the suspects, if another target replaces the dead one.
    pub(super) again: Repetitions,
}

/// Repetitions of cases that are suspected of the same death.
#[derive(Debug)]
pub(super) struct Repetitions {
    counts: Mutex<Counts>,
    changed: watch::Sender<()>,
}

#[derive(Debug)]
struct Counts {
    left: usize,
    died: usize,
}

/// A suspect that runs again. Dropping it counts, so that no case waits for a panicked one.
pub(super) struct Repetition<'d> {
    all: &'d Repetitions,
    /// The target died again.
    pub(super) died: bool,
}

impl Death {
    /// Why a case did not run. Not redacted.
    pub(super) fn because(&self, target: Subject) -> String {
        let what = match self.facts.evidence {
            DeathEvidence::Hung { .. } => "hangs since",
            _ => "died after",
        };
        format!("{} {what} {}", target.name(), self.facts.after)
    }

    /// The check that fails in the case with the last exchange.
    pub(super) fn check(&self, target: Subject) -> Check {
        Check::process(ProcessEnd::Died, target, Some(ProcessError::Death(Box::new(self.facts.clone()))))
    }
}

impl Repetitions {
    pub(super) fn of(suspects: usize) -> Self {
        Self { counts: Mutex::new(Counts { left: suspects, died: 0 }), changed: watch::Sender::new(()) }
    }

    /// Begins the repetition of one suspect.
    pub(super) fn begin(&self) -> Repetition<'_> {
        Repetition { all: self, died: false }
    }

    /// Waits until all suspects ran again. Yields whether one of them killed the target again.
    pub(super) async fn are_deadly(&self) -> bool {
        let mut changed = self.changed.subscribe();
        // The sender is this value.
        let _ = changed.wait_for(|()| self.counts.lock().left == 0).await;
        self.counts.lock().died > 0
    }
}

impl Drop for Repetition<'_> {
    fn drop(&mut self) {
        {
            let mut counts = self.all.counts.lock();
            counts.left -= 1;
            counts.died += usize::from(self.died);
        }
        self.all.changed.send_replace(());
    }
}
