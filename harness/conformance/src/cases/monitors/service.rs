use super::super::{Monitor, ServiceNeed};

/// An invariant of a service or a key set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServiceMonitor {
    /// Pending answers and refusals do not reveal whether there is a session.
    Alike,
    /// No shared cache may store an answer about a verdict.
    Caching,
    /// No answer contains a token.
    NoEcho,
    /// A verdict names no other session than its own.
    Own,
    /// Each pending answer has exactly its two members, and each refusal is JSON.
    Bodies,
    /// No answer about a verdict has a stack trace.
    Internals,
    /// Each answer about a verdict is well-formed HTTP.
    Messages,
    /// The service answers correctly at the end.
    Alive,
    /// No cache keeps an answer of the key set too long.
    KeyCaching,
    /// No answer of the key set has a stack trace.
    KeyInternals,
    /// Each answer of the key set is well-formed HTTP.
    KeyMessages,
    /// The key set stays the same and public.
    SameKeys,
}

impl Monitor<ServiceNeed> for ServiceMonitor {
    fn id(self) -> &'static str {
        match self {
            Self::Alike => "monitor.service.alike",
            Self::Caching => "monitor.service.caching",
            Self::NoEcho => "monitor.service.no-echo",
            Self::Own => "monitor.service.own",
            Self::Bodies => "monitor.service.bodies",
            Self::Internals => "monitor.service.internals",
            Self::Messages => "monitor.service.messages",
            Self::Alive => "monitor.service.alive",
            Self::KeyCaching => "monitor.keys.caching",
            Self::KeyInternals => "monitor.keys.internals",
            Self::KeyMessages => "monitor.keys.messages",
            Self::SameKeys => "monitor.keys.same",
        }
    }

    fn title(self) -> &'static str {
        match self {
            Self::Alike => "no answer of the run reveals whether there is a session",
            Self::Caching => "no answer about a verdict permits shared caches",
            Self::NoEcho => "no answer of the run contains the token of its request",
            Self::Own => "where verdicts name their session, each names its own",
            Self::Bodies => "every pending answer and every refusal of the run has its JSON body",
            Self::Internals => "no answer about a verdict shows a stack trace",
            Self::Messages => "every answer about a verdict is well-formed HTTP",
            Self::Alive => "the service answers correctly after all other cases",
            Self::KeyCaching => "no answer lets caches keep the key set for more than five minutes",
            Self::KeyInternals => "no answer of the key set shows a stack trace",
            Self::KeyMessages => "every answer of the key set is well-formed HTTP",
            Self::SameKeys => "all answers of the run have the same public keys",
        }
    }

    fn rows(self) -> &'static [&'static str] {
        match self {
            Self::Alike => &["statement.no-oracle"],
            Self::Caching => &["statement.verdict-not-shared"],
            Self::NoEcho => &["statement.read-token-not-echoed"],
            Self::Own => &["verdict.200.available"],
            Self::Bodies => &["verdict.404.pending", "statement.error-bodies-json"],
            Self::Internals | Self::KeyInternals => &["statement.internals-not-answered"],
            Self::Messages | Self::KeyMessages => {
                &["statement.messages-well-formed", "statement.messages-tidy"]
            }
            Self::Alive => &["verdict.404.pending", "verdict.401.unauthorized"],
            Self::KeyCaching => &["limit.key-set-cache"],
            Self::SameKeys => &["keys.public-only", "keys.stable"],
        }
    }
}
