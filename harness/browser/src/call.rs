use std::time::Duration;

use serde_json::Value;

/// Call of a collector in a page. Each call awaits what the function returns.
#[derive(Debug, Clone, PartialEq)]
pub enum CollectorCall {
    /// Imports an ES module and checks that it exports a function `create`.
    Load {
        /// URL of the module, absolute or relative to the page.
        module_url: String,
    },
    /// `create(options)` of the module. The other calls use the object that it returns.
    Create {
        /// Options, as JSON.
        options: Value,
        /// Whether the options also get `signal`, the `AbortSignal` of [`CollectorCall::AbortSignal`].
        signal: bool,
    },
    /// `start(sessionRef)`.
    Start {
        /// Argument (`None`: the call has no argument).
        session_ref: Option<String>,
    },
    /// `ready()`.
    Ready,
    /// `verify()`.
    Verify,
    /// `verify()` twice, the second call before the page does anything else. Ends with the first one.
    VerifyTwice,
    /// Ends with the second call of [`CollectorCall::VerifyTwice`].
    SecondVerify,
    /// `abort()`.
    Abort,
    /// Aborts the signal that `create` got.
    AbortSignal,
}

/// End of a call.
#[derive(Debug, Clone, PartialEq)]
pub enum CallOutcome {
    /// The function returned, or its promise was fulfilled.
    Returned(
        /// Value as JSON; `null` for a value without JSON, such as `undefined`, a function or a cyclic object.
        Value,
    ),
    /// The function does not exist. For [`CollectorCall::Load`]: the module exports no function `create`.
    Missing,
    /// The function failed.
    Failed {
        /// What it threw.
        error: PageError,
        /// How it failed.
        how: ErrorPath,
    },
    /// The call did not end within its timeout.
    Unsettled {
        /// Time since the call.
        after: Duration,
    },
    /// The page ended before the call did: it navigated, closed, or crashed.
    PageGone {
        /// What happened, as a clause: `the page navigated to https://…`.
        why: String,
    },
}

/// How an error left a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorPath {
    /// The function threw it.
    Thrown,
    /// The promise that the function returned was rejected with it.
    Rejected,
}

/// Thrown value. Long texts are cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageError {
    /// `name` of an error; the type of any other value, such as `string`.
    pub name: String,
    /// `message` of an error; any other value as text.
    pub message: String,
    /// Whether it is an `Error` or a `DOMException`. A thrown string is neither.
    pub is_error: bool,
}

impl CollectorCall {
    /// Name of the function, as a page author writes it: `start()`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Load { .. } => "import()",
            Self::Create { .. } => "create()",
            Self::Start { .. } => "start()",
            Self::Ready => "ready()",
            Self::Verify | Self::VerifyTwice | Self::SecondVerify => "verify()",
            Self::Abort => "abort()",
            Self::AbortSignal => "AbortController.abort()",
        }
    }
}
