use bytes::Bytes;
use edgeproof_http::{Body, Draft};

/// Stands in a draft for a text that no other case sends.
pub const MARKER: &str = "{marker}";
/// Stands in a draft for the origin that the edge allows.
pub const ORIGIN: &str = "{origin}";

/// A draft with its placeholders filled in.
pub fn fill(draft: &Draft, marker: &str, origin: &str) -> Draft {
    let text = |text: &String| text.replace(MARKER, marker).replace(ORIGIN, origin);
    let body = replace(draft.body.bytes(), MARKER.as_bytes(), marker.as_bytes());
    Draft {
        method: draft.method.clone(),
        path: text(&draft.path),
        headers: draft.headers.iter().map(|(name, value)| (name.clone(), text(value))).collect(),
        body: draft.body.with_bytes(body),
        from: draft.from,
    }
}

fn replace(bytes: &[u8], from: &[u8], to: &[u8]) -> Bytes {
    let Some(at) = bytes.windows(from.len()).position(|window| window == from) else {
        return Bytes::copy_from_slice(bytes);
    };
    let rest = replace(&bytes[at + from.len()..], from, to);
    [&bytes[..at], to, &rest].concat().into()
}

/// The path of the interface that collections are posted to.
pub const SIGNALS: &str = "/v1/signals";
/// The path of the interface that tells whether an edge is up.
pub const HEALTH: &str = "/health";

/// A collection as a page posts it.
pub fn collection() -> Draft {
    posted(Body::Sized(Bytes::from(format!(r#"{{"v":1,"sealed":"{MARKER}"}}"#))), Some("application/json"))
}

/// Any body as a page posts it.
pub(crate) fn posted(body: Body, content_type: Option<&str>) -> Draft {
    let draft = Draft::new("POST", SIGNALS).header("Origin", ORIGIN).body(body);
    match content_type {
        Some(kind) => draft.header("Content-Type", kind),
        None => draft,
    }
}

/// A preflight from `origin` for the collector's POST.
pub(crate) fn preflight(origin: &str) -> Draft {
    Draft::new("OPTIONS", SIGNALS)
        .header("Origin", origin)
        .header("Access-Control-Request-Method", "POST")
        .header("Access-Control-Request-Headers", "content-type")
}
