use std::sync::Arc;
use std::time::{Duration, Instant};

use edgeproof_fixtures::credentials::{EdgeSettings, Redactor, Role};
use edgeproof_fixtures::spec::Advice;
use edgeproof_http::NoAnswer;
use edgeproof_launch::{LaunchError, LogTail, TimeLimit};
use edgeproof_mock::{ListenerMode, Script};
use edgeproof_reports::difference::{DeathEvidence, ProcessEnd, ProcessError, Secrets};
use edgeproof_reports::{AddedLatency, CaseLevel, CaseReport, EdgeNotes, Outcome};
use edgeproof_targets::{RunningEdge, StartError, Target};
use tokio::sync::{OwnedMutexGuard, OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::time::timeout;

use super::call::Call;
use super::lease::Lease;
use super::lease_error::LeaseError;
use super::pool::{EdgeInstance, EdgePool};
use super::pool_options::EdgePoolOptions;
use super::{latency, monitors, sanity};
use crate::cases::{
    Case, CaseFacts, CaseFindings, DeferredLogCheck, Edge, EdgeCaseContext, EdgeMonitor, EdgeNeed,
    FreshEdgeRequest, FreshEdges, Part, Setup, collection,
};
use crate::judge::{self, Check};
use crate::run::attempt::{broken_off, run_case};
use crate::run::last_exchange::is_broken;
use crate::run::liveness::{Attempt, CaseEnd, CaseRun, TargetState, probe_state};
use crate::run::plan::UnmetNeed;
use crate::run::report::{after_run, without_run};
use crate::run::runner::{Leased, Released, RunTarget, Runner, SanityResult};
use crate::run::runner_context::RunnerContext;

/// Lines of an edge's log in a report.
const LOG_SHOWN: usize = 12;
/// Silence after which the log of a failed case is complete.
const LOG_QUIET: Duration = Duration::from_millis(50);
/// Longest wait for the log of a failed case to become silent.
const LOG_TIMEOUT: Duration = Duration::from_millis(200);
/// Longest wait for the exit of an edge after it broke or refused a connection.
const EXIT_TIMEOUT: Duration = Duration::from_millis(200);
/// Sender of the collections between two cases, in place of a case id.
pub(super) const RECOVERY: &str = "recovery";
/// Number of collections after which an edge has to use its service again.
const RECOVERY_TRIES: usize = 3;

/// What an attempt holds of an edge.
pub struct EdgeLease {
    lease: Lease,
    exclusive: bool,
    /// None: the edge is embedded.
    run: Option<CaseRun>,
    turn: Option<OwnedMutexGuard<()>>,
    job: OwnedSemaphorePermit,
}

impl Runner for EdgePool {
    type Part = Edge;
    type Lease = EdgeLease;

    fn target(&self) -> RunTarget {
        let EdgePoolOptions { spec, target, .. } = self.options();
        RunTarget { spec: Arc::clone(spec), kind: target.kind(), name: target.name().to_owned() }
    }

    fn redactor(&self) -> &Arc<Redactor> {
        &self.options().redactor
    }

    fn unmet(&self, case: &Case<Edge>) -> Vec<UnmetNeed> {
        self.options().unmet(case)
    }

    async fn start(&mut self) -> Result<(), LeaseError> {
        self.start_services().await
    }

    async fn check_sanity(&self, context: &RunnerContext) -> SanityResult<EdgeNeed> {
        sanity::check_edges(self, context).await
    }

    fn afresh(&self) -> Option<Self> {
        let options = self.options();
        options.starts_edges().then(|| Self::new(EdgePoolOptions { observer: None, ..options.clone() }))
    }

    fn history(&self, case: &Case<Edge>) -> Vec<String> {
        self.senders_before(&case.id)
    }

    fn runs_alone(&self, case: &Case<Edge>) -> bool {
        case.exclusive && matches!(self.options().target, Target::Attached(_))
    }

    async fn run_case(
        &self,
        context: &RunnerContext,
        case: &Case<Edge>,
        jobs: &Arc<Semaphore>,
    ) -> CaseReport {
        match case.settings.alone {
            Some(alone) => Box::pin(self.run_shared(context, case, alone, jobs)).await,
            None => run_case(self, context, case, jobs).await,
        }
    }

    async fn lease(
        &self,
        context: &RunnerContext,
        case: &Case<Edge>,
        alone: bool,
        jobs: &Arc<Semaphore>,
    ) -> Result<Leased<Self>, Attempt> {
        let exclusive = alone || case.exclusive;
        let turn = self.turn(case).await;
        let reservation = self.reserve(case.settings.setup, exclusive).await;
        let job = self.job(jobs, exclusive).await;
        if let Some(death) = self.hung(case).await {
            return Err(broken_off(self, case, death));
        }
        if let Some(because) = context.rate_limit.because() {
            return Err(Attempt::not_run(case, &because));
        }
        let began = Instant::now();
        let lease = match self.lease(reservation).await {
            Ok(lease) => lease,
            Err(why) => {
                context.begin(case);
                return Err(Attempt {
                    report: self.not_started(context, case, &why, began),
                    end: CaseEnd::Survived,
                });
            }
        };
        let run = match self.begin(&lease.instance, case).await.transpose() {
            Ok(run) => run,
            Err(death) => return Err(broken_off(self, case, death)),
        };
        let edge = lease.instance.case_context(&case.id, case.level, exclusive, context.request_timeout());
        let lease = EdgeLease { lease, exclusive, run, turn, job };
        Ok(Leased { lease, context: edge, began, limit: context.case_timeout(case) })
    }

    fn hold_text(&self, case: &Case<Edge>, leased: &mut Leased<Self>) -> String {
        let call = Call::new(case, &leased.lease.lease.instance, &mut leased.context);
        format!("\n{}", call.text)
    }

    async fn play(&self, case: &Case<Edge>, leased: &mut Leased<Self>) -> bool {
        let Leased { lease, context, limit, .. } = leased;
        self.run_with_fresh_edges(case, context, lease.exclusive, limit).await
    }

    /// Fails a case of any level: the edge may hang.
    fn time_out(leased: &mut Leased<Self>, check: Check) {
        leased.context.found.checks.push(check);
    }

    async fn release(&self, context: &RunnerContext, case: &Case<Edge>, leased: Leased<Self>) -> Released {
        let Leased { lease: EdgeLease { lease, run, turn, job, .. }, context: mut edge, began, .. } = leased;
        let later = edge.state.deferred.take();
        let mut found = edge.end();
        let log = lease.instance.edge.log().cloned();
        let settings = lease.instance.settings.clone();
        if let (Some(_), Some(log)) = (lease.instance.edge.pid(), &log)
            && found.checks.iter().any(|check| !check.ok)
        {
            wait_until_quiet(log).await;
        }
        let instance = Arc::clone(&lease.instance);
        let alone = lease.is_exclusive();
        let reusable = !alone || (later.is_none() && self.recover(context, &lease).await);
        // Other cases may use a shared edge while this case waits for its answer to a probe.
        let lease = alone.then_some(lease);
        let end = match run {
            None => CaseEnd::Survived,
            Some(run) => {
                // The next cases wait for an edge that may be gone.
                let _next = is_broken(&found).then_some((job, turn));
                let state = check_alive(&instance.edge, &found, later.is_none(), context.request_timeout());
                let is_excused = context.share_of_others(began, &found).is_some();
                run.end(case, &found, alone, is_excused, state).await
            }
        };
        if alone && matches!(end, CaseEnd::BrokenOff(_)) {
            self.note_exit(&instance);
        }
        drop(instance);
        if let Some(lease) = lease {
            lease.finish(reusable).await;
        }
        if let Some(later) = later {
            // A program may write its buffered log only when it stops.
            check_log(&later, log.as_ref(), case, &mut found);
        }
        let redactor = &self.options().redactor;
        check_secrets(redactor, &mut found);
        let notes = notes(settings.as_ref(), log.as_ref(), redactor);
        Released { found, end, notes: Some(notes) }
    }

    fn exchanges(&self) -> usize {
        self.exchanges()
    }

    async fn end_requests(&self, context: &RunnerContext) {
        monitors::end_requests(self, context).await;
    }

    fn is_gone(&self) -> bool {
        self.is_gone()
    }

    async fn judge(
        &self,
        _context: &RunnerContext,
        monitor: EdgeMonitor,
        level: CaseLevel,
    ) -> Result<CaseFindings, String> {
        Ok(monitors::judge_edges(self, monitor, level))
    }

    async fn unreported_deaths(&self) -> Vec<String> {
        self.unreported_deaths().await
    }

    async fn added_latency(&self, context: &RunnerContext) -> Option<AddedLatency> {
        latency::measure(self, context).await
    }

    async fn end(&self, interrupted: bool) {
        // An embedded edge holds nothing that is worth waiting for: dropping it is enough.
        match self.options().target {
            _ if interrupted => self.end().await,
            Target::Embedded(_) => {}
            _ => self.stop().await,
        }
    }
}

impl EdgePool {
    /// Runs the steps of a case, and starts further edges for them. Yields whether they ended in time.
    pub(super) async fn run_with_fresh_edges(
        &self,
        case: &Case<Edge>,
        edge: &mut EdgeCaseContext,
        exclusive: bool,
        limit: &TimeLimit,
    ) -> bool {
        if let Some(mode) = case.settings.listener {
            if !edge.set_listener(mode).await {
                return true;
            }
            // Not judged: these requests only prepare the case.
            edge.weakest = CaseLevel::Open;
            edge.use_up_closed().await;
            edge.weakest = CaseLevel::Must;
        }
        if !exclusive || !self.options().starts_edges() {
            return case.play(edge, limit).await;
        }
        let (fresh_edges, mut requests) = FreshEdges::channel();
        edge.state.fresh_edges = Some(fresh_edges);
        let mut latest = None;
        let in_time = tokio::select! {
            in_time = case.play(edge, limit) => in_time,
            () = self.start_fresh_edges(case.settings.setup, &mut requests, &mut latest) => false,
        };
        stop(latest).await;
        in_time
    }

    /// Starts an edge for each request, and stops the one before it, so that it writes its buffered log.
    async fn start_fresh_edges(
        &self,
        setup: Setup,
        requests: &mut mpsc::UnboundedReceiver<FreshEdgeRequest>,
        latest: &mut Option<Arc<EdgeInstance>>,
    ) {
        while let Some(reply) = requests.recv().await {
            stop(latest.take()).await;
            *latest = self.start_edge(setup).await.ok();
            let _ = reply.send(latest.as_ref().map(|instance| Arc::clone(&instance.context)));
        }
    }

    /// Restores the service after an exclusive case, and waits until the edge uses it again. Yields whether it does.
    pub(super) async fn recover(&self, context: &RunnerContext, lease: &Lease) -> bool {
        let Some(service) = &lease.instance.context.service else { return true };
        let usual = ListenerMode::Tls(Role::ServiceServer);
        if service.mode() != usual && service.set_mode(usual).await.is_err() {
            return false;
        }
        if service.take_closed() {
            let timeout = context.request_timeout();
            let mut edge = lease.instance.case_context(RECOVERY, CaseLevel::Open, false, timeout);
            edge.script(Script::accept(&self.options().profile));
            edge.use_up_closed().await;
        }
        for _ in 0..RECOVERY_TRIES {
            let mut edge =
                lease.instance.case_context(RECOVERY, CaseLevel::Must, false, context.request_timeout());
            edge.script(Script::accept(&self.options().profile));
            match edge.send(&collection()).await.reply {
                reply if edge.is_accepted(&reply) => return true,
                // Each further try would take as long.
                Err(NoAnswer::TimedOut(_)) => return false,
                _ => {}
            }
        }
        false
    }

    /// Reports a case whose edge did not start. Without the standard settings nothing is proven. With other settings
    /// the case fails: the edge must start and relay with these settings too.
    fn not_started(
        &self,
        context: &RunnerContext,
        case: &Case<Edge>,
        why: &LeaseError,
        began: Instant,
    ) -> CaseReport {
        let why_text = edgeproof_cli::error_text(why);
        let (cause, last_output) = match why {
            LeaseError::Start(why) if case.settings.setup != Setup::Standard => {
                (start_failure(why), why.last_output().to_vec())
            }
            _ => return without_run(case, Outcome::NotRun, &why_text),
        };
        let mut found = CaseFindings::default();
        if case.settings.start == CaseLevel::Open {
            found.observations.push((case.id.clone(), "does not start".into()));
            if case.level != CaseLevel::Open {
                // What the case forbids cannot happen.
                found.checks.push(Check::process(ProcessEnd::Open, Edge::SUBJECT, None));
            }
            context.judge_observations(case, &mut found, true);
        } else if is_not_ready(why) {
            // The edge hangs or the machine is slow: neither is proven.
            let because = format!("{why_text}; if the edge only starts slowly, raise --ready-timeout");
            return without_run(case, Outcome::NotRun, &because);
        } else if cause.is_none() {
            // Not the edge failed: there is no free port, or no such host.
            return without_run(case, Outcome::NotRun, &why_text);
        } else {
            let check = Check::process(ProcessEnd::NotStarted, Edge::SUBJECT, cause)
                .which(&format!("with {}", case.settings.setup.describe()));
            found.checks.push(check.at(case.settings.start).advise(Advice::StartRefused));
        }
        let notes = (!last_output.is_empty()).then(|| EdgeNotes { settings: Vec::new(), log: last_output });
        after_run(case, &found, began.elapsed(), notes, &self.options().redactor)
    }
}

/// Stops an edge that no other case uses.
async fn stop(instance: Option<Arc<EdgeInstance>>) {
    if let Some(instance) = instance.and_then(Arc::into_inner) {
        if let (Some(_), Some(log)) = (instance.edge.pid(), instance.edge.log()) {
            wait_until_quiet(log).await;
        }
        instance.edge.stop().await;
    }
}

/// Whether the program runs, but does not answer.
fn is_not_ready(why: &LeaseError) -> bool {
    matches!(why, LeaseError::Start(why) if matches!(**why, StartError::Launch(LaunchError::NotReady { .. })))
}

/// How a program or the reference edge failed to start. None: it was not tried, or it may still start.
fn start_failure(why: &StartError) -> Option<ProcessError> {
    match why {
        StartError::Launch(LaunchError::NotStarted { command, why }) => {
            Some(ProcessError::NotStarted { command: command.into(), error: why.to_string().into() })
        }
        StartError::Launch(LaunchError::ExitedEarly { command, status, .. }) => {
            Some(ProcessError::ExitedEarly { command: command.into(), status: status.to_string().into() })
        }
        StartError::Embedded(error) => Some(ProcessError::Refused(edgeproof_cli::error_text(error).into())),
        StartError::Launch(
            LaunchError::NoPort(_) | LaunchError::NotReady { .. } | LaunchError::Address(_),
        )
        | StartError::Unreachable { .. }
        | StartError::Address(_) => None,
    }
}

/// Checks whether an edge survived a case. `probes`: one more request in the log does not affect the case.
async fn check_alive(edge: &RunningEdge, found: &CaseFindings, probes: bool, limit: Duration) -> TargetState {
    let probe = || edge.probe(limit);
    if edge.pid().is_none() {
        return probe_state(found, probe).await;
    }
    let refused = |why: &NoAnswer| {
        matches!(why, NoAnswer::NotConnected(_) | NoAnswer::NoTls(_) | NoAnswer::Closed | NoAnswer::Reset)
    };
    let mut suspicious = is_broken(found);
    if !suspicious && probes {
        suspicious = probe().await.is_err_and(|why| refused(&why));
    }
    // The broken connection often shows before the exit of the program. Other processes can keep its output open.
    let exit = if suspicious {
        timeout(EXIT_TIMEOUT, edge.died()).await.ok().or_else(|| edge.exited())
    } else {
        edge.exited()
    };
    exit.map_or(TargetState::Alive, |exit| {
        TargetState::Replaced(DeathEvidence::Exit(exit.status.to_string().into()))
    })
}

/// Waits for the lines that a program still writes about a wrong answer.
pub(super) async fn wait_until_quiet(log: &LogTail) {
    let quiet =
        async { while !log.wait(log.mark(), LOG_QUIET, |lines| !lines.is_empty()).await.is_empty() {} };
    // A program that never stops writing has written enough by then.
    let _ = timeout(LOG_TIMEOUT, quiet).await;
}

/// Makes the check of the log that a case left for its end.
pub(super) fn check_log(
    later: &DeferredLogCheck,
    log: Option<&LogTail>,
    case: &CaseFacts,
    found: &mut CaseFindings,
) {
    let lines = log.into_iter().flat_map(|log| log.since(later.since)).map(|line| line.text);
    let check = (later.check)(&lines.collect::<Vec<_>>());
    found.check(check, case.level);
}

/// Fails any case in which an answer contains a credential.
pub(super) fn check_secrets(redactor: &Redactor, found: &mut CaseFindings) {
    let mut answers = found.sent.iter().map(|exchange| &exchange.sent.reply).filter(|reply| reply.is_ok());
    let leak = answers.find_map(|reply| {
        Some(judge::no_secrets(Secrets::Edge, |bytes| redactor.finds(bytes), reply)).filter(|check| !check.ok)
    });
    // The cases about credentials have this check already.
    found.checks.extend(leak.filter(|leak| !found.checks.contains(leak)));
}

/// Settings and last log lines of the edge, redacted.
fn notes(settings: Option<&EdgeSettings>, log: Option<&LogTail>, redactor: &Redactor) -> EdgeNotes {
    let lines = log.map(|log| log.last(LOG_SHOWN)).unwrap_or_default();
    EdgeNotes {
        settings: settings.map(EdgeSettings::redacted).unwrap_or_default(),
        log: lines.iter().map(|line| redactor.redact(&line.visible()).into_owned()).collect(),
    }
}
