//! Fault hooks of a mutant: how a mutation gets into edges and mock services.

mod pair;
mod row;
mod setting;
mod style;
mod variation;

use std::sync::{Arc, OnceLock};

use edgeproof_edge::{EdgeFaultHooks, EdgeOptions};
use edgeproof_fixtures::credentials::EdgeSettings;
use edgeproof_fixtures::spec::Endpoint;
use edgeproof_mock::{ServiceFaultHooks, ServiceOptions};
use edgeproof_targets::FaultInjection;

use crate::mutation::Mutation;
pub(crate) use pair::PairInjection;
pub(crate) use style::OtherStyle;
use variation::{Announced, VariationMutant};

/// Injects a mutation into the edges and mock services of one run.
#[derive(Debug)]
pub(crate) struct MutationInjection {
    mutation: Mutation,
    /// Settings of the run's first edge.
    first: OnceLock<EdgeSettings>,
    /// Markers of the exchanges that a mutated value concerns.
    announced: Arc<Announced>,
}

impl MutationInjection {
    pub(crate) fn new(mutation: Mutation) -> Self {
        Self { mutation, first: OnceLock::new(), announced: Arc::default() }
    }
}

impl FaultInjection for MutationInjection {
    fn edge(&self, options: &mut EdgeOptions) {
        match &self.mutation {
            Mutation::Row(mutation) => options.hooks = Arc::clone(mutation) as Arc<dyn EdgeFaultHooks>,
            Mutation::Behaviour(mutation) => mutation.inject_edge(options, &self.first),
            Mutation::Collector(_) => {}
            Mutation::Variation(mutation) => {
                let (fault, announced) = (mutation.fault, Arc::clone(&self.announced));
                let health = options.spec.path(Endpoint::Health).to_owned();
                options.hooks = Arc::new(VariationMutant { fault, announced, health });
            }
            Mutation::Setting(mutation) => setting::inject(mutation, options),
        }
    }

    fn service(&self, options: &mut ServiceOptions) {
        match &self.mutation {
            Mutation::Row(mutation) => options.hooks = Arc::clone(mutation) as Arc<dyn ServiceFaultHooks>,
            Mutation::Behaviour(mutation) => mutation.inject_service(options),
            Mutation::Variation(_) | Mutation::Setting(_) | Mutation::Collector(_) => {}
        }
    }

    fn announce(&self, marker: &str, values: &[String]) {
        if let Mutation::Variation(mutation) = &self.mutation
            && mutation.values.iter().all(|value| values.contains(value))
        {
            self.announced.add(marker);
        }
    }
}
