use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use edgeproof_fixtures::credentials::{EdgeSettings, Redactor, Role};
use edgeproof_reports::{CaseLevel as Level, CaseReport, EdgeNotes, Outcome};
use tokio::sync::{Semaphore, mpsc};
use tokio::time::timeout;

use super::edge_pool::{EdgeInstance, EdgePool, Lease, LeaseError};
use super::pins::Pins;
use super::reason_probe::{hides_reason, reason_probes};
use super::runner::Runner;
use super::{SanityProbe, outcome};
use crate::cases::{Case, CaseContext, CaseFindings, MARKER, Procedure, collection};
use crate::judge::{self, Check};
use crate::target::{Setup, StartError};
use edgeproof_http::NoAnswer;
use edgeproof_launch::{ExitInfo, LaunchError, LogTail};
use edgeproof_mock::{ListenerMode, Script};

/// Lines of an edge's log in a report.
const LOG_SHOWN: usize = 12;
/// How long a line of an edge's log may come after the answer that it belongs to.
const LOG_QUIET: Duration = Duration::from_millis(50);
/// How long an edge that never stops logging is listened to.
const LOG_LIMIT: Duration = Duration::from_millis(200);
/// How long the end of an edge may show after the connection that it broke.
const DEATH_LIMIT: Duration = Duration::from_millis(200);

/// Collections that an edge gets to notice that its service is as it was.
const SETTLE_TRIES: usize = 3;

/// How cases are played.
#[derive(Debug)]
pub struct RunOptions {
    /// Cases at the same time.
    pub jobs: usize,
    /// Longest time for a case, beyond what it is known to take.
    pub case_timeout: Duration,
    /// How often each case is played; the first time that is not right counts.
    pub repeat: usize,
    /// Seed of the order, where it is to be shuffled.
    pub shuffle: Option<u64>,
    /// A case to stop before.
    pub hold: Option<String>,
    /// How the target is known to behave at open points.
    pub pins: Pins,
    /// Find out first whether anything can be proven, and play nothing where it cannot. Only the proof of the cases does
    /// without: it wants to know what a case says by itself.
    pub probes_sanity: bool,
    /// Measure the latency that the edge adds, after everything else.
    pub latency: bool,
}

/// What a played case tells the run.
pub(super) enum Message {
    Began(String),
    Notice(String),
    Ended(usize, Box<CaseReport>),
}

/// Plays cases where they belong.
pub struct Player<A> {
    pub(super) runner: Arc<A>,
    pub(super) options: Arc<RunOptions>,
    pub(super) messages: mpsc::UnboundedSender<Message>,
}

/// What came of playing a case once.
struct Played {
    report: CaseReport,
    /// The edge died, and others were using it.
    in_company: bool,
}

impl<A: Runner> Player<A> {
    /// Plays a case, as often as asked for, and tells what came of it.
    pub(super) async fn play(self, index: usize, case: Arc<Case>, jobs: &Semaphore) {
        let mut last = None;
        for round in 0..self.options.repeat.max(1) {
            let mut report = A::play_once(&self, &case, jobs).await;
            let right = matches!(report.outcome, Outcome::Pass | Outcome::Observed | Outcome::NotApplicable);
            if !right && self.options.repeat > 1 {
                report.because = format!("time {} of {}: {}", round + 1, self.options.repeat, report.because);
            }
            last = Some(report);
            if !right {
                break;
            }
        }
        if let Some(report) = last {
            // Nobody listens any more once the run was cut short.
            let _ = self.messages.send(Message::Ended(index, Box::new(report)));
        }
    }

    /// Longest wait for one answer.
    pub(super) fn limit(&self) -> Duration {
        self.options.case_timeout.mul_f32(0.5)
    }

    /// Says that a case begins.
    pub(super) fn begin(&self, case: &Case) {
        let _ = self.messages.send(Message::Began(case.id.clone()));
    }

