//! Monitors of a collector.

use std::borrow::Cow;

use edgeproof_browser::PageRequest;
use edgeproof_fixtures::credentials::Redactor;
use edgeproof_fixtures::spec::{Advice, Endpoint, Spec};
use edgeproof_reports::CaseLevel;
use edgeproof_reports::difference::{Breach, Invariant, PageAct, PagePlace};
use url::Url;

use super::breaches::{Breaches, by_case};
use crate::cases::{CaseFindings, CollectorMonitor, Monitor, OWN_REFERENCE, PageTrace};
use crate::judge::{decoded_forms, places_in};

/// Checks or observes the invariant on all pages of a run. `serves`: whether a request loads a page or the module;
/// `spec`: what the pages follow.
pub(crate) fn judge_collector(
    monitor: CollectorMonitor,
    pages: &[PageTrace],
    serves: &dyn Fn(&PageRequest) -> bool,
    spec: &Spec,
    level: CaseLevel,
) -> CaseFindings {
    let signals = spec.path(Endpoint::Signals);
    let mut found = CaseFindings::default();
    // Cases at open points let the page do unusual things.
    let judged = || pages.iter().filter(|page| page.level != CaseLevel::Open);
    let checks = match monitor {
        CollectorMonitor::Requests => {
            let mut unexplained = Breaches::default();
            for page in judged() {
                for url in unexplained_requests(page, serves, signals) {
                    unexplained.push(Breach { value: Some(url.into()), ..by_case(&page.case) });
                }
            }
            vec![unexplained.check(Invariant::PageRequests).advise(Advice::PageRequested)]
        }
        CollectorMonitor::BeforeStart => {
            let mut early: Vec<String> = pages.iter().flat_map(|page| before_start(page, serves)).collect();
            early.sort_unstable();
            early.dedup();
            let seen = if early.is_empty() { "nothing".into() } else { early.join(", ") };
            found.observations.extend(monitor.point().map(|point| (point.to_owned(), seen)));
            Vec::new()
        }
        CollectorMonitor::Privacy => {
            let (mut data, mut in_clear) = (Breaches::default(), Breaches::default());
            for page in pages {
                let references =
                    if spec.seals_collections() { own_references(page) } else { Redactor::empty() };
                for (sent, url) in sent_parts(page, serves) {
                    let forms: Vec<Vec<u8>> = sent.iter().flat_map(|part| decoded_forms(part)).collect();
                    let breach = |place| Breach {
                        page_place: Some(place),
                        value: Some(url.as_str().into()),
                        ..by_case(&page.case)
                    };
                    for place in places_in(&page.canaries, &forms) {
                        data.push(breach(place));
                    }
                    if forms.iter().any(|form| references.finds(form)) {
                        in_clear.push(breach(PagePlace::Reference));
                    }
                }
            }
            let in_clear = in_clear.check(Invariant::PageData).advise(Advice::CollectionInClear);
            vec![data.check(Invariant::PageData), in_clear]
        }
        CollectorMonitor::Unobtrusive => {
            let (mut errors, mut acts) = (Breaches::default(), Breaches::default());
            for page in judged() {
                let record = &page.record;
                for text in record.uncaught.iter().chain(&record.console_errors) {
                    errors.push(Breach { value: Some(text.into()), ..by_case(&page.case) });
                }
                let windows = record.windows.iter().map(|url| (Some(PageAct::Window), url));
                let navigations = record.navigations.iter().map(|url| (Some(PageAct::Navigation), url));
                let others = record.dialogs.iter().chain(&record.gone).map(|text| (None, text));
                for (act, text) in others.chain(windows).chain(navigations) {
                    acts.push(Breach { act, value: Some(text.into()), ..by_case(&page.case) });
                }
            }
            vec![errors.check(Invariant::PageErrors), acts.check(Invariant::PageActs)]
        }
    };
    for check in checks {
        found.check(check, level);
    }
    found
}

