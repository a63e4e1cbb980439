use std::sync::Arc;
use std::time::{Duration, Instant};

use edgeproof_browser::{
    BrowserError, CallOutcome, CollectorCall, Page, PageOptions, PageRecord, PageRequest,
};
use edgeproof_fixtures::spec::Endpoint;
use edgeproof_reports::CaseLevel;
use parking_lot::Mutex;
use rand::RngExt;
use serde_json::{Map, Value, json};
use url::Url;

use super::collector::CollectorTarget;
use super::collector_traffic::PageTrace;
use crate::collector::{Canaries, PageForm, PageOrigin};
use crate::judge::SessionResult;

/// Timeout of opening a page. A busy machine takes long, whatever the collector does.
const OPEN_TIMEOUT: Duration = Duration::from_secs(30);
/// Timeout for the record of what a page did.
const SETTLE_TIMEOUT: Duration = Duration::from_secs(2);
/// Chromium's error of a request that the page itself ended.
const CANCELLED: &str = "net::ERR_ABORTED";
/// Most requests of a page that later cases use as well.
const MOST_REQUESTS: usize = 200;

/// A page of a case, with the module loaded. If `create()` makes no independent collectors, each session gets a new page.
#[derive(Debug)]
pub struct CollectorPage {
    target: Arc<CollectorTarget>,
    setup: PageSetup,
    timeout: Duration,
    current: Mutex<Arc<OpenPage>>,
    earlier: Mutex<Vec<Arc<OpenPage>>>,
}

/// How to open a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageSetup {
    /// Origin of the page.
    pub origin: PageOrigin,
    /// Its form.
    pub form: PageForm,
    /// Scripts that run first.
    pub before: Vec<String>,
    /// Locale of its scripts (default: that of the browser).
    pub locale: Option<String>,
    /// Time zone of its scripts (default: that of the system).
    pub time_zone: Option<String>,
}

impl PageSetup {
    /// A usual page of this origin.
    pub fn at(origin: PageOrigin) -> Self {
        Self { origin, form: PageForm::Usual, before: Vec::new(), locale: None, time_zone: None }
    }

    /// Whether any case can use the page.
    fn is_plain(&self) -> bool {
        *self == Self::at(PageOrigin::Https)
    }
}

/// A page that is open. Later cases can use it, if nothing is left over from the first one.
#[derive(Debug)]
pub(crate) struct OpenPage {
    page: Page,
    canaries: Canaries,
    url: String,
    module: String,
    calls: Mutex<Calls>,
}

/// Calls of one case.
#[derive(Debug, Default)]
struct Calls {
    references: Vec<String>,
    edges: Vec<String>,
    started: Option<Instant>,
    created: bool,
    /// A session is not over, or a call did not end.
    unfinished: bool,
    /// What earlier cases did.
    before: PageRecord,
}

/// Why a page cannot be used.
#[derive(Debug)]
pub(super) enum PageFailure {
    /// It does not open.
    Browser(BrowserError),
    /// The module does not load: what it did instead.
    Module(SessionResult),
}

impl CollectorPage {
    /// Opens a page, or takes an open one, and loads the module.
    pub(super) async fn open(
        target: &Arc<CollectorTarget>,
        setup: PageSetup,
        timeout: Duration,
    ) -> Result<Self, PageFailure> {
        let idle = if setup.is_plain() { target.take_idle() } else { None };
        let page = match idle {
            Some(page) => page,
            None => Arc::new(OpenPage::open(target, &setup, timeout).await?),
        };
        let (target, current, earlier) = (Arc::clone(target), Mutex::new(page), Mutex::default());
        Ok(Self { target, setup, timeout, current, earlier })
    }

    /// Calls the collector and waits for the end of the call.
    pub async fn call(&self, call: CollectorCall) -> CallOutcome {
        let page = self.current();
        page.note(&call);
        let outcome = page.page.begin_within(self.timeout, call).await;
        if matches!(outcome, CallOutcome::Unsettled { .. } | CallOutcome::PageGone { .. }) {
            page.calls.lock().unfinished = true;
        }
        outcome
    }

    /// Begins a call at once. The future yields its end.
    pub fn begin(&self, call: CollectorCall) -> impl Future<Output = SessionResult> + Send + use<> {
        let page = self.current();
        page.note(&call);
        page.calls.lock().unfinished = true;
        let name = call.name();
        let outcome = page.page.begin_within(self.timeout, call);
        async move { SessionResult { call: name, outcome: outcome.await } }
    }