    /// Tells how to call what is proven, and waits for a line from whoever looks at it.
    pub(super) async fn hold_for_a_line(&self, text: String) {
        let _ = self.messages.send(Message::Notice(text + "\npress Enter to go on"));
        // A thread of its own: the runtime would wait for one of its threads when a signal ends the run.
        let (come, line) = tokio::sync::oneshot::channel();
        std::thread::spawn(move || come.send(std::io::stdin().read_line(&mut String::new())));
        // Whether a line came or standard input is closed, it goes on.
        let _ = line.await;
    }
}

impl<A> Clone for Player<A> {
    fn clone(&self) -> Self {
        let (runner, options) = (Arc::clone(&self.runner), Arc::clone(&self.options));
        Self { runner, options, messages: self.messages.clone() }
    }
}

impl Player<EdgePool> {
    /// A plain collection, outside of any case.
    pub(super) async fn probe_sanity(&self) -> SanityProbe {
        let lease = self.runner.lease(self.runner.reserve(Setup::Standard, false).await).await?;
        let mut context = self.context(&lease.instance, false, Level::Must);
        context.script(Script::accept(&self.runner.options().profile));
        context.send(&collection()).await;
        Ok(context.end())
    }

    /// Whether the edge reads no reason at all: then, what the mock service's reply looks like.
    pub(super) async fn reasons(&self) -> Option<String> {
        let lease = self.runner.lease(self.runner.reserve(Setup::Standard, false).await).await.ok()?;
        let shape = &self.runner.options().shape;
        lease.instance.context.service.as_ref()?;
        let spec = &self.runner.options().spec;
        let probes = reason_probes(spec);
        for (status, reason) in &probes {
            let mut context = self.context(&lease.instance, false, Level::Must);
            context.script(Script::refuse(shape, *status, reason));
            if !hides_reason(spec, *status, &context.send(&collection()).await.reply) {
                return None;
            }
        }
        probes.first().map(|(status, reason)| shape.render(*status, reason).to_string())
    }

    /// A context on this edge.
    pub(super) fn context(&self, instance: &EdgeInstance, alone: bool, level: Level) -> CaseContext {
        CaseContext::new(Arc::clone(&instance.context), next_marker(), alone, level, self.limit())
    }

    /// Plays a case once, and again alone where its edge died in company.
    pub(super) async fn play_on_an_edge(&self, case: &Arc<Case>, jobs: &Semaphore) -> CaseReport {
        let played = self.play_on(case, case.exclusive, jobs).await;
        if !played.in_company {
            return played.report;
        }
        // Its edge died while others used it as well: alone it shows whose fault that is.
        self.play_on(case, true, jobs).await.report
    }

