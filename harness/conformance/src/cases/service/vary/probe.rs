use edgeproof_fixtures::spec::{Spec, Stimulus, Table};
use edgeproof_http::{Draft, NoAnswer};
use edgeproof_reports::CaseLevel;
use edgeproof_reports::difference::Statuses;

use crate::cases::context::row;
use crate::cases::service::expected::{EXPIRED, PENDING, UNAUTHORIZED, answer, code};
use crate::cases::{Case, CaseList, CaseTarget, Service, ServiceCaseContext, ServiceNeed};
use crate::judge::{self, AnswerResult, Check, ReasonCode};

/// One request of a variation, with its expected answer.
#[derive(Clone)]
pub(in crate::cases) struct Probe {
    /// The varied value, as a finding names it.
    name: String,
    draft: Draft,
    expected: Expected,
    level: CaseLevel,
}

/// The expected answer of a probe.
#[derive(Clone)]
pub(in crate::cases) enum Expected {
    /// Pending, with exactly this reference.
    Pending(String),
    /// The answer to a request without a read token.
    Unauthorized,
    /// Status 401, and a code for a token that is damaged or no read token.
    Damaged,
    /// The verdict.
    Verdict,
    /// One of these statuses.
    Status(&'static [u16]),
    /// Any answer below 500.
    NoServerError,
    /// The refusal of an expired read token.
    Expired,
}

/// Makes the probes of a case. The reference is that of a session with a verdict, if the case requires one, or unknown.
pub(super) type MakeProbes = fn(&ServiceCaseContext, &str) -> Vec<Probe>;

impl Probe {
    /// A request, and the answer that it must get.
    pub(in crate::cases) fn new(name: impl Into<String>, draft: Draft, expected: Expected) -> Self {
        Self { name: name.into(), draft, expected, level: CaseLevel::Must }
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
    pub(super) fn named(mut self, name: String) -> Self {
        self.name = name;
        self
    }

    /// Lowers the level.
    #[must_use]
    pub(in crate::cases) fn should(mut self) -> Self {
        self.level = CaseLevel::Should;
        self
    }

    /// The same probe with another request.
    #[must_use]
    pub(super) fn map(mut self, change: impl Fn(Draft) -> Draft) -> Self {
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

    /// Compares an answer with the expectation. Each check names the probe.
    pub(in crate::cases) fn judge(&self, spec: &Spec, reply: &AnswerResult) -> Vec<Check> {
        let mut checks = judge::transport(&self.draft, reply);
        checks.extend(self.expected.judge(spec, reply));
        let level = |check: &Check| check.level.max(self.level);
        checks.into_iter().map(|check| check.clone().of(&self.name).at(level(&check))).collect()
    }
}

impl Expected {
    fn judge(&self, spec: &Spec, reply: &AnswerResult) -> Vec<Check> {
        let exact = |id: &str, reference: &str| judge::exact(&answer(row(spec, id), reference), reply);
        match self {
            Self::Pending(reference) => exact(PENDING, reference),
            Self::Unauthorized => exact(UNAUTHORIZED, ""),
            Self::Expired => exact(EXPIRED, ""),
            Self::Damaged => {
                vec![
                    judge::status_is(401, reply),
                    judge::is_json(reply),
                    judge::has_code(&codes_of_tokens(spec), reply),
                ]
            }
            Self::Verdict => vec![judge::status_is(200, reply), judge::has_verdict(reply)],
            Self::Status(statuses) => vec![judge::status_in(Statuses::OneOf(statuses.to_vec()), reply)],
            // 501 says that the service does not implement a method (RFC 9110 §15.6.2).
            Self::NoServerError => vec![judge::status_in(Statuses::NoServerErrorOr501, reply)],
        }
    }
}

/// The codes for a token that is damaged or no read token.
fn codes_of_tokens(spec: &Spec) -> Vec<ReasonCode> {
    let refusals = Stimulus::ALL.iter().filter(|stimulus| is_of_token(**stimulus));
    refusals.filter_map(|stimulus| spec.by_stimulus(Table::Verdict, *stimulus)).filter_map(code).collect()
}

/// Adds a case that sends each probe over a connection of its own.
pub(super) fn probe_each<'c>(
    cases: &'c mut CaseList<'_, Service>,
    text: [&str; 3],
    requires: &'static [ServiceNeed],
    make: MakeProbes,
) -> &'c mut Case<Service> {
    probe(cases, text, requires, Connections::OneEach, make)
}

/// Adds a case that sends its probes over one connection. A server may close a connection after any answer.
pub(super) fn probe_in_turn<'c>(
    cases: &'c mut CaseList<'_, Service>,
    text: [&str; 3],
    requires: &'static [ServiceNeed],
    make: MakeProbes,
) -> &'c mut Case<Service> {
    probe(cases, text, requires, Connections::One, make)
}

/// Connections of a case.
#[derive(Clone, Copy)]
enum Connections {
    /// One for all probes.
    One,
    /// One for each probe.
    OneEach,
}

fn probe<'c>(
    cases: &'c mut CaseList<'_, Service>,
    [row, id, title]: [&str; 3],
    requires: &'static [ServiceNeed],
    connections: Connections,
    make: MakeProbes,
) -> &'c mut Case<Service> {
    let has_session = requires.contains(&ServiceNeed::Session);
    cases
        .case(row, id, title)
        .steps(steps!(async |context| {
            let Some(reference) = reference(context, has_session).await else { return };
            let probes = make(context, &reference);
            match connections {
                Connections::One => send_in_turn(context, &probes).await,
                Connections::OneEach => send_each(context, &probes).await,
            }
        }))
        .requires(requires)
}

async fn send_each(context: &mut ServiceCaseContext, probes: &[Probe]) {
    for probe in probes {
        let timeout = context.timeout;
        let sent = context.send(&probe.draft, timeout).await;
        context.checks(probe.judge(context.target.spec(), &sent.reply));
        if sent.reply.is_err() {
            return;
        }
    }
}

async fn send_in_turn(context: &mut ServiceCaseContext, probes: &[Probe]) {
    let drafts: Vec<Draft> = probes.iter().map(|probe| probe.draft.clone()).collect();
    let sent = context.send_in_turn(&drafts).await;
    for (number, (probe, sent)) in probes.iter().zip(sent).enumerate() {
        let ended = sent.reply.is_err();
        let may_close = number > 0 && !matches!(sent.reply, Err(NoAnswer::TimedOut(_)));
        let reply = sent.reply.clone();
        context.record(&probe.draft, sent);
        if !(ended && may_close) {
            context.checks(probe.judge(context.target.spec(), &reply));
        }
        if ended {
            return;
        }
    }
}

/// Reference of a session with a verdict, or of no session.
async fn reference(context: &mut ServiceCaseContext, has_session: bool) -> Option<String> {
    if has_session { context.session().await } else { Some(context.reference("vary")) }
}

/// The stimulus damages a read token, or is another token. The order of a service's checks is open, so each of their codes
/// passes.
fn is_of_token(stimulus: Stimulus) -> bool {
    use Stimulus as S;
    matches!(
        stimulus,
        S::ReadTokenMissing
            | S::ReadTokenMalformed
            | S::ReadTokenTruncated
            | S::ReadTokenFooterDamaged
            | S::ReadTokenPayloadDamaged
            | S::ReadTokenSignatureAltered
            | S::ReadTokenKeyUnknown
    )
}
