use std::sync::Arc;
use std::time::Duration;

use edgeproof_fixtures::collector::modes;
use edgeproof_fixtures::seal::{CollectionFault, CollectorMode, SealPublicKey};
use edgeproof_fixtures::spec::{Advice, Fact, Spec};
use edgeproof_http::{Answer, ConnectionUse, NoAnswer, Request, Sent};
use edgeproof_mock::{Arrival, ArrivalAnswer, ServiceEndpoint};
use edgeproof_reports::Hop;
use edgeproof_reports::difference::{PageEffect, PageValue, Wire};
use parking_lot::Mutex;
use serde_json::{Map, Value, json};

use super::collector_page::{CollectorPage, OpenPage, PageFailure, PageSetup};
use super::collector_traffic::CollectorTraffic;
use super::{CaseContext, CaseExchange, CaseFindings, CaseTarget};
use crate::collector::{
    CollectorEdge, CollectorModule, EdgeCredentials, EdgeSetup, OpenedCollection, Opener, PageOrigin,
    PageServer, SeenRequest, SharedBrowser,
};
use crate::judge::{Check, ExpectedError};

/// Prefix of the references that occur nowhere else.
pub(crate) const OWN_REFERENCE: &str = "edgeproof-";
/// Longest wait for the end of requests at the service.
const END_LIMIT: Duration = Duration::from_secs(2);

/// A collector under test, and what its pages need.
#[derive(Debug, Clone)]
pub struct CollectorTarget {
    /// The module.
    pub module: CollectorModule,
    /// Name of the maker in error texts.
    pub name: String,
    /// The browser.
    pub browser: Arc<SharedBrowser>,
    /// Pages and module.
    pub pages: Arc<PageServer>,
    /// Tables and credentials of the edges.
    pub edges: Arc<EdgeCredentials>,
    /// All pages of the run.
    pub traffic: Arc<CollectorTraffic>,
    /// Whether the collector seals to the key of the mock service.
    pub seal: SealUse,
    /// Opens collections of a format of its own.
    pub opener: Option<Arc<Opener>>,
    /// Each `create()` makes a collector of its own. Otherwise a page can have one session only.
    pub is_independent: bool,
    /// Why the browser stopped a request of a usual session to a correct edge, if it did.
    pub stopped: Option<String>,
    /// Open pages that no case uses.
    pub(crate) idle: Arc<Mutex<Vec<Arc<OpenPage>>>>,
}

/// How a collector uses the key in `options.sealKey`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SealUse {
    /// Its collections open.
    Opens,
    /// It names the key or posts readable collections: its collections have to open, and do not.
    Broken,
    /// It seals in a format of its own, or to a key of its own: only its service and the user's program can open its
    /// collections.
    Foreign,
}

/// Why a collection does not open.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unopened {
    /// The service refuses it.
    #[error(transparent)]
    Fault(#[from] CollectionFault),
    /// The user's program says so.
    #[error("the command of --open-with ended with exit code 1")]
    Program,
}

/// The context of one case at a collector: opens pages and starts edges.
pub type CollectorCaseContext = CaseContext<CollectorTarget>;

/// What a collector keeps for one case.
#[derive(Default)]
pub struct CollectorState {
    edges: Vec<Arc<CollectorEdge>>,
    pages: Vec<Arc<CollectorPage>>,
}

impl CaseTarget for CollectorTarget {
    type State = CollectorState;

    fn spec(&self) -> &Spec {
        &self.edges.spec
    }
}

impl CollectorTarget {
    pub(super) fn take_idle(&self) -> Option<Arc<OpenPage>> {
        self.idle.lock().pop()
    }

    pub(super) fn keep_idle(&self, page: Arc<OpenPage>) {
        self.idle.lock().push(page);
    }
}

impl CollectorCaseContext {
    /// A session reference that no other case passes.
    pub fn reference(&self, name: &str) -> String {
        format!("{OWN_REFERENCE}{}-{name}", self.marker)
    }