    async fn play_on(&self, case: &Arc<Case>, alone: bool, jobs: &Semaphore) -> Played {
        let place = self.runner.reserve(case.setup, alone).await;
        let _job = jobs.acquire().await.expect("the semaphore is never closed");
        self.begin(case);
        let began = Instant::now();
        let lease = match self.runner.lease(place).await {
            Ok(lease) => lease,
            Err(why) => return Played { report: self.not_started(case, &why, began), in_company: false },
        };
        let mut context = self.context(&lease.instance, alone, case.level);
        if self.options.hold.as_ref() == Some(&case.id) {
            self.hold(case, &lease, &mut context).await;
        }
        let limit = self.options.case_timeout + case.takes;
        let in_time = match &case.procedure {
            Procedure::Conversation(conversation) => {
                timeout(limit, context.converse(conversation)).await.map(drop).is_ok()
            }
            Procedure::Conversations(all) => timeout(limit, context.converse_each(all)).await.is_ok(),
            Procedure::EdgeSteps(steps) => timeout(limit, steps(&mut context)).await.is_ok(),
            Procedure::ServiceSteps(_) => {
                context.found.not_run = Some("it is for a service, and this is an edge".into());
                true
            }
        };
        let later = context.deferred.take();
        let mut found = context.end();
        if !in_time {
            let words = humantime::format_duration(limit).to_string();
            found.checks.push(Check::new("time", format!("an end within {words}"), "none", false));
        }
        let death = died(&lease.instance, &found).await;
        let in_company = death.is_some() && !alone;
        if let Some(exit) = death {
            found.checks.push(Check::new("the edge", "lives on", exit.to_string(), false));
        }
        leaks(&self.runner.options().redactor, &mut found);
        self.options.pins.check(&mut found);
        if let (Some(_), Some(log)) = (lease.instance.edge.pid(), lease.instance.edge.log())
            && found.checks.iter().any(|check| !check.ok)
        {
            quiet(log).await;
        }
        let options = self.runner.options();
        let log = lease.instance.edge.log().cloned();
        let settings = lease.instance.settings.clone();
        if let Some(later) = later {
            // What an edge keeps in its buffers it writes when it is told to end, or never.
            lease.end().await;
            let lines = log.iter().flat_map(|log| log.since(later.since)).map(|line| line.text);
            let mut check = (later.check)(&lines.collect::<Vec<_>>());
            check.level = check.level.max(case.level);
            found.checks.push(check);
        } else {
            let sound = !lease.is_alone() || self.settle(&lease).await;
            lease.give_back(sound);
        }
        let notes = notes(settings.as_ref(), log.as_ref(), &options.redactor);
        let report = outcome::report(case, &found, began.elapsed(), Some(notes), &options.redactor);
        Played { report, in_company }
    }

    /// What a case that had the edge to itself did to its connections is over: the service is as it was, and the edge
    /// has noticed.
    async fn settle(&self, lease: &Lease) -> bool {
        let Some(service) = &lease.instance.context.service else { return true };
        let usual = ListenerMode::Tls(Role::ServiceServer);
        if service.mode() != usual && service.set_mode(usual).await.is_err() {
            return false;
        }
        for _ in 0..SETTLE_TRIES {
            let mut context = self.context(&lease.instance, false, Level::Must);
            context.script(Script::accept(&self.runner.options().profile));
            match context.send(&collection()).await.reply {
                Ok(answer) if answer.status == 200 => return true,
                // It would take as long each time.
                Err(NoAnswer::TimedOut(_)) => return false,
                _ => {}
            }
        }
        false
    }

    /// An edge that does not start with the usual settings proves nothing. One that starts with those, and not with
    /// others, is judged: it has to relay all the same.
    fn not_started(&self, case: &Case, why: &LeaseError, began: Instant) -> CaseReport {
        let why_text = edgeproof_cli::error_text(why);
        if case.setup == Setup::Standard || matches!(why, LeaseError::Service(_)) {
            return outcome::unplayed(case, Outcome::NotRun, &why_text);
        }
        // It runs and is silent: it hangs, or the machine is slow. Neither is proven.
        if matches!(why, LeaseError::Start(why) if matches!(**why, StartError::Launch(LaunchError::NotReady { .. })))
            && !case.may_refuse_to_start
        {
            let because = format!("{why_text}; if it only takes longer, --ready-timeout gives it the time");
            return outcome::unplayed(case, Outcome::NotRun, &because);
        }
        let mut found = CaseFindings::default();
        if case.may_refuse_to_start {
            found.observations.push((case.id.clone(), "does not start".into()));
        } else {
            let expected = format!("starts with {}", case.setup.describe());
            let check = Check::new("the edge", expected, why_text, false);
            found.checks.push(check.hint(
                "settings are judged by the service; what an edge cannot use it finds out when it relays",
            ));
        }
        let last = match why {
            LeaseError::Start(why) => why.last_output().to_vec(),
            LeaseError::Service(_) => Vec::new(),
        };
        let notes = (!last.is_empty()).then(|| EdgeNotes { settings: Vec::new(), log: last });
        outcome::report(case, &found, began.elapsed(), notes, &self.runner.options().redactor)
    }

