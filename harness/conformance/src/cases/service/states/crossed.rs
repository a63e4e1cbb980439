use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use edgeproof_http::{Draft, ReusedConnection, Sent};
use edgeproof_reports::{CaseLevel, Hop};

use super::named::foreign_verdict;
use crate::cases::explore::allowed_pairs;
use crate::cases::explore::sequence::{ActionModel, ServiceAction, ServiceModel, SessionChoice, VerdictStep};
use crate::cases::service::expected::{AVAILABLE, EXPIRED, PENDING, REVOKED, UNAUTHORIZED};
use crate::cases::service::{Damage, Expected, HttpForm, TokenChoice, forms};
use crate::cases::{CaseList, Service, ServiceCaseContext, ServiceNeed};
use crate::judge::Check;

/// The answer to a request for a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Available,
    Pending,
    Refused,
}

/// The connection of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Connection {
    /// A new one.
    New,
    /// That of the request before.
    Kept,
    /// A new one, on which this answer came before.
    After(Outcome),
    /// A new one, with HTTP/2.
    Http2,
}

/// A session, and the credential that asks for it.
type Asked = (SessionChoice, TokenChoice);

/// Queries that leave the answer as it is.
const QUERIES: [Option<&str>; 4] = [None, Some("waitMs=1"), Some("waitMs=%30"), Some("waitMs=2")];
/// Time that a case may take on a busy machine: it sends up to 220 requests.
const TAKES: Duration = Duration::from_secs(30);
/// Number of failed checks after which more of them tell nothing new.
const ENOUGH: usize = 20;
/// Time after which a slow service gets no more requests.
const LONGEST: Duration = Duration::from_secs(20);
/// A wait that only a pending answer uses.
const LONG_WAIT: &str = "waitMs=20000";
/// Header fields that leave the answer as it is.
const FIELDS: [Option<(&str, &str)>; 9] = [
    None,
    Some(("Cookie", "session=1; other=2")),
    Some(("Origin", "https://shop.example")),
    Some(("Cache-Control", "no-cache")),
    Some(("If-None-Match", "\"edgeproof\"")),
    Some(("X-Forwarded-For", "203.0.113.7")),
    Some(("X-HTTP-Method-Override", "DELETE")),
    Some(("X-Request-Id", "edgeproof")),
    Some(("Prefer", "wait=5")),
];
const CONNECTIONS: [Connection; 6] = [
    Connection::New,
    Connection::Kept,
    Connection::After(Outcome::Available),
    Connection::After(Outcome::Pending),
    Connection::After(Outcome::Refused),
    Connection::Http2,
];

/// Requests in which session, credential, query, header field, form of HTTP and connection vary together: every pair of
/// values is sent (3, 4, 5, 7.4).
pub(super) fn add(cases: &mut CaseList<'_, Service>) {
    let session: &[ServiceNeed] = &[ServiceNeed::ReadToken, ServiceNeed::Session];
    for (outcome, row, id, title, requires) in [
        (
            Outcome::Available,
            AVAILABLE,
            "verdict.crossed.available",
            "a verdict is available to its license, whatever else varies",
            session,
        ),
        (
            Outcome::Pending,
            PENDING,
            "verdict.crossed.pending",
            "a session without a verdict for this license is pending, whatever else varies",
            &[ServiceNeed::ReadToken],
        ),
        (
            Outcome::Refused,
            UNAUTHORIZED,
            "verdict.crossed.refused",
            "a request without a valid read token is refused, whatever else varies",
            &[ServiceNeed::ReadToken],
        ),
    ] {
        let case = cases.case(row, id, title);
        let case = case.steps(steps!(async |context| { play(context, outcome).await }));
        let case = case.requires(requires).takes(TAKES);
        if outcome == Outcome::Refused {
            case.also(EXPIRED).also(REVOKED);
        }
    }
}

async fn play(context: &mut ServiceCaseContext, outcome: Outcome) {
    let model = ServiceModel::of(context);
    let asked = asked(&model, outcome);
    let Some(sessions) = Sessions::make(context, &asked).await else { return };
    let forms: Vec<Option<HttpForm>> =
        std::iter::once(None).chain(forms().filter(|form| form.level == CaseLevel::Must).map(Some)).collect();
    let waits = (outcome != Outcome::Pending).then_some(Some(LONG_WAIT));
    let queries: Vec<Option<&str>> = QUERIES.into_iter().chain(waits).collect();
    let mut kept = ReusedConnection::default();
    let began = context.now();
    for choices in allowed_pairs(
        &[asked.len(), queries.len(), FIELDS.len(), forms.len(), CONNECTIONS.len()],
        // HTTP/2 has none of the forms of HTTP/1.1.
        |(one, form), (other, connection)| {
            (one, other) != (3, 4) || form == 0 || CONNECTIONS[connection] != Connection::Http2
        },
    ) {
        let [who, query, field, form, connection] = choices[..] else { continue };
        let (session, token) = asked[who];
        let step =
            VerdictStep { session, token, method: "GET", query: queries[query], header: FIELDS[field] };
        let reference = sessions.of(session, context);
        let Some(probe) = step.probe(context, &reference) else { continue };
        let (form, connection) = (forms[form].as_ref(), CONNECTIONS[connection]);
        let probe = match form {
            Some(form) => probe.map(|draft| form.apply(draft)),
            None => probe,
        };
        let name = model.describe(&ServiceAction::Verdict(step)) + &describe(form, connection);
        let Some(sent) = send(context, &sessions, connection, &mut kept, probe.draft()).await else {
            continue;
        };
        let reply = sent.reply.clone();
        context.found.varied += 1;
        let probe = probe.named(name.clone());
        let mut checks = probe.judge(context.spec(), &reply);
        if outcome == Outcome::Available {
            checks.extend(foreign_verdict(context, &reference, &reply).map(|check: Check| check.of(&name)));
        }
        // A report does not show hundreds of right answers.
        if checks.iter().all(|check| check.ok) {
            context.trace(Hop::ClientService, probe.draft(), sent);
        } else {
            context.record(probe.draft(), sent);
        }
        context.checks(checks);
        let failed = context.found.checks.iter().filter(|check| !check.ok).count();
        if reply.is_err() || failed > ENOUGH || context.now() - began > LONGEST {
            return;
        }
    }
}

