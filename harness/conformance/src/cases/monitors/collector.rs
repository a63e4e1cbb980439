use std::convert::Infallible;

use strum::VariantArray;

use super::super::Monitor;

/// An invariant of all pages of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, VariantArray)]
pub enum CollectorMonitor {
    /// Each request is the POST, its preflight, the WebSocket, the page or the module.
    Requests,
    /// What a collector sends before `start()`.
    BeforeStart,
    /// No request has readable data of the page, or the reference.
    Privacy,
    /// No error, dialog, window or navigation in any page.
    Unobtrusive,
}

impl Monitor<Infallible> for CollectorMonitor {
    fn id(self) -> &'static str {
        match self {
            Self::Requests => "monitor.collector.requests",
            Self::BeforeStart => "monitor.collector.before-start",
            Self::Privacy => "monitor.collector.privacy",
            Self::Unobtrusive => "monitor.collector.unobtrusive",
        }
    }

    fn title(self) -> &'static str {
        match self {
            Self::Requests => {
                "a page sends only requests that the interface names, and loads itself and the module"
            }
            Self::BeforeStart => "what a page sends before start()",
            Self::Privacy => "no request of any page has readable data of the page",
            Self::Unobtrusive => "no page has an error, a dialog, another window or a navigation",
        }
    }

    fn rows(self) -> &'static [&'static str] {
        match self {
            Self::Requests | Self::BeforeStart => &["statement.collector-requests"],
            Self::Privacy => &["statement.page-data-private"],
            Self::Unobtrusive => &["statement.collector-unobtrusive"],
        }
    }

    fn point(self) -> Option<&'static str> {
        (self == Self::BeforeStart).then_some("collector.before-start")
    }
}
