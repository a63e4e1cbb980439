use edgeproof_fixtures::spec::Spec;
use edgeproof_http::{Draft, NoAnswer};
use edgeproof_reports::CaseLevel;
use edgeproof_reports::difference::AnswerSubject;

use crate::cases::service::expected::{AVAILABLE, Expected, status};
use crate::cases::service::stable_values::StableValues;
use crate::cases::{Case, CaseList, Service, ServiceCaseContext, ServiceNeed};
use crate::judge::{self, AnswerResult, Check};

/// Further plain readings of a verdict that differs from the first one: servers behind one address take turns.
const FURTHER_READINGS: usize = 4;
/// Most wrong answers of a case.
const MOST_WRONG: usize = 16;

/// One request of a variation, with its expected answer.
#[derive(Clone)]
pub(in crate::cases) struct Probe {
    /// The varied value, as a finding names it.
    name: String,
    draft: Draft,
    expected: Expected,
    level: CaseLevel,
    /// The server may close the connection in place of an answer.
    may_close: bool,
}

/// Makes the probes of a case. The reference is that of a session with a verdict, if the case requires one, or unknown.
pub(super) trait MakeProbes:
    Fn(&ServiceCaseContext, &str) -> Vec<Probe> + Clone + Send + Sync + 'static
{
}

impl<M: Fn(&ServiceCaseContext, &str) -> Vec<Probe> + Clone + Send + Sync + 'static> MakeProbes for M {}

impl Probe {
    /// A request, and the answer that it must get.
    pub(in crate::cases) fn new(name: impl Into<String>, draft: Draft, expected: Expected) -> Self {
        Self { name: name.into(), draft, expected, level: CaseLevel::Must, may_close: false }
    }

    /// A request with the read token for an unknown session.
    pub(super) fn pending(name: impl Into<String>, context: &ServiceCaseContext, reference: &str) -> Self {
        Self::new(name, context.with_token(reference).draft(), Expected::Pending(reference.to_owned()))
    }

    /// A request without a read token. `change` varies it.
    pub(super) fn unauthorized(
        name: impl Into<String>,
        context: &ServiceCaseContext,
        reference: &str,
        change: impl Fn(Draft) -> Draft,
    ) -> Self {
        Self::new(name, change(context.verdict(reference).draft()), Expected::Unauthorized)
    }

    /// Replaces the name.
    #[must_use]
    pub(in crate::cases) fn named(mut self, name: String) -> Self {
        self.name = name;
        self
    }

    /// Replaces the level.
    #[must_use]
    pub(super) fn at(mut self, level: CaseLevel) -> Self {
        self.level = level;
        self
    }

    /// Lowers the level.
    #[must_use]
    pub(in crate::cases) fn should(mut self) -> Self {
        self.level = CaseLevel::Should;
        self
    }

    /// Permits that the server closes the connection: many do so for methods that they do not know.
    #[must_use]
    pub(super) fn may_close(mut self) -> Self {
        self.may_close = true;
        self
    }

    /// The same probe with another request.
    #[must_use]
    pub(in crate::cases) fn map(mut self, change: impl Fn(Draft) -> Draft) -> Self {
        self.draft = change(self.draft);
        self
    }

    /// The varied value.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The request.
    pub(in crate::cases) fn draft(&self) -> &Draft {
        &self.draft
    }

    fn expects_verdict(&self) -> bool {
        matches!(self.expected, Expected::Verdict)
    }

    /// Compares an answer with the expectation. Each check names the probe.
    pub(in crate::cases) fn judge(&self, spec: &Spec, reply: &AnswerResult) -> Vec<Check> {
        let mut checks = judge::transport(&self.draft, reply);
        checks.extend(self.expected.judge(spec, reply));
        // A server may have a limit below the one that RFC 9110 §4.1 recommends.
        let own = if judge::refuses_short_uri(&self.draft, reply) { CaseLevel::Should } else { self.level };
        let level = |check: &Check| check.level.max(own);
        checks.into_iter().map(|check| check.clone().of(&self.name).at(level(&check))).collect()
    }
}

/// Adds a case that sends each probe over a connection of its own.
pub(super) fn probe_each<'c>(
    cases: &'c mut CaseList<'_, Service>,
    text: [&str; 3],
    requires: &'static [ServiceNeed],
    make: impl MakeProbes,
) -> &'c mut Case<Service> {
    probe(cases, text, requires, false, make)
}

