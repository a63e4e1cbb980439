use std::sync::Arc;
use std::time::{Duration, Instant};

use edgeproof_browser::CallOutcome;
use edgeproof_fixtures::credentials::Redactor;
use edgeproof_reports::CaseLevel;
use serde_json::Value;

use crate::cases::{CollectorCaseContext, CollectorTarget, SealUse, Sender, next_marker};
use crate::judge::decoded_forms;

/// What the first session of a run shows.
pub(super) struct FirstSession {
    /// How the collector uses the seal key.
    pub(super) seal: SealUse,
    /// The session did not end in time.
    pub(super) is_stuck: bool,
    /// Each `create()` makes a collector of its own.
    pub(super) is_independent: bool,
    /// How much longer than usual it took, at least 1: the collector or the machine is slow.
    pub(super) slowness: u32,
    /// Why the browser stopped a request, if the session failed.
    pub(super) stopped: Option<String>,
}

/// Usual duration of a session on a busy machine.
const USUAL: Duration = Duration::from_millis(500);
/// A slower collector gets no more time.
const MAX_SLOWNESS: u32 = 16;

/// Loads the module and runs two sessions in one page, at an edge whose service accepts everything. The error says why the
/// module cannot be tested.
pub(super) async fn first_session(target: CollectorTarget, limit: Duration) -> Result<FirstSession, String> {
    let target = CollectorTarget { seal: SealUse::Foreign, is_independent: true, ..target };
    let name = target.module.name();
    let sender = Sender { case: "sanity".into(), level: CaseLevel::Open, marker: next_marker() };
    let mut context = CollectorCaseContext::new(Arc::new(target), sender, limit);
    let Some(edge) = context.edge(context.edge_setup()).await else {
        return Err(context.found.not_run.unwrap_or_default());
    };
    let Some(page) = context.page().await else {
        return Err(match (context.found.not_run, context.found.checks.first()) {
            (Some(why), _) => why,
            (None, Some(check)) => format!(
                "cannot test {name}: {}\nexport `create(options)` from an ES module; it returns an object with start(), \
                 ready() and verify()",
                check.actual
            ),
            (None, None) => format!("cannot test {name}"),
        });
    };
    let reference = context.reference("sanity");
    let mut page = page;
    let began = Instant::now();
    let mut session = page.session(context.options(&edge.url()), &reference).await;
    if matches!(session.outcome, CallOutcome::Unsettled { .. }) {
        // The first session on a busy machine can be slow.
        context.timeout = limit * 2;
        if let Some(next) = context.page().await {
            page = next;
            session = page.session(context.options(&edge.url()), &reference).await;
        }
    }
    let slowness = (began.elapsed().as_millis() / USUAL.as_millis()).min(MAX_SLOWNESS.into()) as u32;
    let body = edge.posts().into_iter().find_map(|post| post.body);
    if let (Some(opener), Some(body)) = (&context.target.opener, &body)
        && edge.open(body).is_err()
    {
        opener.open(body).await?;
    }
    let seal = body.map_or(SealUse::Broken, |body| {
        if edge.open(&body).is_ok() {
            return SealUse::Opens;
        }
        if context.target.opener.is_some() {
            return SealUse::Foreign;
        }
        let mut known = Redactor::empty();
        known.add("reference", &reference);
        known.add("key", context.seal_key().id());
        let is_known = |form: Vec<u8>| known.finds(&form) || has_members(&form);
        if decoded_forms(&body).into_iter().any(is_known) { SealUse::Broken } else { SealUse::Foreign }
    });
    let is_stuck = matches!(session.outcome, CallOutcome::Unsettled { .. });
    let stopped = if session.is_returned() || is_stuck { None } else { page.stopped_post().await };
    // The second session goes to another edge, with another reference and mode.
    let is_independent = session.is_returned() && !is_stuck && {
        let Some(other) = context.edge(context.edge_setup()).await else {
            return Err(context.found.not_run.unwrap_or_default());
        };
        let again = page.session(context.quick_options(&other.url()), &context.reference("second")).await;
        again.is_returned() && other.posts().len() == 1
    };
    // Closes the page, and records it for the monitors.
    context.finish().await;
    Ok(FirstSession { seal, is_stuck, is_independent, slowness: slowness.max(1), stopped })
}

/// Whether the JSON names what a collection contains.
fn has_members(form: &[u8]) -> bool {
    let Ok(Value::Object(members)) = serde_json::from_slice(form) else { return false };
    ["sessionRef", "measurements", "encapsulatedKey"].iter().any(|name| members.contains_key(*name))
}
