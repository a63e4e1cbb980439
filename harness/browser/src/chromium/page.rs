use std::sync::Arc;
use std::time::Duration;

use chromiumoxide::cdp::browser_protocol::browser::{
    BrowserContextId, SetDownloadBehaviorBehavior, SetDownloadBehaviorParams,
};
use chromiumoxide::cdp::browser_protocol::emulation::{
    SetFocusEmulationEnabledParams, SetLocaleOverrideParams, SetTimezoneOverrideParams,
};
use chromiumoxide::cdp::browser_protocol::input::{DispatchKeyEventParams, DispatchKeyEventType};
use chromiumoxide::cdp::browser_protocol::page::{
    AddScriptToEvaluateOnNewDocumentParams, CrashParams, NavigateParams, ResetNavigationHistoryParams,
};
use chromiumoxide::cdp::browser_protocol::target::{
    CreateBrowserContextParams, CreateTargetParams, DisposeBrowserContextParams,
};
use chromiumoxide::cdp::js_protocol::runtime::{
    CallArgument, CallFunctionOnParams, EvaluateParams, RunIfWaitingForDebuggerParams,
};
use humantime::format_duration;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep_until, timeout, timeout_at};

use super::connection::{CommandFailure, Connection};
use super::page_state::{PageState, Phase};
use super::recording::text;
use crate::{BrowserError, CallOutcome, CollectorCall, ErrorPath, PageError, PageOptions, PageRecord};

/// Function that defines the driver in a page.
const DRIVER: &str = include_str!("driver.js");
/// Timeout of a new tab. The time limit of the page counts from then on.
const BLANK_LIMIT: Duration = Duration::from_secs(30);
/// Timeout for the reason why a page is gone, after a command failed because of it. Chromium fails the command first, and
/// a busy machine may take seconds for the event that says why.
const REASON_LIMIT: Duration = Duration::from_secs(20);

/// Open page in a context of its own. Dropping it closes it.
#[derive(Debug)]
pub struct Page {
    connection: Connection,
    context: BrowserContextId,
    state: Arc<PageState>,
    /// Session of the page.
    session: String,
    /// Handle of the driver.
    driver: String,
    time_limit: Duration,
}

impl Page {
    /// Opens a page: an empty one first, so that the recording and the scripts are there before it loads.
    pub(super) async fn open(connection: &Connection, options: PageOptions) -> Result<Self, BrowserError> {
        let failed = |why: String| BrowserError::Open { url: options.url.clone(), why };
        let limit = options.time_limit;
        let page = within(BLANK_LIMIT, "Chromium opened no tab", Self::blank(connection, limit)).await;
        let page = page.map_err(failed)?;
        within(limit, "it did not load", page.load(&options)).await.map_err(failed)
    }

    async fn load(mut self, options: &PageOptions) -> Result<Self, String> {
        let key = format!("driver-{:032x}", rand::random::<u128>());
        let define = format!("({DRIVER})({});", json!(key));
        for source in std::iter::once(define.as_str()).chain(options.before_load.iter().map(String::as_str)) {
            self.execute(&AddScriptToEvaluateOnNewDocumentParams::new(source)).await?;
        }
        if let Some(locale) = &options.locale {
            let locale = Some(locale.clone());
            self.execute(&SetLocaleOverrideParams { locale }).await?;
        }
        if let Some(zone) = &options.time_zone {
            self.execute(&SetTimezoneOverrideParams::new(zone.as_str())).await?;
        }
        self.state.advance(Phase::Blank, Phase::Navigating);
        let answer = self.execute(&NavigateParams::new(options.url.as_str())).await?;
        if let Some(why) = answer.pointer("/errorText").and_then(Value::as_str) {
            return Err(why.to_owned());
        }
        self.state.reached(Phase::Loaded).await;
        self.state.advance(Phase::Loaded, Phase::Open);
        let name = json!(key);
        let take = format!("(driver => (delete globalThis[{name}], driver))(globalThis[{name}])");
        let driver = self.execute(&EvaluateParams::new(take)).await?;
        // As in a tab that the user opened: the empty page is no entry of the history, and the page may close itself.
        self.execute(&ResetNavigationHistoryParams::default()).await?;
        if let Some(why) = self.state.why_gone() {
            return Err(why);
        }
        self.driver = driver
            .pointer("/result/objectId")
            .and_then(Value::as_str)
            .ok_or("the driver is not in the page: it is no HTML document")?
            .to_owned();
        Ok(self)
    }

