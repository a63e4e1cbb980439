use std::future::pending;
use std::time::{Duration, SystemTime};

use edgeproof_fixtures::credentials::{ReadClaims, ReadTokenFault};
use edgeproof_fixtures::spec::Stimulus;
use edgeproof_fixtures::verdict::Grounds;
use edgeproof_http::StreamControl;
use http::header::AUTHORIZATION;
use tokio::time::Instant;

use super::magic::{self, MagicOutcome};
use super::wait::wait_ms;
use crate::decision::{ReadOutage, ServiceDecision, SessionFact, VerdictFacts, decide_verdict};
use crate::fault_hooks::ServiceRequest;
use crate::route::SessionRef;
use crate::state::{IssuedVerdict, ServiceState, SessionLookup};

/// Answers a request for a verdict. A long poll ends when the verdict is ready, when its time is over by the machine's
/// clock or the service's, or when the service stops. It also ends when the client closes its half of the connection:
/// the client may have left, and if not, an early answer does no harm.
pub(crate) async fn answer(
    state: &ServiceState,
    request: &ServiceRequest<'_>,
    reference: &SessionRef,
    query: Option<&str>,
    control: Option<&StreamControl>,
) -> VerdictAnswer {
    let now = state.clock.now();
    let token = read_token(request, state, now);
    let (token, forced) = match magic::find(state, request.headers, &reference.text, token, now) {
        MagicOutcome::Answer(decision) => return VerdictAnswer { decision, client_listens: true },
        MagicOutcome::Session(token, session_state) => (token, session_state),
    };
    let control = control.filter(|_| !state.hooks.ignores_disconnect());
    let checked = CheckedVerdictRequest { state, request, token, reference, forced };
    let (mut session, _) = checked.look(now);
    let longest = wait_ms(query, state.profile.wait_max);
    let mut client_listens = true;
    if !matches!(session, SessionFact::Ready(_)) && !longest.is_zero() && checked.may_wait() {
        let deadline = Deadline { real: Instant::now() + longest, clock: now.checked_add(longest) };
        let mut moved = state.clock.watch();
        let waiter = state.sessions.wait(&reference.text);
        loop {
            let changed = waiter.changed();
            tokio::pin!(changed);
            // Enabled before the lookup, so that it misses no change.
            changed.as_mut().enable();
            moved.mark_unchanged();
            let now = state.clock.now();
            let next;
            (session, next) = checked.look(now);
            let over = deadline.is_over(now) || state.sessions.is_closed();
            if matches!(session, SessionFact::Ready(_)) || over {
                break;
            }
            tokio::select! {
                () = changed => {}
                // The sender lives as long as the service, so this is never an error.
                _ = moved.changed() => {}
                () = tokio::time::sleep_until(deadline.or(next.and_then(|time| state.clock.until(time)))) => {}
                () = left(control) => {
                    client_listens = false;
                    break;
                }
            }
        }
    }
    VerdictAnswer { decision: checked.decide(session), client_listens }
}

/// Answer to a request for a verdict.
pub(crate) struct VerdictAnswer {
    pub(crate) decision: ServiceDecision,
    /// False if the client closed its half of the connection, so that it may have left.
    pub(crate) client_listens: bool,
}

/// A request for a verdict, with the result of its token check.
struct CheckedVerdictRequest<'a> {
    state: &'a ServiceState,
    request: &'a ServiceRequest<'a>,
    token: Result<ReadClaims, ReadTokenFault>,
    reference: &'a SessionRef,
    /// Session state that a magic value sets.
    forced: Option<Stimulus>,
}

/// End of a long poll.
struct Deadline {
    real: Instant,
    clock: Option<SystemTime>,
}

