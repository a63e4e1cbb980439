use std::fmt;
use std::time::Duration;

use super::text::Rendered;
use crate::difference::page::{PageDatum, PageEffect, PageValue, SessionEnd, SessionSubject, SessionValue};
use crate::difference::value::Wire;

pub(super) fn session(
    subject: &SessionSubject,
    error: Option<&Wire>,
    by_name: bool,
    session: &SessionValue,
) -> Rendered {
    let what = match subject {
        SessionSubject::Session => "session".to_owned(),
        SessionSubject::Next => "next session".to_owned(),
        SessionSubject::Aborted => "aborted session".to_owned(),
        SessionSubject::AfterAbort => "verify() after the abort".to_owned(),
        SessionSubject::WithoutStart => "ready() without start()".to_owned(),
        SessionSubject::WithoutStartAgain => "the next ready() without start()".to_owned(),
        SessionSubject::Mode(mode) => format!("mode {:?}", mode.text),
        SessionSubject::ApiUrl(url) => format!("apiUrl {:?}", url.text),
    };
    let expected = match error {
        None => "verify() resolves".to_owned(),
        Some(name) if by_name => format!("an error with the name {}", name.text),
        Some(text) => format!("an Error with the message {:?}", text.text),
    };
    Rendered::new(what, expected, session.to_string())
}

/// The session: `verify() rejected with TypeError: Failed to fetch`.
impl fmt::Display for SessionValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.end {
            SessionEnd::Missing if self.call == "import()" => f.write_str("it exports no function create"),
            _ => write!(f, "{} {}", self.call, self.predicate()),
        }
    }
}

impl SessionValue {
    fn predicate(&self) -> String {
        match self.end {
            SessionEnd::Returned => "returned".into(),
            SessionEnd::Missing => "does not exist".into(),
            SessionEnd::Failed => self.failure(),
            SessionEnd::Unsettled => {
                let after = Duration::from_millis(self.after_ms.unwrap_or_default());
                format!("did not end within {}", humantime::format_duration(after))
            }
            SessionEnd::PageGone => format!("did not end: {}", text(self.page_end.as_ref())),
        }
    }

    fn failure(&self) -> String {
        let message = text(self.actual.as_ref());
        let Some(thrown) = &self.thrown else { return format!("failed: {message}") };
        let how = if thrown.rejected { "rejected with" } else { "threw" };
        let name = &thrown.name.text;
        if thrown.is_error {
            return format!("{how} {name}: {message}");
        }
        format!("{how} a {name} that is not an Error: {message:?}")
    }
}