    /// Options of `create()` for this edge: `apiUrl` and the key to seal to.
    pub fn options(&self, api_url: &str) -> Map<String, Value> {
        let mut options = Map::new();
        options.insert("apiUrl".into(), json!(api_url));
        options.insert("sealKey".into(), self.seal_key().to_jwk());
        options
    }

    /// Options with the mode that measures least. Cases that are not about measurements take it, because it is fast.
    pub fn quick_options(&self, api_url: &str) -> Map<String, Value> {
        let mut options = self.options(api_url);
        let modes = modes(self.spec());
        let quick = modes.iter().find(|mode| **mode == CollectorMode::Passive.name()).or(modes.last());
        options.extend(quick.map(|mode| ("mode".into(), json!(mode))));
        options
    }

    /// The key that collections are sealed to.
    pub fn seal_key(&self) -> &SealPublicKey {
        self.target.edges.credentials.seal_keys().current()
    }

    /// A correct edge for pages at `https://shop.test`.
    pub fn edge_setup(&self) -> EdgeSetup {
        EdgeSetup::new(self.target.pages.origin(PageOrigin::Https))
    }

    /// Starts an edge. Its service accepts all collections if nobody can open them. None: it does not start, so the
    /// case does not run.
    pub async fn edge(&mut self, setup: EdgeSetup) -> Option<Arc<CollectorEdge>> {
        match CollectorEdge::start(&self.target.edges, setup).await {
            Ok(mut edge) => {
                if self.target.seal != SealUse::Opens {
                    edge.accept_all();
                }
                let edge = Arc::new(edge);
                self.state.edges.push(Arc::clone(&edge));
                Some(edge)
            }
            Err(why) => {
                self.found.not_run = Some(edgeproof_cli::error_text(&why));
                None
            }
        }
    }

    /// Starts an edge and opens a page. None: as for one of them alone.
    pub async fn opened(&mut self, setup: EdgeSetup) -> Option<(Arc<CollectorEdge>, Arc<CollectorPage>)> {
        let edge = self.edge(setup).await?;
        Some((edge, self.page().await?))
    }

    /// Opens a page at `https://shop.test` and loads the module.
    pub async fn page(&mut self) -> Option<Arc<CollectorPage>> {
        self.page_at(PageOrigin::Https, Vec::new()).await
    }

    /// Opens a page of this origin and loads the module. `before`: scripts that run first.
    pub async fn page_at(&mut self, origin: PageOrigin, before: Vec<String>) -> Option<Arc<CollectorPage>> {
        self.page_with(PageSetup { before, ..PageSetup::at(origin) }).await
    }

    /// Opens a page and loads the module. None: the page does not open, so the case does not run, or the module does not
    /// load, which a check reports.
    pub async fn page_with(&mut self, setup: PageSetup) -> Option<Arc<CollectorPage>> {
        match CollectorPage::open(&self.target, setup, self.timeout).await {
            Ok(page) => {
                let page = Arc::new(page);
                self.state.pages.push(Arc::clone(&page));
                Some(page)
            }
            Err(PageFailure::Browser(why)) => {
                self.found.not_run = Some(edgeproof_cli::error_text(&why));
                None
            }
            Err(PageFailure::Module(load)) => {
                let actual = Some(PageValue::Session(load.value()));
                self.check(Check::page(PageEffect::ModuleLoads, actual, false));
                None
            }
        }
    }

    /// Skips the case unless the mock service can open collections: it gives no verdicts about others.
    pub fn needs_verdict(&mut self) -> bool {
        if self.target.seal == SealUse::Foreign {
            self.found.not_applicable = Some("the collector does not seal to options.sealKey".into());
        }
        self.target.seal != SealUse::Foreign
    }

    /// Skips the case unless somebody can open collections.
    pub fn needs_opened(&mut self) -> bool {
        let can = self.target.seal != SealUse::Foreign || self.target.opener.is_some();
        if !can {
            let why = "the collector does not seal to options.sealKey: name a command that opens its collections with --open-with";
            self.found.not_applicable = Some(why.into());
        }
        can
    }

    /// Whether collections of this collector open.
    pub fn opens_collections(&self) -> bool {
        match self.target.seal {
            SealUse::Opens => true,
            SealUse::Broken => false,
            SealUse::Foreign => self.target.opener.is_some(),
        }
    }