    /// Says how to call the edge, and waits for a line from whoever looks at it.
    async fn hold(&self, case: &Case, lease: &Lease, context: &mut CaseContext) {
        let mut text =
            format!("held before {}: {}\nedge: {}", case.id, case.title, context.edge.endpoint.url());
        if let Some(pid) = lease.instance.edge.pid() {
            _ = write!(text, ", process {pid}");
        }
        if let Some(service) = &context.edge.service {
            _ = write!(text, "\nservice: {}", service.url());
        }
        for setting in lease.instance.settings.as_ref().map(EdgeSettings::redacted).unwrap_or_default() {
            _ = write!(text, "\n  {setting}");
        }
        if let Procedure::Conversation(conversation) = &case.procedure {
            context.script(conversation.script.clone().unwrap_or_else(Script::decide));
            let draft = context.fill(&conversation.draft);
            if let Some(curl) = crate::curl::curl(&context.edge.endpoint, &draft) {
                _ = write!(text, "\nthe service is ready for:\n  {curl}");
            }
        }
        self.hold_for_a_line(text).await;
    }
}

/// The edge died during this case, as far as that can be seen.
async fn died(instance: &EdgeInstance, found: &CaseFindings) -> Option<ExitInfo> {
    let broken = |reply: &Result<_, NoAnswer>| {
        matches!(
            reply,
            Err(NoAnswer::Closed | NoAnswer::Reset | NoAnswer::NotConnected(_) | NoAnswer::NotHttp(_))
        )
    };
    if found.sent.iter().any(|asked| broken(&asked.sent.reply)) {
        return timeout(DEATH_LIMIT, instance.edge.died()).await.ok();
    }
    instance.edge.exited()
}

/// Waits for what a program still writes about a wrong answer that it gave.
async fn quiet(log: &LogTail) {
    let listening =
        async { while !log.wait(log.mark(), LOG_QUIET, |lines| !lines.is_empty()).await.is_empty() {} };
    // One that writes all the time has written enough by then.
    let _ = timeout(LOG_LIMIT, listening).await;
}

/// Whatever a case is about: an answer with a credential in it is wrong.
fn leaks(redactor: &Redactor, found: &mut CaseFindings) {
    let mut answers = found.sent.iter().map(|asked| &asked.sent.reply).filter(|reply| reply.is_ok());
    let leak = answers.find_map(|reply| {
        Some(judge::no_secrets(judge::EDGE_SECRETS, |bytes| redactor.finds(bytes), reply))
            .filter(|check| !check.ok)
    });
    // The cases that are about it have found it themselves.
    found.checks.extend(leak.filter(|leak| !found.checks.contains(leak)));
}

fn notes(settings: Option<&EdgeSettings>, log: Option<&LogTail>, redactor: &Redactor) -> EdgeNotes {
    let clean = |text: &str| redactor.redact(&edgeproof_reports::escape::visible(text)).into_owned();
    EdgeNotes {
        settings: settings.map(EdgeSettings::redacted).unwrap_or_default(),
        log: log
            .map(|log| log.last(LOG_SHOWN))
            .unwrap_or_default()
            .iter()
            .map(|line| clean(&line.text))
            .collect(),
    }
}

/// A text that no other case sends, as long as its placeholder, so that sizes on the wire are known beforehand.
pub(super) fn next_marker() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let mut number = NEXT.fetch_add(1, Ordering::Relaxed);
    let mut marker = *b"q0000000";
    for digit in marker.iter_mut().skip(1).rev() {
        *digit = b"0123456789bcdfghjklmnpqrstvwxyz"[(number % 31) as usize];
        number /= 31;
    }
    let marker = String::from_utf8_lossy(&marker).into_owned();
    debug_assert_eq!(marker.len(), MARKER.len());
    marker
}
