//! Values of pages and their sessions.

use serde::{Deserialize, Serialize};

use super::choice::values;
use super::value::{AnswerValue, Silence, Wire};

/// The last call of a session in a page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SessionValue {
    /// Name of the function.
    pub call: String,
    /// Its end.
    pub end: SessionEnd,
    /// Text of the error that it failed with.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub actual: Option<Wire>,
    /// What it threw, without the text.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub thrown: Option<Thrown>,
    /// Time after which it had not ended (ms).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub after_ms: Option<u64>,
    /// Why the page ended.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub page_end: Option<Wire>,
}

/// A thrown value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Thrown {
    /// Name of the error, or type of another value.
    pub name: Wire,
    /// It is an error.
    pub is_error: bool,
    /// A promise was rejected with it.
    pub rejected: bool,
}

/// Which session of a case, or what it tries.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum SessionSubject {
    /// Any session.
    #[default]
    Session,
    /// The next one.
    Next,
    /// An aborted one.
    Aborted,
    /// `verify()` after the abort.
    AfterAbort,
    /// `ready()` without `start()`.
    WithoutStart,
    /// `ready()` without `start()`, again.
    WithoutStartAgain,
    /// A session with this mode.
    Mode(Wire),
    /// A session with this URL of the edge.
    ApiUrl(Wire),
}

impl SessionSubject {
    pub(super) fn is_any(&self) -> bool {
        *self == Self::Session
    }
}

/// What a page does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum PageValue {
    /// Texts or bytes of it.
    Texts(Vec<Wire>),
    /// A number.
    Number(u64),
    /// How a session ends.
    Session(SessionValue),
    /// An answer.
    Answer(AnswerValue),
    /// No answer.
    Silence(Silence),
    /// Data of the page in requests.
    Data(Vec<PageDatum>),
}

impl PageValue {
    /// One text, or the bytes of one.
    pub fn text(text: impl Into<Wire>) -> Self {
        Self::texts([text])
    }

    /// Several texts.
    pub fn texts(texts: impl IntoIterator<Item = impl Into<Wire>>) -> Self {
        Self::Texts(texts.into_iter().map(Into::into).collect())
    }
}

/// Data of the page in a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PageDatum {
    /// Its place in the page.
    pub place: PagePlace,
    /// Method of the request.
    pub method: Wire,
    /// Path of the request.
    pub path: Wire,
}

values! {
    /// A place of data in a page.
    PagePlace {
        /// Title of the page.
        Title,
        /// Path of its URL.
        Path,
        /// Query of its URL.
        Query,
        /// Fragment of its URL.
        Fragment,
        /// A cookie.
        Cookie,
        /// An entry of `localStorage`.
        #[serde(rename = "local storage")]
        #[strum(serialize = "local storage")]
        LocalStorage,
        /// An entry of `sessionStorage`.
        #[serde(rename = "session storage")]
        #[strum(serialize = "session storage")]
        SessionStorage,
        /// A field of a form.
        #[serde(rename = "form field")]
        #[strum(serialize = "form field")]
        FormField,
        /// Its text.
        #[serde(rename = "text of the page")]
        #[strum(serialize = "text of the page")]
        Text,
        /// The session reference.
        Reference,
    }

    /// End of a session in a page.
    SessionEnd {
        /// All calls returned.
        Returned,
        /// A function does not exist.
        Missing,
        /// A call failed.
        Failed,
        /// A call did not end.
        Unsettled,
        /// The page ended.
        PageGone,
    }

    /// What a page or a collector does.
    PageEffect {
        /// The module loads.
        ModuleLoads,
        /// `abort()` returns.
        AbortReturns,
        /// A collection arrives.
        CollectionArrives,
        /// A collection arrives at an edge that holds it.
        CollectionHeld,
        /// Number of collections that arrive.
        CollectionsArrive,
        /// The verdict of a session.
        Verdict,
        /// No verdict of an aborted session.
        NoVerdict,
        /// Confidence of a verdict with blocked measurements.
        Confidence,
        /// A verdict has a confidence.
        HasConfidence,
        /// Mode of a collection.
        Mode,
        /// Requests of the page.
        Requests,
        /// URL of the POST.
        Url,
        /// Body of the POST.
        Body,
        /// Body of the collection at the service.
        RelayedBody,
        /// Collections differ in their bytes.
        DistinctCollections,
        /// Data of the page in clear.
        PageData,
        /// Reference or measurements in clear.
        Reference,
        /// Reference in clear outside of the body.
        ReferenceOutside,
        /// Reference in the opened collection.
        SameReference,
        /// The seal opens.
        SealOpens,
        /// A changed collection does not open.
        ChangedOpens,
        /// Key of the seal.
        SealKey,
        /// Uncaught errors.
        UncaughtErrors,
        /// Changed built-ins of the page.
        BuiltIns,
        /// What stays in the page.
        Leftovers,
        /// What handlers of other scripts get, and whether they are still there.
        OtherHandlers,
        /// One of several sessions at the same time.
        SessionAtOnce,
        /// A session with options that the page keeps.
        OptionsKept,
        /// A collection at the edge of another session.
        OwnEdge,
        /// Collections with one key.
        FreshKey,
        /// Collections with one key stream.
        FreshStream,
    }

    /// What a page does to its user.
    PageAct {
        /// It opens a window.
        Window,
        /// It navigates.
        Navigation,
    }
}

impl PageEffect {
    /// The value with the same symptom.
    #[must_use]
    pub fn class(self) -> Self {
        match self {
            Self::CollectionHeld | Self::CollectionsArrive => Self::CollectionArrives,
            Self::NoVerdict => Self::Verdict,
            Self::HasConfidence => Self::Confidence,
            Self::RelayedBody => Self::Body,
            Self::ReferenceOutside | Self::SameReference | Self::OwnEdge => Self::Reference,
            Self::Leftovers | Self::OtherHandlers => Self::BuiltIns,
            Self::FreshStream => Self::FreshKey,
            other => other,
        }
    }
}