    /// Runs a session: `create()`, `start()`, `ready()` and `verify()`, until one of them fails.
    pub async fn session(&self, options: Map<String, Value>, reference: &str) -> SessionResult {
        let calls = [
            CollectorCall::Create { options: Value::Object(options), signal: false },
            CollectorCall::Start { session_ref: Some(reference.to_owned()) },
            CollectorCall::Ready,
            CollectorCall::Verify,
        ];
        self.play(calls).await
    }

    /// Runs sessions with these options and references by a function of the page. It gets the module's `create` and the
    /// sessions, and returns a text or null for each of them. None: the page cannot run it.
    pub async fn sessions(
        &self,
        function: &str,
        sessions: &[(Map<String, Value>, String)],
    ) -> Option<Vec<Option<String>>> {
        let page = self.current();
        for (options, reference) in sessions {
            page.note(&CollectorCall::Create { options: Value::Object(options.clone()), signal: false });
            page.note(&CollectorCall::Start { session_ref: Some(reference.clone()) });
        }
        let (module, sessions) = (json!(page.module), json!(sessions));
        let script = format!("import({module}).then(({{ create }}) => ({function})(create, {sessions}))");
        serde_json::from_value(self.evaluate(&script).await?).ok()
    }

    /// Makes these calls in turn, until one of them fails.
    pub async fn play(&self, calls: impl IntoIterator<Item = CollectorCall>) -> SessionResult {
        let mut last = SessionResult::begun();
        for call in calls {
            if matches!(call, CollectorCall::Create { .. })
                && let Err(why) = self.renew().await
            {
                return SessionResult { call: "import()", outcome: CallOutcome::PageGone { why } };
            }
            let name = call.name();
            last = SessionResult { call: name, outcome: self.call(call).await };
            if !last.is_returned() {
                break;
            }
        }
        last
    }

    /// Evaluates an expression in the page. None: it failed.
    pub async fn evaluate(&self, javascript: &str) -> Option<Value> {
        let page = self.current();
        // What a script changes stays changed.
        page.calls.lock().unfinished = true;
        page.page.evaluate(javascript).await.ok()
    }

    /// What the page did in this case so far, when all of it is recorded.
    pub async fn record(&self) -> PageRecord {
        self.current().record().await
    }

    /// Why the browser stopped a collection or its preflight, if it did. The collector itself may cancel others.
    pub async fn stopped_post(&self) -> Option<String> {
        let failed = self.collections().await.into_iter().filter_map(|request| request.failed);
        failed.into_iter().find(|why| !why.contains(CANCELLED))
    }

    /// Number of collections that the page began to post in this case. Each is known before it arrives at the edge.
    pub async fn posts(&self) -> usize {
        self.collections().await.iter().filter(|request| is_post(request)).count()
    }

    /// Number of collections that the page began to post before this time.
    pub async fn posts_until(&self, time: Instant) -> usize {
        let mut requests = self.collections().await;
        requests.retain(|request| is_post(request) && request.at <= time);
        requests.len()
    }

    /// Requests with collections in this case, with their preflights.
    async fn collections(&self) -> Vec<PageRequest> {
        let earlier = self.earlier.lock().clone();
        let mut requests = Vec::new();
        for page in earlier.into_iter().chain([self.current()]) {
            requests.extend(page.record().await.requests);
        }
        let signals = self.target.edges.spec.path(Endpoint::Signals);
        let is_to_signals = |url: Url| url.path() == signals;
        requests.retain(|request| Url::parse(&request.url).is_ok_and(is_to_signals));
        requests
    }

    /// Data of the page.
    pub fn canaries(&self) -> Canaries {
        Canaries::new(self.current().canaries.seed())
    }

