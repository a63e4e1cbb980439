use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use edgeproof_fixtures::spec::{Endpoint, Spec};
use edgeproof_http::{Body, Draft};
use memchr::memmem;

use super::look_alike;
use crate::judge;

/// Placeholder in a draft for a text that no other case sends.
pub const MARKER: &str = "{marker}";
/// Placeholder in a draft for the origin that the edge allows.
pub const ORIGIN: &str = "{origin}";
/// Placeholder in a path for the endpoint for collections.
pub const SIGNALS: &str = "{signals}";
/// Placeholder in a path for the health check.
pub(crate) const HEALTH: &str = "{health}";
/// An origin that no edge allows.
pub(crate) const OTHER_ORIGIN: &str = "https://other.example";

/// A text that no other case sends. As long as [`MARKER`], so that sizes on the wire are predictable.
pub(crate) fn next_marker() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let mut number = NEXT.fetch_add(1, Ordering::Relaxed);
    let mut marker = *b"q0000000";
    for digit in marker.iter_mut().skip(1).rev() {
        *digit = b"0123456789bcdfghjklmnpqrstvwxyz"[(number % 31) as usize];
        number /= 31;
    }
    String::from_utf8_lossy(&marker).into_owned()
}

/// Fills in the placeholders of a draft.
pub fn fill(draft: &Draft, spec: &Spec, marker: &str, origin: &str) -> Draft {
    let text = |text: &String| text.replace(MARKER, marker).replace(ORIGIN, origin);
    let value = |value: &String| look_alike::fill(&text(value), origin);
    let marked = |body: &[u8]| replace(body, MARKER.as_bytes(), marker.as_bytes());
    // The checksum of coded data has to fit the marker.
    let body = match judge::gzipped(draft.body.bytes()) {
        Some(data) => judge::gzip(&marked(&data)).into(),
        None => marked(draft.body.bytes()),
    };
    let signals = spec.path(Endpoint::Signals);
    let mut form = draft.form.clone();
    form.verbatim = form.verbatim.map(|head| {
        let marked = replace(&head, MARKER.as_bytes(), marker.as_bytes());
        replace(&marked, SIGNALS.as_bytes(), signals.as_bytes())
    });
    Draft {
        method: draft.method.clone(),
        path: text(&draft.path).replace(SIGNALS, signals).replace(HEALTH, spec.path(Endpoint::Health)),
        headers: draft.headers.iter().map(|(name, text)| (name.clone(), value(text))).collect(),
        body: draft.body.with_bytes(body),
        from: draft.from,
        form,
    }
}

/// A collection as a page posts it.
pub fn collection() -> Draft {
    collection_from(ORIGIN)
}

/// A collection as a page of `origin` posts it.
pub(crate) fn collection_from(origin: &str) -> Draft {
    let body = Body::Sized(Bytes::from(format!(r#"{{"v":1,"sealed":"{MARKER}"}}"#)));
    to_signals("POST").header("Origin", origin).header("Content-Type", "application/json").body(body)
}

/// Any body as a page posts it.
pub(crate) fn posted(body: Body, content_type: Option<&str>) -> Draft {
    let draft = to_signals("POST").header("Origin", ORIGIN).body(body);
    match content_type {
        Some(kind) => draft.header("Content-Type", kind),
        None => draft,
    }
}

/// A preflight from `origin` for the collector's POST.
pub(crate) fn preflight(origin: &str) -> Draft {
    to_signals("OPTIONS")
        .header("Origin", origin)
        .header("Access-Control-Request-Method", "POST")
        .header("Access-Control-Request-Headers", "content-type")
}

/// A request with this method to the endpoint for collections.
pub(crate) fn to_signals(method: &str) -> Draft {
    Draft::new(method, SIGNALS)
}

fn replace(bytes: &[u8], from: &[u8], to: &[u8]) -> Bytes {
    let mut replaced = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(at) = memmem::find(rest, from) {
        replaced.extend([&rest[..at], to].concat());
        rest = &rest[at + from.len()..];
    }
    replaced.extend(rest);
    replaced.into()
}
