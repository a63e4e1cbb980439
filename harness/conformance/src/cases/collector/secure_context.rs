use edgeproof_fixtures::spec::Stimulus;
use edgeproof_reports::difference::SessionSubject;

use crate::cases::{CaseList, Collector};
use crate::collector::PageOrigin;
use crate::judge::{fails_with, resolves};

const ROW: &str = "collector.insecure-context";
const ALLOWED: &str = "statement.insecure-context-allowed";

/// The page's context (5, 7.1).
pub(super) fn add(cases: &mut CaseList<'_, Collector>) {
    if cases.spec.row(ROW).is_some() {
        refused(cases);
    }
    if cases.spec.row(ALLOWED).is_some() {
        allowed(cases);
    }
}

/// Before sealed collections, collectors needed no WebCrypto (9.3).
fn allowed(cases: &mut CaseList<'_, Collector>) {
    cases.case(ALLOWED, "page.insecure-allowed", "the collector works on a page without TLS").steps(steps!(
        async |context| {
            let mut setup = context.edge_setup();
            setup.allowed_origin = context.target.pages.origin(PageOrigin::Http);
            let Some(edge) = context.edge(setup).await else { return };
            let Some(page) = context.page_at(PageOrigin::Http, Vec::new()).await else { return };
            let session = page.session(context.quick_options(&edge.url()), &context.reference("page")).await;
            context.check(resolves(&session));
        }
    ));
}

fn refused(cases: &mut CaseList<'_, Collector>) {
    cases
        .case(ROW, "page.insecure", "the collector refuses a page without TLS")
        .steps(steps!(async |context| {
            let mut setup = context.edge_setup();
            setup.allowed_origin = context.target.pages.origin(PageOrigin::Http);
            let Some(edge) = context.edge(setup).await else { return };
            let Some(page) = context.page_at(PageOrigin::Http, Vec::new()).await else { return };
            let session = page.session(context.options(&edge.url()), &context.reference("page")).await;
            let expected = context.error(ROW, "");
            context.check(fails_with(SessionSubject::Session, &expected, &session));
        }))
        .stimulus(Stimulus::PageInsecure);
}
