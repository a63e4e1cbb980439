use edgeproof_http::{Draft, ServerAddress};

use super::options::ServiceLocation;
use super::sanity;
use crate::cases::{Keys, Part, Service, ServiceCaseContext, ServiceMonitor, ServiceNeed, ServiceTarget};
use crate::monitor::{send_last_key_requests, send_last_service_requests};
use crate::run::runner::SanityResult;

/// A part that a service publishes.
pub trait ServicePart:
    Part<Target = ServiceTarget, Need = ServiceNeed, Monitor = ServiceMonitor, Settings = ()>
{
    /// Name of the built-in one in reports.
    const BUILT_IN: &'static str;

    /// Its base URL; empty if it is unknown.
    fn base_url(location: &ServiceLocation) -> String;

    /// A request that it answered in the sanity check, and where to send it.
    fn alive<'t>(target: &'t ServiceTarget, run_id: &str) -> Option<(&'t ServerAddress, Draft)>;

    /// Finds out whether it can be judged.
    fn check_sanity(
        backend: &mut ServiceCaseContext,
    ) -> impl Future<Output = SanityResult<ServiceNeed>> + Send;

    /// Sends the last requests of a run.
    fn end_requests(backend: &mut ServiceCaseContext) -> impl Future<Output = ()> + Send;
}

impl ServicePart for Service {
    const BUILT_IN: &'static str = "mock service";

    fn base_url(location: &ServiceLocation) -> String {
        let ServiceLocation::At { service, .. } = location else { return String::new() };
        service.as_ref().map(|url| url.as_url().to_string()).unwrap_or_default()
    }

    fn alive<'t>(target: &'t ServiceTarget, run_id: &str) -> Option<(&'t ServerAddress, Draft)> {
        let draft = target.verdict_request(&format!("edgeproof-{run_id}-alive")).draft();
        Some((target.service.as_ref()?, draft))
    }

    async fn check_sanity(backend: &mut ServiceCaseContext) -> SanityResult<ServiceNeed> {
        sanity::check_service(backend).await
    }

    async fn end_requests(backend: &mut ServiceCaseContext) {
        send_last_service_requests(backend).await;
    }
}

impl ServicePart for Keys {
    const BUILT_IN: &'static str = "key set of the mock service";

    fn base_url(location: &ServiceLocation) -> String {
        let ServiceLocation::At { keys, .. } = location else { return String::new() };
        keys.as_ref().map(|url| url.as_url().to_string()).unwrap_or_default()
    }

    fn alive<'t>(target: &'t ServiceTarget, _: &str) -> Option<(&'t ServerAddress, Draft)> {
        Some((target.keys.as_ref()?, target.key_set_request()))
    }

    async fn check_sanity(backend: &mut ServiceCaseContext) -> SanityResult<ServiceNeed> {
        sanity::check_keys(backend).await
    }

    async fn end_requests(backend: &mut ServiceCaseContext) {
        send_last_key_requests(backend).await;
    }
}
