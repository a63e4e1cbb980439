use edgeproof_reports::difference::Subject;

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
}