pub(super) fn page(effect: PageEffect, expected: Option<&Wire>, actual: Option<&PageValue>) -> Rendered {
    let shown = |none: &str| actual.map_or_else(|| none.to_owned(), |actual| value(actual, Wire::text));
    let cut = |none: &str| actual.map_or_else(|| none.to_owned(), |actual| value(actual, Wire::excerpt));
    let wanted = || text(expected);
    match effect {
        PageEffect::ModuleLoads => {
            Rendered::new("module", "it loads and exports create(options)", shown("it loads"))
        }
        PageEffect::AbortReturns => {
            let actual = match actual {
                Some(PageValue::Session(session)) => format!("it {}", session.predicate()),
                _ => "it returns".into(),
            };
            Rendered::new("abort()", "it returns", actual)
        }
        PageEffect::CollectionArrives => {
            Rendered::new("collection at the edge", "it arrives", shown("it arrives"))
        }
        PageEffect::CollectionHeld => {
            let actual = format!("none arrived; {}", shown(""));
            Rendered::new("collection at the edge", "it arrives", actual)
        }
        PageEffect::CollectionsArrive => Rendered::new("collections at the edge", wanted(), shown("none")),
        PageEffect::Verdict => Rendered::new("verdict", "200 with this reference", shown("none")),
        PageEffect::NoVerdict => {
            let actual = match actual {
                Some(PageValue::Answer(answer)) => answer.status.to_string(),
                _ => shown("none"),
            };
            Rendered::new("verdict of the session", "404", actual)
        }
        PageEffect::Confidence => {
            let expected = format!("less than {}", wanted());
            Rendered::new("confidence with blocked measurements", expected, shown("none"))
        }
        PageEffect::HasConfidence => {
            Rendered::new("verdict of the session", "one with a confidence", shown("none"))
        }
        PageEffect::Mode => Rendered::new("mode of the collection", wanted(), shown("none")),
        PageEffect::Requests => Rendered::new("requests of the page at the edge", wanted(), shown("none")),
        PageEffect::Url => Rendered::new("URL of the POST", wanted(), shown("")),
        PageEffect::Body => Rendered::new("body of the POST", "JSON", cut("nothing")),
        PageEffect::RelayedBody => {
            let sent = expected.map(Wire::excerpt).unwrap_or_default();
            Rendered::new("collection at the service", sent, cut("nothing"))
        }
        PageEffect::DistinctCollections => {
            let actual = if actual.is_some() { "the same bytes twice" } else { "different bytes" };
            Rendered::new("two collections", "different bytes", actual)
        }
        PageEffect::PageData => Rendered::new("data of the page in requests", "none", shown("none")),
        PageEffect::Reference => {
            let actual = match actual {
                Some(PageValue::Number(0)) => "nothing was posted".into(),
                _ => cut("neither"),
            };
            Rendered::new("reference and measurements in the body", "neither", actual)
        }
        PageEffect::ReferenceOutside => {
            Rendered::new("reference in a URL, a header or a WebSocket", "none", cut("none"))
        }
        PageEffect::SameReference => {
            let expected = expected.map(Wire::excerpt).unwrap_or_default();
            Rendered::new("reference in the collection", expected, cut("none"))
        }
        PageEffect::SealOpens => Rendered::new("sealed collection", "it opens", shown("it opens")),
        PageEffect::ChangedOpens => {
            Rendered::new("collection with a changed byte", "it does not open", shown("it does not open"))
        }
        PageEffect::SealKey => Rendered::new("key of the collection", wanted(), shown("none")),
        PageEffect::UncaughtErrors => Rendered::new("uncaught errors in the page", "none", shown("none")),
        PageEffect::BuiltIns => Rendered::new("built-ins of the page", "unchanged", shown("unchanged")),
        PageEffect::Leftovers => Rendered::new("what stays in the page", "nothing", shown("nothing")),
        PageEffect::OtherHandlers => {
            Rendered::new("error handlers of other scripts", "in place and not called", shown("not called"))
        }
        PageEffect::SessionAtOnce => {
            Rendered::new("session beside others", "verify() resolves", shown("verify() resolves"))
        }
        PageEffect::OptionsKept => {
            let expected = "verify() resolves, and the options are unchanged";
            Rendered::new("session with options that the page keeps", expected, shown(expected))
        }
        PageEffect::OwnEdge => Rendered::new("references at an edge", wanted(), shown("none")),
        PageEffect::FreshKey => {
            Rendered::new("encapsulated keys of different collections", "different", shown("different"))
        }
        PageEffect::FreshStream => {
            let actual = cut("none");
            Rendered::new("key stream that different collections share", "none", actual)
        }
    }
}

fn value(value: &PageValue, one: impl Fn(&Wire) -> String) -> String {
    match value {
        PageValue::Texts(texts) => texts.iter().map(one).collect::<Vec<_>>().join(", "),
        PageValue::Number(number) => number.to_string(),
        PageValue::Session(session) => session.to_string(),
        PageValue::Answer(answer) => answer.to_string(),
        PageValue::Silence(silence) => silence.to_string(),
        PageValue::Data(data) => {
            let datum = |datum: &PageDatum| {
                format!("the {} in a {} to {}", datum.place.name(), datum.method.text, datum.path.text)
            };
            data.iter().map(datum).collect::<Vec<_>>().join(", ")
        }
    }
}

fn text(wire: Option<&Wire>) -> String {
    wire.map(Wire::text).unwrap_or_default()
}