/// Requests, and connections of type WebSocket, that the interface does not name.
fn unexplained_requests(
    page: &PageTrace,
    serves: &dyn Fn(&PageRequest) -> bool,
    signals: &str,
) -> Vec<String> {
    let edges: Vec<Url> = page.edges.iter().filter_map(|edge| Url::parse(edge).ok()).collect();
    let is_post = |request: &PageRequest| {
        let Ok(url) = Url::parse(&request.url) else { return false };
        (request.method == "POST" || request.method == "OPTIONS" || request.is_preflight())
            && url.path() == signals
            && edges.iter().any(|edge| edge.origin() == url.origin())
    };
    let module = Url::parse(&page.module).map(|url| url.origin());
    let is_module = |request: &PageRequest| {
        let origin = Url::parse(&request.url).map(|url| url.origin());
        request.method == "GET" && origin.is_ok() && origin == module
    };
    let requests = page
        .record
        .requests
        .iter()
        .filter(|request| leaves(&request.url))
        .filter(|request| !serves(request) && !is_module(request) && !is_post(request))
        .map(|request| format!("{} {}", request.method, request.url));
    let is_measure = |url: &str| {
        let Ok(url) = Url::parse(url) else { return false };
        let host = (url.host_str(), url.port_or_known_default());
        edges.iter().any(|edge| (edge.host_str(), edge.port_or_known_default()) == host)
    };
    let sockets = page.record.websockets.iter().map(|socket| socket.url.as_str());
    let sockets = sockets.filter(|url| !is_measure(url)).map(|url| format!("WebSocket {url}"));
    requests.chain(sockets).chain(page.record.web_transports.iter().cloned()).collect()
}

/// Whether a request to this URL leaves the browser.
fn leaves(url: &str) -> bool {
    !["data:", "blob:", "about:", "chrome:", "chrome-untrusted:", "devtools:"]
        .iter()
        .any(|scheme| url.starts_with(scheme))
}

/// What a page sent before its first `start()`: kind and method.
fn before_start(page: &PageTrace, serves: &dyn Fn(&PageRequest) -> bool) -> Vec<String> {
    let is_early = |at: std::time::Instant| page.started.is_none_or(|started| at < started);
    let requests = page.record.requests.iter().filter(|request| is_early(request.at));
    let requests = requests
        .filter(|request| leaves(&request.url) && !serves(request) && request.url != page.module)
        .map(|request| format!("{} ({})", request.method, request.kind));
    let sockets = page.record.websockets.iter().filter(|socket| is_early(socket.at));
    requests.chain(sockets.map(|_| "WebSocket".to_owned())).collect()
}

/// Finds the references of a page, except those that an ordinary text may contain.
fn own_references(page: &PageTrace) -> Redactor {
    let mut references = Redactor::empty();
    for reference in page.references.iter().filter(|reference| reference.starts_with(OWN_REFERENCE)) {
        references.add("reference", reference);
    }
    references
}

/// What a page sent, each request and WebSocket in parts, with its URL without the query.
fn sent_parts<'p>(
    page: &'p PageTrace,
    serves: &dyn Fn(&PageRequest) -> bool,
) -> Vec<(Vec<Cow<'p, [u8]>>, String)> {
    let short = |url: &str| url.split(['?', '#']).next().unwrap_or_default().to_owned();
    let requests = page.record.requests.iter().filter(|request| !serves(request)).map(|request| {
        let headers: Vec<String> =
            request.headers.iter().map(|(name, value)| format!("{name}: {value}")).collect();
        let body = Cow::Borrowed(request.body.as_deref().unwrap_or_default());
        let url = Cow::Borrowed(request.url.as_bytes());
        (vec![url, headers.join("\n").into_bytes().into(), body], short(&request.url))
    });
    let sockets = page.record.websockets.iter().map(|socket| {
        let sent = socket.sent.iter().map(|message| Cow::Borrowed(message.as_slice()));
        (sent.chain([Cow::Borrowed(socket.url.as_bytes())]).collect(), short(&socket.url))
    });
    requests.chain(sockets).collect()
}