    /// Opens a posted collection. None: nobody can, or the user's program failed, so the case does not run.
    pub async fn open(
        &mut self,
        edge: &CollectorEdge,
        body: &[u8],
    ) -> Option<Result<OpenedCollection, Unopened>> {
        if self.target.seal != SealUse::Foreign {
            return Some(edge.read(body).map_err(Unopened::from));
        }
        match self.target.opener.as_ref()?.open(body).await {
            Ok(opened) => Some(opened.ok_or(Unopened::Program)),
            Err(why) => {
                self.found.not_run = Some(why);
                None
            }
        }
    }

    /// The error of a row of the collector table, with the name of this collector's maker. `value`: the value or the status
    /// in its text.
    pub fn error(&self, row: &str, value: &str) -> ExpectedError {
        // A version without the row has no case of it.
        let text = match &self.row(row).fact {
            Fact::Thrown { text } => text.as_str(),
            _ => "",
        };
        // A row has the whole text, or the name of an error whose text the browser chooses.
        if !text.contains(' ') {
            return ExpectedError::Name(text.to_owned());
        }
        let text = match text.strip_prefix("service: ") {
            Some(rest) => format!("{}: {rest}", self.target.name),
            None => text.to_owned(),
        };
        ExpectedError::Text(text.replace("<value>", value).replace("<status>", value))
    }

    /// Ends the case: records its pages for the monitors and its requests for the report.
    pub(crate) async fn finish(mut self) -> CaseFindings {
        let mut is_stopped = false;
        for page in self.state.pages.drain(..) {
            if self.found.failed.is_some() && self.target.stopped.is_some() {
                is_stopped |= page.stopped_post().await == self.target.stopped;
            }
            page.finish(&self.case, self.level).await;
        }
        for edge in self.state.edges.drain(..) {
            self.found.arrivals.extend(edge.arrivals(END_LIMIT).await);
            self.found.sent.extend(edge.requests().into_iter().map(exchange));
        }
        let stopped = self
            .target
            .stopped
            .as_deref()
            .filter(|_| is_stopped)
            .map(|why| Advice::PostStopped { reason: why.into() });
        let refused = || self.found.arrivals.iter().find_map(refusal);
        let Some(advice) = stopped.or_else(refused) else { return self.found };
        // The other failures of the case follow from the first of the heaviest ones, which the report shows.
        if let Some(first) =
            self.found.checks.iter_mut().filter(|check| !check.ok).min_by_key(|check| check.level)
            && (is_stopped || first.advice.is_empty())
        {
            first.advice = vec![advice];
            if let Some(difference) = first.difference.as_mut().filter(|_| is_stopped) {
                difference.stopped = self.target.stopped.as_ref().map(Wire::from);
            }
        }
        self.found
    }
}

/// Advice with status and body of the mock service's own refusal.
fn refusal(arrival: &Arrival) -> Option<Advice> {
    match &arrival.answer {
        Some(ArrivalAnswer::Answer { status, body, .. })
            if arrival.endpoint == ServiceEndpoint::Relay && !arrival.claimed && *status >= 400 =>
        {
            Some(Advice::CollectionRefused { status: u64::from(*status), refusal: body.into() })
        }
        _ => None,
    }
}

/// A request of the page to an edge, for the report.
fn exchange(seen: SeenRequest) -> CaseExchange {
    let request = Request {
        method: seen.method.to_string(),
        target: seen.path,
        version: seen.version,
        headers: seen.headers,
        body: seen.body.unwrap_or_default(),
        complete: true,
    };
    let reply = match seen.answer {
        Some(answer) => Ok(Answer {
            status: answer.status.as_u16(),
            version: request.version,
            headers: answer.headers,
            body: answer.body,
            complete: true,
        }),
        None => Err(NoAnswer::Closed),
    };
    let sent = Sent {
        place: ConnectionUse::first(),
        request,
        reply,
        violations: Vec::new(),
        at: seen.at,
        took: Duration::ZERO,
    };
    CaseExchange { hop: Hop::ClientEdge, sent, curl: None }
}
