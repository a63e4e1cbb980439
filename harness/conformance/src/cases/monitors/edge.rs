use strum::VariantArray;

use super::super::{EdgeNeed, Monitor};

/// An invariant of an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, VariantArray)]
pub enum EdgeMonitor {
    /// Each arrival has the license and the certificate of its edge, and no credential of the client.
    Credentials,
    /// A request of the run explains each arrival.
    Arrivals,
    /// The service accepted what pages are told it accepted.
    Acceptances,
    /// No more arrivals than requests, counted until the end of the run.
    Copies,
    /// No answer has a secret; each one that a page can see is JSON, granted to the allowed origin only.
    Answers,
    /// No answer has a stack trace, a file of the edge or the address of the service.
    Internals,
    /// Each answer, and each request to the service, is well-formed HTTP.
    Messages,
    /// One log line for each refusal.
    RefusalLog,
    /// No secret and no end-user data in the log.
    Privacy,
    /// The edge still works at the end.
    Alive,
}

impl Monitor<EdgeNeed> for EdgeMonitor {
    fn id(self) -> &'static str {
        match self {
            Self::Credentials => "monitor.credentials",
            Self::Arrivals => "monitor.arrivals",
            Self::Acceptances => "monitor.acceptances",
            Self::Copies => "relay.once.to-the-end",
            Self::Answers => "monitor.answers",
            Self::Internals => "monitor.internals",
            Self::Messages => "monitor.messages",
            Self::RefusalLog => "monitor.refusal-log",
            Self::Privacy => "monitor.privacy",
            Self::Alive => "monitor.alive",
        }
    }

    fn title(self) -> &'static str {
        match self {
            Self::Credentials => "every request at the service has the edge's own credentials and no others",
            Self::Arrivals => "every request at the service belongs to a request of the run",
            Self::Acceptances => "the service accepted each collection that a page is told it accepted",
            Self::Copies => "no copy of a collection arrives at the service until the end of the run",
            Self::Answers => {
                "no answer contains a secret, and a page gets JSON that only its own origin can read"
            }
            Self::Internals => "no answer shows a stack trace, a file or the address of the service",
            Self::Messages => "every answer, and every request to the service, is well-formed HTTP",
            Self::RefusalLog => "the log has one line for every refusal of the run",
            Self::Privacy => "the log of the whole run contains no secret and no end-user data",
            Self::Alive => "the edge still relays after all other cases",
        }
    }

    fn rows(self) -> &'static [&'static str] {
        match self {
            Self::Credentials => &[
                "statement.license-presented",
                "statement.certificate-presented",
                "statement.cookies-not-relayed",
            ],
            Self::Arrivals => &["statement.body-unchanged", "statement.nothing-partial-relayed"],
            Self::Acceptances => &["edge.200.accepted", "edge.refused", "statement.license-not-redirected"],
            Self::Copies => &["statement.relayed-once"],
            Self::Answers => &[
                "statement.error-bodies-json",
                "statement.cors-readable",
                "statement.cors-other-origins",
                "statement.secrets-not-answered",
            ],
            Self::Internals => &["statement.internals-not-answered"],
            Self::Messages => &["statement.messages-well-formed", "statement.messages-tidy"],
            Self::RefusalLog => &["statement.refusal-logged"],
            Self::Privacy => &["statement.log-without-end-user-data", "statement.secrets-not-logged"],
            Self::Alive => &["statement.edge-lives-on"],
        }
    }

    fn needs(self) -> &'static [EdgeNeed] {
        match self {
            Self::Credentials | Self::Arrivals | Self::Acceptances | Self::Copies | Self::Alive => {
                &[EdgeNeed::Service]
            }
            Self::Answers => &[EdgeNeed::Origin],
            Self::Internals | Self::Messages => &[],
            Self::RefusalLog => &[EdgeNeed::Service, EdgeNeed::Log, EdgeNeed::PlainReasons],
            Self::Privacy => &[EdgeNeed::Log],
        }
    }
}
