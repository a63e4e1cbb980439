use std::sync::Arc;

use edgeproof::cases::{Case, Keys, Service};
use edgeproof::run::{
    ConformanceRun, Selection, ServiceLocation, ServicePart, ServiceRunner, ServiceRunnerOptions,
};

use super::part_cases::{MutatedPart, OptionalInjection};
use super::test_bed::{TestBed, TestBedError};

impl MutatedPart for Service {
    fn runs(
        bed: &TestBed,
        cases: Vec<Case<Self>>,
        faults: OptionalInjection,
    ) -> Result<Vec<ConformanceRun>, TestBedError> {
        runs(bed, cases, faults)
    }
}

impl MutatedPart for Keys {
    fn runs(
        bed: &TestBed,
        cases: Vec<Case<Self>>,
        faults: OptionalInjection,
    ) -> Result<Vec<ConformanceRun>, TestBedError> {
        runs(bed, cases, faults)
    }
}

fn runs<P: ServicePart>(
    bed: &TestBed,
    cases: Vec<Case<P>>,
    faults: OptionalInjection,
) -> Result<Vec<ConformanceRun>, TestBedError> {
    if cases.is_empty() {
        return Ok(Vec::new());
    }
    let options = ServiceRunnerOptions {
        spec: Arc::clone(&bed.spec),
        mock_spec: None,
        profile: bed.spec.profile().clone(),
        location: ServiceLocation::Mock(Arc::clone(&bed.credentials), bed.files.clone()),
        inputs: ServiceRunnerOptions::mock_inputs(&bed.credentials),
        waits: true,
        redactor: Arc::clone(&bed.redactor),
    };
    let mut runner = ServiceRunner::<P>::new(options);
    if let Some(faults) = faults {
        runner = runner.with_faults(faults);
    }
    Ok(vec![ConformanceRun::new(cases, &Selection::default(), runner)?])
}
