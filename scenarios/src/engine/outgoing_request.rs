use std::fmt;

use bytes::{BufMut as _, Bytes, BytesMut};

/// An encoded request.
#[derive(Clone, PartialEq, Eq)]
pub struct OutgoingRequest {
    /// Request line, header fields and the empty line.
    pub head: Bytes,
    /// The body.
    pub body: Bytes,
}

/// Encoded header fields that many requests share.
#[derive(Clone)]
pub struct HeaderFields(Bytes);

/// Capacity for the request line and `Content-Length`.
const LINE: usize = 160;

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
        let mut head = BytesMut::with_capacity(LINE + self.0.len());
        for part in [b"GET ", target.as_bytes(), b" HTTP/1.1\r\n", &self.0, b"\r\n"] {
            head.put_slice(part);
        }
        OutgoingRequest { head: head.freeze(), body: Bytes::new() }
    }

    /// A POST request.
    pub fn post(&self, target: &str, body: Bytes) -> OutgoingRequest {
        let mut head = BytesMut::with_capacity(LINE + self.0.len());
        let length = body.len().to_string();
        let parts: [&[u8]; 7] = [
            b"POST ",
            target.as_bytes(),
            b" HTTP/1.1\r\n",
            &self.0,
            b"Content-Length: ",
            length.as_bytes(),
            b"\r\n\r\n",
        ];
        for part in parts {
            head.put_slice(part);
        }
        OutgoingRequest { head: head.freeze(), body }
    }
}

impl OutgoingRequest {
    /// Encoded length (bytes).
    pub fn size(&self) -> usize {
        self.head.len() + self.body.len()
    }

    /// Head and body after the bytes already written.
    pub fn rest(&self, written: usize) -> [&[u8]; 2] {
        let of_body = written.saturating_sub(self.head.len());
        [&self.head[written.min(self.head.len())..], &self.body[of_body..]]
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
        let line = self.head.split(|byte| *byte == b'\r').next().unwrap_or_default();
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
            get.head,
            "GET /v1/verdict/r HTTP/1.1\r\nHost: edge:1\r\nOrigin: https://shop.example\r\n\r\n"
        );
        let post = fields.post("/v1/signals", "{}".into());
        assert!(post.head.ends_with(b"Content-Length: 2\r\n\r\n"), "{post:?}");
        let whole = [&post.head[..], &post.body[..]].concat();
        for written in 0..=post.size() {
            assert_eq!(post.rest(written).concat(), whole[written..]);
        }
        assert!(HeaderFields::new([("Host", "a\r\nX: y")]).is_none());
        let shown = format!("{fields:?} {:?}", fields.get("/v1/verdict/r"));
        assert_eq!(shown, r#"HeaderFields { .. } OutgoingRequest("GET /v1/verdict/r HTTP/1.1", ..)"#);
    }
}