    /// Ends the use by a case: records it for the monitors, and keeps the page for the next case if it can.
    pub(super) async fn finish(&self, case: &str, level: CaseLevel) {
        let earlier = std::mem::take(&mut *self.earlier.lock());
        let current = self.current();
        for page in earlier.into_iter().chain([Arc::clone(&current)]) {
            let record = page.record().await;
            let mut calls = page.calls.lock();
            let full = page.page.record();
            let is_idle = !calls.unfinished
                && full.gone.is_none()
                && full.requests.len() < MOST_REQUESTS
                && full.request_count == full.requests.len();
            let used = std::mem::take(&mut *calls);
            *calls = Calls { unfinished: !is_idle, before: full, ..Calls::default() };
            drop(calls);
            self.target.traffic.push(PageTrace {
                case: case.to_owned(),
                level,
                canaries: Canaries::new(page.canaries.seed()),
                references: used.references,
                edges: used.edges,
                page: page.url.clone(),
                module: page.module.clone(),
                started: used.started,
                record,
            });
        }
        if self.setup.is_plain() && self.target.is_independent && !current.calls.lock().unfinished {
            self.target.keep_idle(current);
        }
    }

    fn current(&self) -> Arc<OpenPage> {
        Arc::clone(&self.current.lock())
    }

    /// Opens a new page, if this one had a collector and cannot have another. The error says why there is none.
    async fn renew(&self) -> Result<(), String> {
        let page = self.current();
        let was_created = std::mem::replace(&mut page.calls.lock().created, true);
        if self.target.is_independent || !was_created {
            return Ok(());
        }
        let next = OpenPage::open(&self.target, &self.setup, self.timeout).await;
        let next = next.map_err(|why| match why {
            PageFailure::Browser(why) => edgeproof_cli::error_text(&why),
            PageFailure::Module(load) => load.value().to_string(),
        })?;
        next.calls.lock().created = true;
        let last = std::mem::replace(&mut *self.current.lock(), Arc::new(next));
        self.earlier.lock().push(last);
        Ok(())
    }
}

impl OpenPage {
    async fn open(
        target: &CollectorTarget,
        setup: &PageSetup,
        timeout: Duration,
    ) -> Result<Self, PageFailure> {
        let PageSetup { origin, form, before, locale, time_zone } = setup;
        let canaries = Canaries::new(rand::rng().random());
        let url = target.pages.page_url(*origin, *form, &canaries);
        let options = PageOptions {
            url: url.clone(),
            before_load: before.clone(),
            time_limit: timeout.max(OPEN_TIMEOUT),
            locale: locale.clone(),
            time_zone: time_zone.clone(),
        };
        let page = target.browser.open(options).await.map_err(PageFailure::Browser)?;
        let module = target.pages.module_url(form.inner_origin(*origin));
        let load = CollectorCall::Load { module_url: target.pages.loaded_url(*origin, *form, &canaries) };
        match page.begin_within(timeout, load.clone()).await {
            CallOutcome::Returned(_) => Ok(Self { page, canaries, url, module, calls: Mutex::default() }),
            outcome => Err(PageFailure::Module(SessionResult { call: load.name(), outcome })),
        }
    }

    async fn record(&self) -> PageRecord {
        // A page in an endless loop settles nothing.
        let _ = tokio::time::timeout(SETTLE_TIMEOUT, self.page.settle()).await;
        rest_of(self.page.record(), &self.calls.lock().before)
    }

    fn note(&self, call: &CollectorCall) {
        let mut calls = self.calls.lock();
        match call {
            CollectorCall::Create { options, .. } => {
                calls.edges.extend(options.get("apiUrl").and_then(Value::as_str).map(str::to_owned));
            }
            CollectorCall::Start { session_ref } => {
                calls.started.get_or_insert_with(Instant::now);
                calls.references.extend(session_ref.clone());
            }
            CollectorCall::Abort | CollectorCall::AbortSignal => calls.unfinished = true,
            _ => {}
        }
    }
}

/// A collection itself, not its preflight.
fn is_post(request: &PageRequest) -> bool {
    request.method == "POST"
}

/// The record without what came before.
fn rest_of(mut record: PageRecord, before: &PageRecord) -> PageRecord {
    fn rest<T>(list: &mut Vec<T>, before: &[T]) {
        list.drain(..before.len().min(list.len()));
    }
    record.request_count = record.request_count.saturating_sub(before.requests.len());
    rest(&mut record.requests, &before.requests);
    rest(&mut record.websockets, &before.websockets);
    rest(&mut record.console_errors, &before.console_errors);
    rest(&mut record.uncaught, &before.uncaught);
    rest(&mut record.dialogs, &before.dialogs);
    rest(&mut record.navigations, &before.navigations);
    rest(&mut record.windows, &before.windows);
    record
}