impl CheckedVerdictRequest<'_> {
    /// State of the session, and the time when its verdict is ready, if known.
    fn look(&self, now: SystemTime) -> (SessionFact, Option<SystemTime>) {
        let Ok(ReadClaims { license_id, .. }) = &self.token else { return (SessionFact::Unknown, None) };
        if !self.reference.is_text {
            return (SessionFact::Unknown, None);
        }
        if let Some(session_state) = self.forced {
            return (self.forced_session(session_state, license_id, now), None);
        }
        match self.state.sessions.look(&self.reference.text, license_id, now) {
            SessionLookup::Ready(issue) => (SessionFact::Ready(self.sign(&issue, license_id)), None),
            SessionLookup::Pending(next) => (SessionFact::Pending, next),
            SessionLookup::TooOld => (SessionFact::TooOld, None),
            SessionLookup::Unknown => (SessionFact::Unknown, None),
            SessionLookup::OtherLicense => (SessionFact::OtherLicense, None),
        }
    }

    /// State of a session that a magic value sets. A ready verdict is issued now.
    fn forced_session(&self, session_state: Stimulus, license_id: &str, now: SystemTime) -> SessionFact {
        match session_state {
            Stimulus::VerdictReady => SessionFact::Ready(self.sign(&IssuedVerdict::at(now), license_id)),
            Stimulus::VerdictPending => SessionFact::Pending,
            Stimulus::VerdictTooOld => SessionFact::TooOld,
            Stimulus::ReferenceOtherLicense => SessionFact::OtherLicense,
            _ => SessionFact::Unknown,
        }
    }

    fn sign(&self, issue: &IssuedVerdict, license_id: &str) -> bytes::Bytes {
        let sign = || {
            self.state.keys.issue(Grounds {
                license_id,
                session_ref: &self.reference.text,
                judgement: issue.judgement,
                issued_at: issue.at,
                lifetime: self.state.verdict_lifetime,
            })
        };
        issue.body.get_or_init(sign).clone()
    }

    /// Fault of the token check. A magic value overrides the faults that a test sets.
    fn outage(&self) -> Option<ReadOutage> {
        self.state.hooks.outage(self.state.faults().read_outage.filter(|_| self.forced.is_none()))
    }

    /// False for a refused token: its answer comes at once.
    fn may_wait(&self) -> bool {
        self.token.is_ok() && self.outage().is_none()
    }

    fn decide(&self, session: SessionFact) -> ServiceDecision {
        let facts = VerdictFacts {
            token: &self.token,
            outage: self.outage(),
            reference: &self.reference.text,
            session: self.state.hooks.session(self.request, session),
        };
        decide_verdict(&self.state.spec, &self.state.profile, &facts)
    }
}

impl Deadline {
    fn is_over(&self, now: SystemTime) -> bool {
        Instant::now() >= self.real || self.clock.is_some_and(|clock| now >= clock)
    }

    /// Time of the next lookup, at the latest.
    fn or(&self, sooner: Option<Duration>) -> Instant {
        let sooner = sooner.and_then(|span| Instant::now().checked_add(span));
        sooner.map_or(self.real, |sooner| sooner.min(self.real))
    }
}

async fn left(control: Option<&StreamControl>) {
    match control {
        Some(control) => control.left().await,
        // hyper drops the answer of an HTTP/2 stream that ended.
        None => pending().await,
    }
}

/// Checks the read token of a request. Two `Authorization` headers count as none.
fn read_token(
    request: &ServiceRequest<'_>,
    state: &ServiceState,
    now: SystemTime,
) -> Result<ReadClaims, ReadTokenFault> {
    let ServiceState { credentials, hooks, tokens, .. } = state;
    let mut fields = request.headers.get_all(AUTHORIZATION).iter();
    let field = fields.next().filter(|_| fields.next().is_none());
    let field = field.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
    let field = hooks.authorization(request, field);
    let checked =
        tokens.check_read_token(field.as_deref(), credentials.keys(), credentials.revocations(), now);
    let token =
        field.as_deref().and_then(|value| value.split_once(' ')).map_or("", |(_, token)| token.trim());
    let checked = checked.and_then(|claims| {
        let is_revoked = state.revoked.lock().contains(token);
        if is_revoked { Err(Stimulus::ReadTokenRevoked.into()) } else { Ok(claims) }
    });
    hooks.token(request, credentials.license_id(), checked)
}
