use edgeproof_http::Sent;
use edgeproof_reports::difference::Subject;
use http::header::AUTHORIZATION;

use crate::cases::service::VerdictExchange;
use crate::cases::{Part, ServiceMonitor, ServiceNeed, ServiceTarget};

/// The verdict endpoint of the service, called by an integrator's backend.
#[derive(Debug, Clone, Copy)]
pub struct Service;

impl Part for Service {
    const NAME: &'static str = "service";
    const SUBJECT: Subject = Subject::Service;
    const MONITORS: &'static [ServiceMonitor] = &[
        ServiceMonitor::Alike,
        ServiceMonitor::Caching,
        ServiceMonitor::NoEcho,
        ServiceMonitor::Own,
        ServiceMonitor::Bodies,
        ServiceMonitor::Internals,
        ServiceMonitor::Messages,
        ServiceMonitor::Alive,
    ];

    type Need = ServiceNeed;
    type Settings = ();
    type Exchange = VerdictExchange;
    type Target = ServiceTarget;
    type Monitor = ServiceMonitor;

    /// A verdict was looked for.
    fn is_whole(sent: &Sent) -> bool {
        let is_found = |status: u16| (200..300).contains(&status) || status == 404;
        sent.request.headers.contains_key(AUTHORIZATION)
            && sent.reply.as_ref().is_ok_and(|answer| is_found(answer.status))
    }
}
