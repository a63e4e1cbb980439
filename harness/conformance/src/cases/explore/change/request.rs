use std::time::Duration;

use bytes::Bytes;
use edgeproof_fixtures::spec::{Change, HeadPieces, OriginForm};
use edgeproof_http::{Body, ChunkExtras, Draft, HeadPace, HostForm, TargetForm};

use crate::cases::{Conversation, ExpectedRelay, MARKER, ORIGIN, OTHER_ORIGIN, collection, look_alike};
use crate::judge;

/// Changes a request. Other changes have no effect.
pub(super) fn apply(change: &Change, draft: &mut Draft) {
    match change {
        Change::Body(text) => set_body(draft, text.replace("{marker}", MARKER).into()),
        Change::Bytes { before, after } => {
            set_body(draft, [before, MARKER.as_bytes(), after].concat().into());
        }
        Change::Nested(depth) => {
            let (open, close) = ("[".repeat(*depth), "]".repeat(*depth));
            set_body(draft, format!(r#"{{"sealed":"{MARKER}","deep":{open}1{close}}}"#).into());
        }
        Change::Gzip => {
            set_body(draft, judge::gzip(draft.body.bytes()).into());
            draft.headers.push(("Content-Encoding".into(), "gzip".into()));
        }
        Change::Size(size) => {
            let padded = padded(draft.body.bytes(), *size);
            set_body(draft, padded);
        }
        Change::Chunks { size, extension, trailer } => {
            draft.body = Body::Chunked(body(draft), *size);
            draft.form.chunks = ChunkExtras { extension: *extension, trailer: *trailer };
        }
        Change::Parts { count, pause_ms } => {
            draft.body = Body::Slow(body(draft), *count, Duration::from_millis(*pause_ms));
        }
        Change::Expect => draft.body = Body::Expect(body(draft)),
        Change::Head(pieces) => {
            draft.form.pace = match pieces {
                HeadPieces::Apart => HeadPace::Apart,
                HeadPieces::Lines => HeadPace::Lines,
                HeadPieces::Bytes => HeadPace::Bytes,
            };
        }
        Change::Http10 => draft.form.http10 = true,
        Change::AbsoluteTarget => draft.form.target = TargetForm::Absolute,
        Change::TargetEnd(end) => draft.path.push_str(end),
        Change::QueryLength(length) => {
            draft.path.push_str("?v=");
            draft.path.push_str(&"v".repeat(length.saturating_sub(3)));
        }
        Change::Path(path) => draft.path.clone_from(path),
        Change::HostUpperCase => draft.form.host = HostForm::UpperCase,
        Change::HostDot => draft.form.host = HostForm::TrailingDot,
        Change::Host(name) => draft.form.host = HostForm::Other(name.clone()),
        Change::Headers(fields) => draft.headers.extend(fields.iter().cloned()),
        Change::Padding { count, length } => {
            let value = "v".repeat(*length);
            draft.headers.extend((0..*count).map(|number| (format!("X-Padding-{number}"), value.clone())));
        }
        Change::ContentType(kind) => {
            // A reader of forms or of another charset changes these letters. Another change may have set a body before.
            if draft.body.bytes() == collection().body.bytes() {
                let body = format!(r#"{{"v":1,"sealed":"{MARKER}","t":"a+b%20c%2B&d=é中"}}"#);
                set_body(draft, body.into());
            }
            draft.headers.retain(|(name, _)| !name.eq_ignore_ascii_case("content-type"));
            if !kind.is_empty() {
                draft.headers.push(("Content-Type".into(), kind.clone()));
            }
        }
        _ => {}
    }
}

/// Changes the origin, and with it what a page may read.
pub(super) fn origin(form: OriginForm, conversation: &mut Conversation) {
    let headers = &mut conversation.draft.headers;
    let Some(position) = headers.iter().position(|(name, _)| name.eq_ignore_ascii_case("origin")) else {
        return;
    };
    conversation.readable = None;
    let one = |template: &str| vec![template.to_owned()];
    let values = match form {
        OriginForm::Absent => Vec::new(),
        OriginForm::Other => one(OTHER_ORIGIN),
        OriginForm::Null => one("null"),
        OriginForm::UpperCase => one(look_alike::UPPER_CASE),
        OriginForm::DefaultPort => one(&format!("{ORIGIN}:443")),
        OriginForm::OtherPort => one(&format!("{ORIGIN}:8444")),
        OriginForm::OtherScheme => one(look_alike::SCHEME),
        OriginForm::Subdomain => one(look_alike::SUBDOMAIN),
        OriginForm::Longer => one(&format!("{ORIGIN}.other.example")),
        OriginForm::Prefixed => one(look_alike::SUFFIX),
        OriginForm::Slash => one(&format!("{ORIGIN}/")),
        OriginForm::Two => one(&format!("{ORIGIN} {OTHER_ORIGIN}")),
        OriginForm::Twice => vec![ORIGIN.to_owned(), OTHER_ORIGIN.to_owned()],
        OriginForm::Garbage => one("file:///C:/page.html"),
    };
    // An edge may refuse other origins itself.
    if !values.is_empty() {
        conversation.denied = true;
        conversation.answer = None;
        conversation.relay = ExpectedRelay::Any;
        conversation.content_type = None;
    }
    headers.splice(position..=position, values.into_iter().map(|value| ("Origin".to_owned(), value)));
}

fn set_body(draft: &mut Draft, bytes: Bytes) {
    draft.body = draft.body.with_bytes(bytes);
}

fn body(draft: &Draft) -> Bytes {
    Bytes::copy_from_slice(draft.body.bytes())
}

/// Repeated content of padded bodies.
const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyz";

/// The body with a filled member before its last brace, or with letters at its end, if it is no object.
fn padded(body: &[u8], size: usize) -> Bytes {
    let missing = size.saturating_sub(body.len());
    let letters = |count: usize| {
        let mut letters = LETTERS.repeat(count.div_ceil(LETTERS.len()));
        letters.truncate(count);
        letters
    };
    let before: &[u8] = b",\"fill\":\"";
    match body.strip_suffix(b"\"}") {
        Some(start) if missing > before.len() + 1 => {
            [start, b"\"", before, &letters(missing - before.len() - 1), b"\"}"].concat().into()
        }
        _ => [body, &letters(missing)].concat().into(),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(b"{\"sealed\":\"marker00\"}", 1024)]
    #[case(b"{\"sealed\":\"marker00\"}", 24)]
    #[case(b"[1]", 1024)]
    #[case(b"", 7)]
    fn padded_body_has_the_size(#[case] body: &[u8], #[case] size: usize) {
        assert_eq!(padded(body, size).len(), size);
    }

    #[test]
    fn padded_object_is_json() {
        let body = padded(b"{\"sealed\":\"marker00\"}", 4096);
        assert!(serde_json::from_slice::<serde_json::Value>(&body).unwrap()["fill"].is_string());
    }
}
