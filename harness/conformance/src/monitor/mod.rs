//! Monitors: invariants of every exchange of a run. Each is planned and reported as a case. It judges what all other
//! cases left behind: requests, arrivals at the service, and the log of each edge.

mod answers;
mod arrivals;
mod breaches;
mod credentials;
mod edge_record;
mod patrol;
mod privacy;
mod refusal_log;
mod service;
mod service_alike;
mod service_traffic;
#[cfg(test)]
mod tests;
mod traffic;

use strum::VariantArray;

use crate::cases::{Catalog, Phase, Prerequisite, Procedure};
use crate::judge::Check;

pub use edge_record::EdgeRecord;
pub(crate) use patrol::{PATROL, patrol};
pub use service::ServiceMonitor;
pub(crate) use service::{SERVICE_PATROL, ServiceRecord, add_service, patrol_service};
pub use service_traffic::{ServiceExchange, ServiceTraffic};
pub use traffic::{Sender, TracedRequest, Traffic};

/// An invariant of an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, VariantArray)]
pub enum EdgeMonitor {
    /// Each arrival has the license and the certificate of its edge, and no credential of the client.
    Credentials,
    /// A request of the run explains each arrival.
    Arrivals,
    /// No more arrivals than requests, counted until the end of the run.
    Copies,
    /// Each answer that a page can see is JSON, granted to the allowed origin only.
    Answers,
    /// One log line for each refusal.
    RefusalLog,
    /// No secret and no end-user data in the log.
    Privacy,
    /// The edge still works at the end.
    Alive,
}

impl EdgeMonitor {
    /// Checks the invariant on everything that one edge did.
    pub fn judge(self, edge: &EdgeRecord) -> Vec<Check> {
        match self {
            Self::Credentials => credentials::judge(edge),
            Self::Arrivals => vec![arrivals::explained(edge)],
            Self::Copies => arrivals::copies(edge),
            Self::Answers => answers::judge(edge),
            Self::RefusalLog => refusal_log::judge(edge),
            Self::Privacy => privacy::judge(edge),
            Self::Alive => patrol::alive(edge),
        }
    }

    fn id(self) -> &'static str {
        match self {
            Self::Credentials => "monitor.credentials",
            Self::Arrivals => "monitor.arrivals",
            Self::Copies => "relay.once.to-the-end",
            Self::Answers => "monitor.answers",
            Self::RefusalLog => "monitor.refusal-log",
            Self::Privacy => "monitor.privacy",
            Self::Alive => "monitor.alive",
        }
    }

    fn title(self) -> &'static str {
        match self {
            Self::Credentials => "every request at the service has the edge's own credentials and no others",
            Self::Arrivals => "a request of the run explains every request at the service",
            Self::Copies => "no copy of a collection arrived, counted until the end of the run",
            Self::Answers => "every answer that a page can see is JSON and granted to its origin only",
            Self::RefusalLog => "the log has one line for every refusal of the run",
            Self::Privacy => "the log of the whole run contains no secret and no end-user data",
            Self::Alive => "the edge still relays after all other cases",
        }
    }

    /// The rows that the monitor proves, the most important one first.
    fn rows(self) -> &'static [&'static str] {
        match self {
            Self::Credentials => &["statement.license-presented", "statement.certificate-presented"],
            Self::Arrivals => &["statement.body-unchanged", "statement.nothing-partial-relayed"],
            Self::Copies => &["statement.relayed-once"],
            Self::Answers => {
                &["statement.error-bodies-json", "statement.cors-readable", "statement.cors-other-origins"]
            }
            Self::RefusalLog => &["statement.refusal-logged"],
            Self::Privacy => &["statement.log-without-end-user-data", "statement.secrets-not-logged"],
            Self::Alive => &["statement.edge-lives-on"],
        }
    }

    fn prerequisites(self) -> &'static [Prerequisite] {
        match self {
            Self::Credentials | Self::Arrivals | Self::Copies => &[Prerequisite::Service],
            Self::Answers => &[Prerequisite::Origin],
            Self::RefusalLog => &[Prerequisite::Service, Prerequisite::Log, Prerequisite::PlainReasons],
            Self::Privacy => &[Prerequisite::Log],
            Self::Alive => &[Prerequisite::Service],
        }
    }
}

/// Adds the monitors of an edge.
pub(crate) fn add(cases: &mut Catalog<'_>) {
    for monitor in EdgeMonitor::VARIANTS {
        let [row, others @ ..] = monitor.rows() else { continue };
        let case = cases.add(row, monitor.id(), monitor.title(), Procedure::Monitor(*monitor));
        case.requires(monitor.prerequisites()).phase(Phase::Monitors);
        for other in others {
            case.also(other);
        }
    }
}
