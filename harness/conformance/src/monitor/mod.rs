//! Monitors: invariants of every exchange of a run. Each is planned and reported as a case. It judges the requests
//! of all other cases, their arrivals at the service, and the log of each edge.

mod acceptances;
mod answers;
mod arrivals;
mod breaches;
mod collector;
mod credentials;
mod edge_record;
mod internals;
mod last_requests;
mod messages;
#[cfg(test)]
mod messages_tests;
mod privacy;
mod refusal_log;
mod service;
#[cfg(test)]
mod tests;
mod texts;

use crate::cases::EdgeMonitor;
use crate::judge::Check;

pub(crate) use collector::judge_collector;
pub use edge_record::{EdgeRecord, ExpectedCertificate};
pub(crate) use internals::internals;
pub(crate) use last_requests::{LAST_REQUESTS, send_last_requests};
pub(crate) use service::{ServiceRecord, judge_service, send_last_key_requests, send_last_service_requests};

/// Checks the invariant on everything that one edge did.
pub fn judge(monitor: EdgeMonitor, edge: &EdgeRecord) -> Vec<Check> {
    match monitor {
        EdgeMonitor::Credentials => credentials::judge(edge),
        EdgeMonitor::Acceptances => vec![acceptances::judge(edge)],
        EdgeMonitor::Arrivals => vec![arrivals::explained(edge)],
        EdgeMonitor::Copies => arrivals::copies(edge),
        EdgeMonitor::Answers => answers::judge(edge),
        EdgeMonitor::Internals => vec![internals::of_edge(edge)],
        EdgeMonitor::Messages => messages::of_edge(edge),
        EdgeMonitor::RefusalLog => refusal_log::judge(edge),
        EdgeMonitor::Privacy => privacy::judge(edge),
        EdgeMonitor::Alive => last_requests::alive(edge),
    }
}