    /// Empty page in a context of its own.
    async fn blank(connection: &Connection, time_limit: Duration) -> Result<Self, String> {
        let create = CreateBrowserContextParams { dispose_on_detach: Some(true), ..Default::default() };
        let answer = connection.execute(None, &create).await.map_err(|why| why.to_string())?;
        let context = text(&answer, "/browserContextId");
        // From here on, a drop disposes of the context.
        let mut page = Self {
            connection: connection.clone(),
            context: context.to_owned().into(),
            state: Arc::new(PageState::new()),
            session: String::new(),
            driver: String::new(),
            time_limit,
        };
        connection.watch(context, &page.state);
        let deny = SetDownloadBehaviorParams::builder()
            .behavior(SetDownloadBehaviorBehavior::Deny)
            .browser_context_id(page.context.clone())
            .build()?;
        connection.execute(None, &deny).await.map_err(|why| why.to_string())?;
        let create = CreateTargetParams::builder()
            .url("about:blank")
            .browser_context_id(page.context.clone())
            .build()?;
        connection.execute(None, &create).await.map_err(|why| why.to_string())?;
        page.session = page.state.main_attached().await;
        page.execute(&SetFocusEmulationEnabledParams::new(true)).await?;
        Ok(page)
    }

    /// The page with another timeout for the calls from now on.
    #[must_use]
    pub fn with_time_limit(mut self, time_limit: Duration) -> Self {
        self.time_limit = time_limit;
        self
    }

    /// Calls the collector and waits for the end of the call.
    pub async fn call(&self, call: CollectorCall) -> CallOutcome {
        self.begin(call).await
    }

    /// Begins a call at once. The future yields its end.
    pub fn begin(&self, call: CollectorCall) -> impl Future<Output = CallOutcome> + Send + 'static + use<> {
        self.begin_within(self.time_limit, call)
    }

    /// The same with a timeout of its own.
    pub fn begin_within(
        &self,
        limit: Duration,
        call: CollectorCall,
    ) -> impl Future<Output = CallOutcome> + Send + 'static + use<> {
        let began = Instant::now();
        let deadline = began + limit;
        let command = CallFunctionOnParams {
            object_id: Some(self.driver.clone().into()),
            arguments: Some(vec![CallArgument { value: Some(to_json(call)), ..Default::default() }]),
            await_promise: Some(true),
            return_by_value: Some(true),
            silent: Some(true),
            ..CallFunctionOnParams::new("function (call) { return this(call); }")
        };
        let answer = self.connection.execute(Some(&self.session), &command);
        let state = Arc::clone(&self.state);
        async move {
            let unsettled = || CallOutcome::Unsettled { after: began.elapsed() };
            let answer = tokio::select! {
                biased;
                why = state.gone() => return CallOutcome::PageGone { why },
                answer = answer => answer,
                () = sleep_until(deadline) => return unsettled(),
            };
            match answer {
                Ok(answer) => outcome(&answer),
                // Nothing can settle it any more.
                Err(CommandFailure::Refused(why)) if why.contains("Promise was collected") => unsettled(),
                Err(failure) => CallOutcome::PageGone {
                    why: timeout(REASON_LIMIT, state.gone()).await.unwrap_or_else(|_| failure.to_string()),
                },
            }
        }
    }

    /// What the page did so far.
    pub fn record(&self) -> PageRecord {
        let mut record = self.state.record(|recording| recording.record());
        record.gone = self.state.why_gone();
        record
    }

    /// Waits until everything that the page did before this call is in the record, at most for the page's time limit.
    pub async fn settle(&self) {
        let deadline = Instant::now() + self.time_limit;
        // Each target answers after it reported what it did before.
        let answers: Vec<_> = self
            .state
            .sessions()
            .iter()
            .map(|session| self.connection.execute(Some(session), &RunIfWaitingForDebuggerParams::default()))
            .collect();
        for answer in answers {
            // A target that hangs, and one that ended, reports no more.
            let _ = timeout_at(deadline, answer).await;
        }
        let _ = timeout_at(deadline, self.state.bodies_arrived()).await;
    }

    /// Evaluates an expression in the page, awaits a promise, and returns its value as JSON.
    pub async fn evaluate(&self, javascript: &str) -> Result<Value, BrowserError> {
        let command = EvaluateParams {
            await_promise: Some(true),
            return_by_value: Some(true),
            ..EvaluateParams::new(javascript)
        };
        let failed = |why: String| BrowserError::Evaluate { why };
        let answer = within(self.time_limit, "it did not end", self.execute(&command)).await;
        let answer = answer.map_err(failed)?;
        match exception(&answer) {
            Some(why) => Err(failed(why)),
            None => Ok(answer.pointer("/result/value").cloned().unwrap_or_default()),
        }
    }

    /// Presses a key as a user does, for tests of pages: `Tab`, `Enter`, `Escape`, or a character.
    #[doc(hidden)]
    pub async fn press(&self, key: &str) -> Result<(), BrowserError> {
        let (code, text) = match key {
            "Tab" => (9, None),
            "Enter" => (13, Some("\r")),
            "Escape" => (27, None),
            character => (0, Some(character)),
        };
        for kind in [DispatchKeyEventType::KeyDown, DispatchKeyEventType::KeyUp] {
            let mut event = DispatchKeyEventParams::new(kind);
            event.key = Some(key.to_owned());
            event.windows_virtual_key_code = Some(code);
            event.text = text.map(str::to_owned);
            let pressed = within(self.time_limit, "the key had no effect", self.execute(&event)).await;
            pressed.map_err(|why| BrowserError::Evaluate { why })?;
        }
        Ok(())
    }

    /// Makes the page's process crash, as a fault of Chromium would.
    #[doc(hidden)]
    pub async fn crash(&self) {
        self.connection.send(Some(&self.session), &CrashParams::default());
        self.state.gone().await;
    }

    async fn execute<C: chromiumoxide::Command>(&self, command: &C) -> Result<Value, String> {
        let answer = self.connection.execute(Some(&self.session), command);
        tokio::select! {
            biased;
            answer = answer => answer.map_err(|why| self.state.why_gone().unwrap_or_else(|| why.to_string())),
            why = self.state.gone() => Err(why),
        }
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        self.state.is_gone("the test closed the page");
        self.connection.forget(&self.state);
        self.connection.send(None, &DisposeBrowserContextParams::new(self.context.clone()));
    }
}

