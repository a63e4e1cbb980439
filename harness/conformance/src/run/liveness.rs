use std::sync::Arc;
use std::time::{Duration, Instant};

use edgeproof_http::{NoAnswer, Sent};
use edgeproof_reports::difference::{DeathEvidence, LastExchange, ProcessDeath};
use edgeproof_reports::{CaseLevel, CaseReport, Outcome};
use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use super::death::{Death, Repetitions};
use super::last_exchange::{
    Contact, ContactEnd, contacts, first_unread, is_broken, is_broken_off, is_refused, last_answer,
    last_exchange, suspects,
};
use super::report::without_run;
use crate::cases::{CaseFacts, CaseFindings};
use crate::judge::silence;

/// Time to wait for a later exchange before a probe. A later exchange proves that the target survived the case.
const PROBE_DELAY: Duration = Duration::from_millis(100);
/// Time without an answer after which a target counts as gone.
const DEATH_TIMEOUT: Duration = Duration::from_secs(3);
/// Refused connections within this time do not count as a death.
const REFUSAL_TOLERANCE: Duration = Duration::from_millis(300);
/// Pause between two probes.
const PROBE_INTERVAL: Duration = Duration::from_millis(100);
/// Cases in turn without any answer after which a target counts as gone: each further one would take as long.
const MAX_SILENT: usize = 4;
/// Most repetitions of a case that a death broke off.
const REPETITIONS: usize = 2;

/// Tracks the exchanges of all cases with one target, and finds the case that killed it.
pub(super) struct Liveness {
    state: watch::Sender<State>,
    /// Lock of a liveness check: one case probes the target at a time.
    probe_lock: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct State {
    cases: Vec<CaseState>,
    contacts: Vec<Contact>,
    /// Latest cases in turn that failed without any answer.
    silent: usize,
    death: Option<TargetState>,
    decided: Option<Arc<Death>>,
}

/// A case that runs on the target. Dropping it ends the case without exchanges.
pub(super) struct CaseRun {
    liveness: Arc<Liveness>,
    number: usize,
}

struct CaseState {
    id: String,
    progress: Progress,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Progress {
    /// Its exchanges are not known yet.
    Running,
    /// It waits for evidence that the target survived.
    Ended,
    /// It has its outcome.
    Settled,
}

/// Result of a liveness check.
#[derive(Debug, Clone)]
pub(super) enum TargetState {
    /// The target runs and answers.
    Alive,
    /// The target is dead.
    Gone(DeathEvidence),
    /// The target restarted, or another target replaced it.
    Replaced(DeathEvidence),
}

/// Relation of a case to the death of its target.
#[derive(Debug)]
pub enum CaseEnd {
    /// The target lives, or the case ended before the death.
    Survived,
    /// The target refused connections for a moment: the case runs again.
    Refused,
    /// The case had the last exchange.
    Last(Arc<Death>),
    /// The death broke the case off.
    BrokenOff(Arc<Death>),
    /// One of several cases that can have killed the target. Each runs again alone. The flag marks the one with the last
    /// exchange.
    Suspect(Arc<Death>, bool),
}

impl Liveness {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self {
            state: watch::Sender::new(State::default()),
            probe_lock: tokio::sync::Mutex::default(),
        })
    }

    /// Begins a case. The error is the death of the target.
    pub(super) async fn begin(self: &Arc<Self>, case: &CaseFacts) -> Result<CaseRun, Arc<Death>> {
        if self.state.borrow().death.is_some() {
            return Err(self.decided().await);
        }
        let mut number = 0;
        self.state.send_modify(|state| {
            number = state.cases.len();
            state.cases.push(CaseState { id: case.id.clone(), progress: Progress::Running });
        });
        Ok(CaseRun { liveness: Arc::clone(self), number })
    }

    /// Whether the target is gone and nothing took its place.
    pub(super) fn is_gone(&self) -> bool {
        matches!(self.state.borrow().death, Some(TargetState::Gone(_)))
    }

    /// Message about a death that no case reports.
    pub(super) fn unreported_death(&self) -> Option<String> {
        let state = self.state.borrow();
        let death = state.decided.as_ref().filter(|death| death.last.is_none())?;
        Some(death.facts.to_string())
    }

    /// Declares the death of a target that ended while no case used it.
    pub(super) async fn declare(&self, death: TargetState) {
        self.state.send_modify(|state| {
            state.death.get_or_insert(death);
        });
        self.decided().await;
    }

    fn settle(&self, number: usize) {
        self.state.send_modify(|state| state.cases[number].progress = Progress::Settled);
    }

    fn record_probe(&self, sent: Instant) {
        let ended = Instant::now();
        self.state.send_modify(|state| state.contacts.push(Contact::of_probe(sent, ended)));
    }

