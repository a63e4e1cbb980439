//! Requests that precede a judged exchange.

use std::time::Duration;

use bytes::Bytes;
use edgeproof_fixtures::spec::{Earlier, Event};
use edgeproof_http::{Body, Draft};
use edgeproof_mock::{Action, Script};

use crate::cases::{
    Catalog, HEALTH, MARKER, ORIGIN, OTHER_ORIGIN, collection, collection_from, methods, preflight,
    to_signals,
};

/// The replies that earlier requests need.
#[derive(Debug, Clone, PartialEq)]
pub struct EarlierReplies {
    pub(super) accept: Script,
    refuse: Script,
    /// Status of a refusal that the service sends without a plain reason.
    status: u16,
    /// A method that the edge refuses.
    other_method: &'static str,
}

/// A request that is not judged, with the service's reply.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct EarlierRequest {
    /// The request.
    pub(super) draft: Draft,
    /// The reply. None: the request does not reach the service.
    pub(super) script: Option<Script>,
    /// The client leaves after this time.
    pub(super) leaves: Option<Duration>,
}

/// How long a client waits before it leaves: enough for the request to reach the service.
const LEAVES: Duration = Duration::from_millis(30);

impl EarlierReplies {
    pub(super) fn new(cases: &Catalog<'_>) -> Self {
        let status = cases.refusal_statuses().first().copied().unwrap_or_default();
        Self {
            accept: cases.accept(),
            refuse: cases.refuse(status, "edgeproof_earlier"),
            status,
            other_method: methods::refused(cases.spec, "PUT"),
        }
    }

    /// The request of an earlier exchange on the same connection.
    pub(super) fn before(&self, earlier: Earlier) -> EarlierRequest {
        match earlier {
            Earlier::Accepted => posted(self.accept.clone()),
            Earlier::Refused => posted(self.refuse.clone()),
            Earlier::Unknown => posted(bare_refusal(self.status)),
            Earlier::OtherOrigin => {
                EarlierRequest { draft: collection_from(OTHER_ORIGIN), ..posted(self.accept.clone()) }
            }
            Earlier::Preflight => unscripted(preflight(ORIGIN)),
            Earlier::ForeignPreflight => unscripted(preflight(OTHER_ORIGIN)),
            Earlier::OtherMethod => unscripted(self.other_method()),
            Earlier::Health => unscripted(Draft::new("GET", HEALTH)),
            Earlier::UnknownPath => unscripted(Draft::new("GET", "/edgeproof/unknown")),
        }
    }

    fn other_method(&self) -> Draft {
        let body = Body::Sized(Bytes::from_static(b"{\"a\":1}"));
        let draft = to_signals(self.other_method).header("Origin", ORIGIN);
        draft.header("Content-Type", "application/json").body(body)
    }

    /// The request of an event.
    pub(super) fn event(&self, event: Event) -> EarlierRequest {
        match event {
            Event::Accepted => self.before(Earlier::Accepted),
            Event::Refused => self.before(Earlier::Refused),
            Event::Unknown => self.before(Earlier::Unknown),
            Event::Preflight => self.before(Earlier::Preflight),
            Event::ForeignPreflight => unscripted(preflight(OTHER_ORIGIN)),
            Event::OtherMethod => self.before(Earlier::OtherMethod),
            Event::Health => self.before(Earlier::Health),
            Event::ServiceClosed => posted(Script::one(Action::Close)),
            Event::ServiceReset => posted(Script::one(Action::Reset)),
            Event::ServiceGarbage => posted(Script::one(Action::RawBytes(Bytes::from_static(
                b"\0\x01edgeproof is not HTTP\r\n\r\n",
            )))),
            Event::ServiceCut => {
                let body = Bytes::from_static(br#"{"error":"edgeproof_cut","reason":"edgeproof_cut"}"#);
                posted(Script::one(Action::CutBody { status: self.status, body, after: 12 }))
            }
            Event::ClientLeftInBody => {
                let body = Bytes::from(format!(r#"{{"sealed":"{MARKER}"}}"#));
                let draft = collection().body(Body::Slow(body, 2, LEAVES * 2));
                EarlierRequest { leaves: Some(LEAVES), ..unscripted(draft) }
            }
            Event::ClientLeftBeforeAnswer => {
                let mut slow = self.accept.clone();
                slow.replies[0].delay = LEAVES * 3;
                EarlierRequest { leaves: Some(LEAVES), ..posted(slow) }
            }
            Event::LargeBody => {
                let body = format!(r#"{{"sealed":"{MARKER}","fill":"{}"}}"#, "f".repeat(1024 * 1024 - 40));
                EarlierRequest {
                    draft: collection().body(Body::Sized(body.into())),
                    ..posted(self.accept.clone())
                }
            }
            Event::NotHttp => {
                let mut draft = Draft::new("\u{1}\u{2}not HTTP", "/");
                draft.headers.push(("no header".into(), "\u{0}".into()));
                EarlierRequest { leaves: Some(LEAVES), ..unscripted(draft) }
            }
        }
    }
}

fn posted(script: Script) -> EarlierRequest {
    EarlierRequest { draft: collection(), script: Some(script), leaves: None }
}

fn unscripted(draft: Draft) -> EarlierRequest {
    EarlierRequest { draft, script: None, leaves: None }
}

fn bare_refusal(status: u16) -> Script {
    let headers = vec![("content-type".to_owned(), "text/html".to_owned())];
    let action = Action::Answer { status, headers, body: Bytes::from_static(b"<html></html>") };
    Script::one(action)
}
