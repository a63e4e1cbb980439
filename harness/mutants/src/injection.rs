use std::sync::{Arc, OnceLock};

use edgeproof::target::FaultInjection;
use edgeproof_edge::{EdgeFaultHooks, EdgeOptions};
use edgeproof_fixtures::credentials::EdgeSettings;
use edgeproof_mock::{ServiceFaultHooks, ServiceOptions};

use super::deviation::How;
use super::{quirks, serving};

/// Injects one mutation into the edges or mock services of one run.
#[derive(Debug)]
pub(super) struct Injection {
    how: How,
    /// Settings of the run's first edge.
    first: OnceLock<EdgeSettings>,
}

impl Injection {
    pub(super) fn new(how: How) -> Self {
        Self { how, first: OnceLock::new() }
    }
}

impl FaultInjection for Injection {
    fn edge(&self, options: &mut EdgeOptions) {
        match &self.how {
            How::AtRow(at) => options.hooks = Arc::clone(at) as Arc<dyn EdgeFaultHooks>,
            How::Behaviour(behaviour) => {
                let first = self.first.get_or_init(|| options.settings.clone());
                quirks::inject(*behaviour, options, first);
            }
            How::AtServiceRow(_) | How::ServiceBehaviour(_) => {}
        }
    }

    fn service(&self, options: &mut ServiceOptions) {
        match &self.how {
            How::AtServiceRow(at) => options.hooks = Arc::clone(at) as Arc<dyn ServiceFaultHooks>,
            How::ServiceBehaviour(behaviour) => options.hooks = serving::hooks(*behaviour),
            How::AtRow(_) | How::Behaviour(_) => {}
        }
    }
}