    /// Waits until the exchanges of all cases are known, then finds the last one.
    async fn decided(&self) -> Arc<Death> {
        let mut state = self.state.subscribe();
        let all_ended = |state: &State| state.cases.iter().all(|case| case.progress != Progress::Running);
        // The sender is this value.
        let _ = state.wait_for(all_ended).await;
        drop(state);
        let mut decided = None;
        self.state.send_modify(|state| {
            if state.decided.is_none() {
                state.decided = Some(Arc::new(state.decide()));
            }
            decided.clone_from(&state.decided);
        });
        decided.expect("it was just decided")
    }
}

impl CaseRun {
    /// Ends a case: waits until the target has survived it, or for all cases that its death broke off. `state` finds out
    /// whether the target lives; it is polled only if no exchange shows it. `alone`: no other case uses the target.
    /// `is_excused`: other programs explain that there was no answer.
    pub(super) async fn end(
        self,
        case: &CaseFacts,
        found: &CaseFindings,
        alone: bool,
        is_excused: bool,
        state: impl Future<Output = TargetState>,
    ) -> CaseEnd {
        let (liveness, number) = (&self.liveness, self.number);
        let refused = found.sent.iter().any(|exchange| is_refused(&exchange.sent));
        let broken = is_broken(found);
        let mut last = None;
        liveness.state.send_modify(|state| {
            state.contacts.extend(contacts(number, case, found));
            state.cases[number].progress = Progress::Ended;
            if !is_excused {
                state.count_silence(found);
            }
            last = state.contacts.iter().filter(|one| one.case == Some(number)).map(|one| one.ended).max();
        });
        let is_settled =
            |state: &State| state.death.is_some() || last.is_none_or(|last| state.lived_after(last));
        if !broken && !alone {
            let mut state = liveness.state.subscribe();
            let _ = timeout(PROBE_DELAY, state.wait_for(is_settled)).await;
        }
        let probe_lock = liveness.probe_lock.lock().await;
        if liveness.state.borrow().death.is_none() {
            if !broken && is_settled(&liveness.state.borrow()) {
                liveness.settle(number);
                return CaseEnd::Survived;
            }
            let sent = Instant::now();
            match state.await {
                TargetState::Alive => {
                    liveness.record_probe(sent);
                    liveness.settle(number);
                    return if refused { CaseEnd::Refused } else { CaseEnd::Survived };
                }
                death => liveness.state.send_modify(|state| state.death = Some(death)),
            }
        }
        drop(probe_lock);
        let death = liveness.decided().await;
        liveness.settle(number);
        CaseEnd::of(death, number, broken)
    }
}

impl Drop for CaseRun {
    fn drop(&mut self) {
        self.liveness.state.send_modify(|state| {
            let progress = &mut state.cases[self.number].progress;
            if *progress == Progress::Running {
                *progress = Progress::Settled;
            }
        });
    }
}

impl State {
    /// Counts the cases in turn that failed without any answer. Too many: the target is gone, although it listens.
    fn count_silence(&mut self, found: &CaseFindings) {
        if found.sent.iter().any(|exchange| exchange.sent.reply.is_ok()) {
            self.silent = 0;
        }
        let timed_out = |sent: &Sent| matches!(sent.reply, Err(NoAnswer::TimedOut(_)));
        let is_silent = found.sent.iter().all(|exchange| timed_out(&exchange.sent));
        let fails = found.checks.iter().any(|check| !check.ok && check.level == CaseLevel::Must);
        if is_silent && !found.sent.is_empty() && fails {
            self.silent += 1;
        }
        if self.silent >= MAX_SILENT && self.death.is_none() {
            let since =
                last_answer(&self.contacts).or_else(|| self.contacts.iter().map(|one| one.sent).min());
            let for_ms = since.map_or(0, |since| millis(since.elapsed()));
            let cases = self.silent as u64;
            self.death = Some(TargetState::Gone(DeathEvidence::Hung { for_ms, cases }));
        }
    }

    /// Whether the target answered a request that was sent after this moment.
    fn lived_after(&self, moment: Instant) -> bool {
        self.contacts.iter().any(|one| one.end == ContactEnd::Answered && one.sent > moment)
    }

