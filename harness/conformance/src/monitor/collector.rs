//! Monitors of a collector.

use edgeproof_browser::PageRequest;
use edgeproof_fixtures::spec::Advice;
use edgeproof_reports::CaseLevel;
use edgeproof_reports::difference::{Breach, Invariant, PageAct, PagePlace};
use url::Url;

use super::breaches::{Breaches, by_case};
use crate::cases::{CaseFindings, CollectorMonitor, Monitor, PageTrace};
use crate::judge::is_readable_in;

/// Checks or observes the invariant on all pages of a run. `serves`: whether a request loads a page or the module;
/// `signals`: path of collections.
pub(crate) fn judge_collector(
    monitor: CollectorMonitor,
    pages: &[PageTrace],
    serves: &dyn Fn(&PageRequest) -> bool,
    signals: &str,
    level: CaseLevel,
) -> CaseFindings {
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
            let mut readable = Breaches::default();
            for page in pages {
                for (place, url) in readable_data(page, serves) {
                    let (datum, value) = (Some(place.name().to_owned()), Some(url.into()));
                    readable.push(Breach { datum, value, ..by_case(&page.case) });
                }
            }
            vec![readable.check(Invariant::PageData)]
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

/// Data of the page in its requests: the place, and the URL without its query.
fn readable_data(page: &PageTrace, serves: &dyn Fn(&PageRequest) -> bool) -> Vec<(PagePlace, String)> {
    let mut found = Vec::new();
    let short = |url: &str| url.split(['?', '#']).next().unwrap_or_default().to_owned();
    for request in page.record.requests.iter().filter(|request| !serves(request)) {
        let headers: Vec<String> =
            request.headers.iter().map(|(name, value)| format!("{name}: {value}")).collect();
        let headers = headers.join("\n");
        let body = request.body.as_deref().unwrap_or_default();
        let parts = [request.url.as_bytes(), headers.as_bytes(), body];
        found.extend(
            is_readable_in(&page.canaries, &parts).into_iter().map(|place| (place, short(&request.url))),
        );
    }
    for socket in &page.record.websockets {
        let sent = socket.sent.iter().map(Vec::as_slice);
        let parts: Vec<&[u8]> = sent.chain([socket.url.as_bytes()]).collect();
        found.extend(
            is_readable_in(&page.canaries, &parts).into_iter().map(|place| (place, short(&socket.url))),
        );
    }
    found
}