/// The sessions and credentials whose answer has this outcome. Each refused credential is sent for a session with a
/// verdict, and for another one.
fn asked(model: &ServiceModel, outcome: Outcome) -> Vec<Asked> {
    // One damage suffices: other cases send each of them.
    let is_crossed =
        |token: &TokenChoice| !matches!(token, TokenChoice::Damaged(damage) if *damage != Damage::Signature);
    let tokens: Vec<TokenChoice> = model.tokens.iter().copied().filter(is_crossed).collect();
    let all = tokens.iter().enumerate().flat_map(|(number, token)| {
        let sessions = model.sessions.iter().enumerate();
        let rotates = move |index: usize, session: SessionChoice| {
            outcome != Outcome::Refused
                || session == SessionChoice::Known
                || index == number % model.sessions.len()
        };
        let chosen = sessions.filter(move |(index, session)| rotates(*index, **session));
        chosen.map(|(_, session)| (*session, *token))
    });
    all.filter(|asked| Outcome::of(*asked) == Some(outcome)).collect()
}

/// References of the sessions of a case.
struct Sessions(BTreeMap<SessionChoice, String>);

impl Sessions {
    /// Makes them. None: one is not there, and the case says why.
    async fn make(context: &mut ServiceCaseContext, asked: &[Asked]) -> Option<Self> {
        let mut made = BTreeMap::new();
        let mut named: BTreeSet<SessionChoice> = asked.iter().map(|(session, _)| *session).collect();
        // Some connections begin with its verdict.
        named.extend(SessionChoice::Known.is_known(context).then_some(SessionChoice::Known));
        for choice in named {
            let reference = match choice {
                SessionChoice::Known => context.session().await,
                _ => choice.make(context, context.reference(&format!("{choice}-gr\u{f6}\u{df}e"))).await,
            };
            made.insert(choice, reference?);
        }
        Some(Self(made))
    }

    /// That of a session. A session that nobody knows has another one each time.
    fn of(&self, choice: SessionChoice, context: &ServiceCaseContext) -> String {
        self.0.get(&choice).cloned().unwrap_or_else(|| context.reference(&choice.to_string()))
    }
}

/// Sends a request over its connection. None: the service does not offer HTTP/2, or no session has a verdict.
async fn send(
    context: &mut ServiceCaseContext,
    sessions: &Sessions,
    connection: Connection,
    kept: &mut ReusedConnection,
    draft: &Draft,
) -> Option<Sent> {
    let earlier = match connection {
        Connection::Http2 => return context.send_http2(draft).await,
        Connection::Kept => return Some(context.send_kept(kept, draft).await),
        Connection::New => None,
        Connection::After(outcome) => Some(outcome.asked()),
    };
    kept.close();
    if let Some((session, token)) = earlier {
        if session == SessionChoice::Known && !sessions.0.contains_key(&session) {
            return None;
        }
        let step = VerdictStep { session, token, ..VerdictStep::PLAIN };
        let probe = step.probe(context, &sessions.of(session, context))?;
        let earlier = context.send_kept(kept, probe.draft()).await;
        context.trace(Hop::ClientService, probe.draft(), earlier);
    }
    Some(context.send_kept(kept, draft).await)
}

fn describe(form: Option<&HttpForm>, connection: Connection) -> String {
    let form = form.map(|form| format!(", {}", form.name)).unwrap_or_default();
    let connection = match connection {
        Connection::New => "",
        Connection::Kept => ", over a kept connection",
        Connection::After(Outcome::Available) => ", after a verdict over the same connection",
        Connection::After(Outcome::Pending) => ", after a pending answer over the same connection",
        Connection::After(Outcome::Refused) => ", after a refusal over the same connection",
        Connection::Http2 => ", over HTTP/2",
    };
    form + connection
}

impl Outcome {
    /// That of a request. None: it is not crossed.
    fn of((session, token): Asked) -> Option<Self> {
        let step = VerdictStep { session, token, ..VerdictStep::PLAIN };
        match step.expected("").0 {
            Expected::Verdict => Some(Self::Available),
            Expected::Pending(_) => Some(Self::Pending),
            Expected::Unauthorized | Expected::Expired | Expected::Revoked | Expected::Damaged => {
                Some(Self::Refused)
            }
            Expected::Status { .. } | Expected::NoServerError => None,
        }
    }

    /// The plainest request with this outcome.
    fn asked(self) -> Asked {
        match self {
            Self::Available => (SessionChoice::Known, TokenChoice::Valid),
            Self::Pending => (SessionChoice::Unknown, TokenChoice::Valid),
            Self::Refused => (SessionChoice::Unknown, TokenChoice::Missing),
        }
    }
}