/// Limits an operation. The error after the limit is `what` with the time.
async fn within<T>(
    limit: Duration,
    what: &str,
    operation: impl Future<Output = Result<T, String>>,
) -> Result<T, String> {
    let ended = timeout(limit, operation).await;
    ended.unwrap_or_else(|_| Err(format!("{what} within {}", format_duration(limit))))
}

/// Argument of the driver.
fn to_json(call: CollectorCall) -> Value {
    match call {
        CollectorCall::Load { module_url } => json!({"name": "load", "url": module_url}),
        CollectorCall::Create { options, signal } => {
            json!({"name": "create", "options": options, "withSignal": signal})
        }
        CollectorCall::Start { session_ref } => {
            json!({"name": "start", "args": session_ref.into_iter().collect::<Vec<_>>()})
        }
        CollectorCall::Ready => json!({"name": "ready"}),
        CollectorCall::Verify => json!({"name": "verify"}),
        CollectorCall::VerifyTwice => json!({"name": "verifyTwice"}),
        CollectorCall::SecondVerify => json!({"name": "secondVerify"}),
        CollectorCall::Abort => json!({"name": "abort"}),
        CollectorCall::AbortSignal => json!({"name": "abortSignal"}),
    }
}

/// Result of the driver.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Ending {
    Failed {
        failed: Thrown,
        how: String,
    },
    Missing {
        #[expect(dead_code, reason = "its presence says it")]
        missing: bool,
    },
    Returned {
        returned: Value,
    },
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Thrown {
    name: String,
    message: String,
    is_error: bool,
}

fn outcome(answer: &Value) -> CallOutcome {
    let ending = text(answer, "/result/value");
    match serde_json::from_str(ending) {
        Ok(Ending::Returned { returned }) => CallOutcome::Returned(returned),
        Ok(Ending::Missing { .. }) => CallOutcome::Missing,
        Ok(Ending::Failed { failed: Thrown { name, message, is_error }, how }) => CallOutcome::Failed {
            error: PageError { name, message, is_error },
            how: if how == "thrown" { ErrorPath::Thrown } else { ErrorPath::Rejected },
        },
        // The driver itself failed, for example because the page used up all memory.
        Err(_) => CallOutcome::Failed {
            error: PageError {
                name: "driver".into(),
                message: exception(answer).unwrap_or_else(|| "it returned no outcome".into()),
                is_error: false,
            },
            how: ErrorPath::Thrown,
        },
    }
}

/// Text of the exception that ended an evaluation.
fn exception(answer: &Value) -> Option<String> {
    let details = answer.pointer("/exceptionDetails")?;
    let description = details.pointer("/exception/description").or_else(|| details.pointer("/text"));
    Some(description.and_then(Value::as_str).unwrap_or("it threw").to_owned())
}
