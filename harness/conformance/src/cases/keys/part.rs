use edgeproof_reports::difference::Subject;

use super::KeySetExchange;
use crate::cases::{Part, ServiceMonitor, ServiceNeed, ServiceTarget};

/// The key set, which verifies verdicts.
#[derive(Debug, Clone, Copy)]
pub struct Keys;

impl Part for Keys {
    const NAME: &'static str = "keys";
    const SUBJECT: Subject = Subject::KeySet;
    const MONITORS: &'static [ServiceMonitor] = &[
        ServiceMonitor::KeyCaching,
        ServiceMonitor::KeyInternals,
        ServiceMonitor::KeyMessages,
        ServiceMonitor::SameKeys,
    ];

    type Need = ServiceNeed;
    type Settings = ();
    type Exchange = KeySetExchange;
    type Target = ServiceTarget;
    type Monitor = ServiceMonitor;
}