/// Adds a case that sends its probes over one connection. A server may close a connection after any answer.
pub(super) fn probe_in_turn<'c>(
    cases: &'c mut CaseList<'_, Service>,
    text: [&str; 3],
    requires: &'static [ServiceNeed],
    make: impl MakeProbes,
) -> &'c mut Case<Service> {
    probe(cases, text, requires, true, make)
}

fn probe<'c>(
    cases: &'c mut CaseList<'_, Service>,
    [row, id, title]: [&str; 3],
    requires: &'static [ServiceNeed],
    in_turn: bool,
    make: impl MakeProbes,
) -> &'c mut Case<Service> {
    let has_session = requires.contains(&ServiceNeed::Session);
    cases
        .case(row, id, title)
        .steps(steps!(with(make), async |context| {
            let Some(reference) = reference(context, has_session).await else { return };
            let probes = make(context, &reference);
            let reads = probes.iter().any(Probe::expects_verdict);
            let first = if reads { Some(read(context, &reference).await) } else { None };
            let replies = if in_turn {
                send_in_turn(context, &probes).await
            } else {
                send_each(context, &probes).await
            };
            if let Some(first) = first {
                same_verdict(context, &reference, &first, &probes, &replies).await;
            }
        }))
        .requires(requires)
}

/// The verdict, as a plain request gets it.
async fn read(context: &mut ServiceCaseContext, reference: &str) -> AnswerResult {
    context.fetch_verdict(&context.with_token(reference)).await
}

/// Whatever a request for a verdict varies, it gets the same verdict as a plain one. `first`: the plain verdict before all of
/// them. Members may name the instance that answers or the address that was asked for, so only a member that is missing breaks a
/// `must`.
async fn same_verdict(
    context: &mut ServiceCaseContext,
    reference: &str,
    first: &AnswerResult,
    probes: &[Probe],
    replies: &[AnswerResult],
) {
    let mut stable = StableValues::of(first, &read(context, reference).await);
    let is_verdict = |context: &ServiceCaseContext, reply| status(context.spec(), AVAILABLE, reply).ok;
    for (probe, reply) in probes.iter().zip(replies).filter(|(probe, _)| probe.expects_verdict()) {
        // An answer of another status is judged already.
        if !is_verdict(context, reply) || stable.is_in(reply) {
            continue;
        }
        for _ in 0..FURTHER_READINGS {
            stable.keep(&read(context, reference).await);
        }
        if !stable.is_in(reply) {
            let level = if stable.has_places_in(reply) { CaseLevel::Should } else { probe.level };
            let check = judge::same_answer(AnswerSubject::AsTheVerdictBefore, first, reply);
            // The first other verdict says enough.
            return context.check(check.of(&probe.name).at(level));
        }
    }
}

async fn send_each(context: &mut ServiceCaseContext, probes: &[Probe]) -> Vec<AnswerResult> {
    let (mut replies, mut wrong) = (Vec::new(), 0);
    for probe in probes {
        let timeout = context.timeout;
        context.weakest = probe.level;
        let sent = context.send(&probe.draft, timeout).await;
        context.found.varied += 1;
        if probe.may_close && matches!(sent.reply, Err(NoAnswer::Closed | NoAnswer::Reset)) {
            replies.push(sent.reply);
            continue;
        }
        let checks = probe.judge(context.spec(), &sent.reply);
        wrong += usize::from(checks.iter().any(|check| !check.ok));
        context.checks(checks);
        let ended = sent.reply.is_err();
        replies.push(sent.reply);
        // Further wrong answers show nothing new.
        if ended || wrong == MOST_WRONG {
            break;
        }
    }
    replies
}

async fn send_in_turn(context: &mut ServiceCaseContext, probes: &[Probe]) -> Vec<AnswerResult> {
    let mut replies = Vec::new();
    let drafts: Vec<Draft> = probes.iter().map(|probe| probe.draft.clone()).collect();
    let sent = context.send_in_turn(context.service(), &drafts).await;
    for (number, (probe, sent)) in probes.iter().zip(sent).enumerate() {
        let ended = sent.reply.is_err();
        let may_close = number > 0 && !matches!(sent.reply, Err(NoAnswer::TimedOut(_)));
        let reply = sent.reply.clone();
        context.weakest = probe.level;
        context.record(&probe.draft, sent);
        if !(ended && may_close) {
            context.found.varied += 1;
            context.checks(probe.judge(context.spec(), &reply));
        }
        replies.push(reply);
        if ended {
            break;
        }
    }
    replies
}

/// Reference of a session with a verdict, or of no session.
async fn reference(context: &mut ServiceCaseContext, has_session: bool) -> Option<String> {
    if has_session { context.session().await } else { Some(context.reference("vary")) }
}