    fn decide(&self) -> Death {
        let is_hung = matches!(self.death, Some(TargetState::Gone(DeathEvidence::Hung { .. })));
        let last = if is_hung { first_unread(&self.contacts) } else { last_exchange(&self.contacts) };
        let number = last.and_then(|contact| contact.case);
        let is_open = |number: &usize| self.cases[*number].progress != Progress::Settled;
        let (evidence, is_replaced) = match &self.death {
            Some(TargetState::Gone(how)) => (how.clone(), false),
            Some(TargetState::Replaced(how)) => (how.clone(), true),
            _ => (DeathEvidence::Absent(0), true),
        };
        // If suspects can run again, a case that was answered just before the death is a suspect too.
        let mut found: Vec<usize> = suspects(&self.contacts)
            .filter(|contact| is_replaced || contact.end != ContactEnd::Answered)
            .filter_map(|contact| contact.case)
            .filter(is_open)
            .chain(number.filter(is_open))
            .filter(|_| !is_hung)
            .collect();
        found.sort_unstable();
        found.dedup();
        let others: Vec<String> = found
            .iter()
            .filter(|other| Some(**other) != number)
            .map(|other| self.cases[*other].id.clone())
            .collect();
        let after = match (number, last) {
            (Some(number), Some(last)) => {
                LastExchange::Case(self.cases[number].id.clone(), last.line.clone())
            }
            _ => LastExchange::Probe,
        };
        Death {
            // The silence of a target that hangs is a finding of its own.
            last: number.filter(is_open).filter(|_| !is_hung),
            again: Repetitions::of(found.len()),
            suspects: found,
            is_replaced,
            facts: ProcessDeath { evidence, after, others, is_replaced, log: Vec::new() },
        }
    }
}

impl CaseEnd {
    /// Relation of a case to this death. `broken`: a connection of the case was refused or broken off.
    fn of(death: Arc<Death>, number: usize, broken: bool) -> Self {
        let is_last = death.last == Some(number);
        if death.is_replaced && death.suspects.len() > 1 && death.suspects.contains(&number) {
            return Self::Suspect(death, is_last);
        }
        match (is_last, broken) {
            (true, _) => Self::Last(death),
            (false, true) => Self::BrokenOff(death),
            (false, false) => Self::Survived,
        }
    }
}

/// Begins a case on a target that can come back. The error is its final death.
pub(super) async fn begin(current: &Mutex<Arc<Liveness>>, case: &CaseFacts) -> Result<CaseRun, Arc<Death>> {
    loop {
        let liveness = Arc::clone(&current.lock());
        match liveness.begin(case).await {
            Err(death) if death.is_replaced => {
                let mut current = current.lock();
                if Arc::ptr_eq(&current, &liveness) {
                    *current = Liveness::new();
                }
            }
            begun => return begun,
        }
    }
}

/// One attempt of a case. The death of its target can invalidate it.
pub struct Attempt {
    /// Report of the case.
    pub report: CaseReport,
    /// Relation of the case to the death of its target.
    pub end: CaseEnd,
}

impl Attempt {
    /// An attempt that could not begin.
    pub fn not_run(case: &CaseFacts, because: &str) -> Self {
        Self { report: without_run(case, Outcome::NotRun, because), end: CaseEnd::Survived }
    }
}

/// Repeats a case until no other case's crash affects its report. `attempt` runs it once; its argument says whether
/// the case must run alone.
pub(super) async fn run_until_judged<F: Future<Output = Attempt>>(attempt: impl Fn(bool) -> F) -> CaseReport {
    let mut latest = attempt(false).await;
    for _ in 0..REPETITIONS {
        match latest.end {
            CaseEnd::Survived | CaseEnd::Last(_) => break,
            CaseEnd::BrokenOff(death) if !death.is_replaced => break,
            CaseEnd::BrokenOff(_) | CaseEnd::Refused => latest = attempt(true).await,
            CaseEnd::Suspect(death, is_last) => {
                let mut repetition = death.again.begin();
                let again = attempt(true).await;
                repetition.died = matches!(again.end, CaseEnd::Last(_));
                drop(repetition);
                if is_last && !death.again.are_deadly().await {
                    return latest.report;
                }
                return again.report;
            }
        }
    }
    latest.report
}

/// Probes a target until it answers, at most for three seconds.
pub(super) async fn probe_state<F: Future<Output = Result<(), NoAnswer>>>(
    found: &CaseFindings,
    probe: impl Fn() -> F,
) -> TargetState {
    let broke_off = found.sent.iter().any(|exchange| is_broken_off(&exchange.sent));
    let began = Instant::now();
    // A connection can end some time before its process.
    let mut is_early = broke_off;
    let mut was_gone = false;
    loop {
        let gone = match probe().await {
            Err(
                why @ (NoAnswer::NotConnected(_) | NoAnswer::NoTls(_) | NoAnswer::Closed | NoAnswer::Reset),
            ) => why,
            _ if is_early && !was_gone => {
                is_early = false;
                sleep(PROBE_INTERVAL).await;
                continue;
            }
            _ if !was_gone || (began.elapsed() < REFUSAL_TOLERANCE && !broke_off) => {
                return TargetState::Alive;
            }
            _ => {
                return TargetState::Replaced(DeathEvidence::Absent(millis(began.elapsed())));
            }
        };
        was_gone = true;
        if began.elapsed() >= DEATH_TIMEOUT {
            let silence = silence(&gone);
            return TargetState::Gone(DeathEvidence::Silent { for_ms: millis(DEATH_TIMEOUT), silence });
        }
        sleep(PROBE_INTERVAL).await;
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
