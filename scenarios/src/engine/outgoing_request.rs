use std::fmt;

use bytes::{BufMut as _, Bytes, BytesMut};

/// An encoded request: head and body in one piece, because one write costs less than a vectored one.
#[derive(Clone, PartialEq, Eq)]
pub struct OutgoingRequest(Bytes);

/// Encoded header fields that many requests share.
#[derive(Clone)]
pub struct HeaderFields(Bytes);

impl HeaderFields {
    /// Encodes header fields. `None` if a value contains a line break or another invalid byte.
    pub fn new<'a>(fields: impl IntoIterator<Item = (&'a str, &'a str)>) -> Option<Self> {
        let mut lines = BytesMut::new();
        for (name, value) in fields {
            // A line break in a value would inject a second request.
            http::HeaderValue::from_str(value).ok()?;
            for part in [name, ": ", value, "\r\n"] {
                lines.put_slice(part.as_bytes());
            }
        }
        Some(Self(lines.freeze()))
    }

    /// A GET request.
    pub fn get(&self, target: &str) -> OutgoingRequest {
        encode(&[b"GET ", target.as_bytes(), b" HTTP/1.1\r\n", &self.0, b"\r\n"])
    }

    /// A POST request.
    pub fn post(&self, target: &str, body: &[u8]) -> OutgoingRequest {
        let length = format!("Content-Length: {}\r\n\r\n", body.len());
        encode(&[b"POST ", target.as_bytes(), b" HTTP/1.1\r\n", &self.0, length.as_bytes(), body])
    }
}

fn encode(parts: &[&[u8]]) -> OutgoingRequest {
    let mut encoded = BytesMut::with_capacity(parts.iter().map(|part| part.len()).sum());
    parts.iter().for_each(|part| encoded.put_slice(part));
    OutgoingRequest(encoded.freeze())
}

impl OutgoingRequest {
    /// The encoded bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

// Header fields contain tokens, so Debug does not print them.
impl fmt::Debug for HeaderFields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HeaderFields").finish_non_exhaustive()
    }
}

impl fmt::Debug for OutgoingRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = self.0.split(|byte| *byte == b'\r').next().unwrap_or_default();
        f.debug_tuple("OutgoingRequest").field(&String::from_utf8_lossy(line)).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_encoded() {
        let fields = HeaderFields::new([("Host", "edge:1"), ("Origin", "https://shop.example")]).unwrap();
        let get = fields.get("/v1/verdict/r");
        assert_eq!(
            get.bytes(),
            b"GET /v1/verdict/r HTTP/1.1\r\nHost: edge:1\r\nOrigin: https://shop.example\r\n\r\n"
        );
        let post = fields.post("/v1/signals", b"{}");
        assert!(post.bytes().ends_with(b"Content-Length: 2\r\n\r\n{}"), "{post:?}");
        assert!(HeaderFields::new([("Host", "a\r\nX: y")]).is_none());
        let shown = format!("{fields:?} {:?}", fields.get("/v1/verdict/r"));
        assert_eq!(shown, r#"HeaderFields { .. } OutgoingRequest("GET /v1/verdict/r HTTP/1.1", ..)"#);
    }
}
