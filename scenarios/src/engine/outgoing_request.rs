use std::fmt;

use bytes::{BufMut as _, Bytes, BytesMut};

/// A request as it goes over the wire.
#[derive(Clone, PartialEq, Eq)]
pub struct OutgoingRequest {
    /// Request line and header fields, with the empty line behind them.
    pub head: Bytes,
    /// The body, of the length that the head says.
    pub body: Bytes,
}

/// What the heads of many requests have in common.
#[derive(Clone)]
pub struct HeaderFields(Bytes);

/// Room for the request line of a verdict, and for the length of a collection.
const LINE: usize = 160;

impl HeaderFields {
    /// Fields that are sent with each request: names, and values without line ends.
    pub fn new<'a>(fields: impl IntoIterator<Item = (&'a str, &'a str)>) -> Option<Self> {
        let mut lines = BytesMut::new();
        for (name, value) in fields {
            // Whoever could put a line end into one could send another request.
            http::HeaderValue::from_str(value).ok()?;
            for part in [name, ": ", value, "\r\n"] {
                lines.put_slice(part.as_bytes());
            }
        }
        Some(Self(lines.freeze()))
    }

    /// A request that asks for something.
    pub fn get(&self, target: &str) -> OutgoingRequest {
        let mut head = BytesMut::with_capacity(LINE + self.0.len());
        for part in [b"GET ", target.as_bytes(), b" HTTP/1.1\r\n", &self.0, b"\r\n"] {
            head.put_slice(part);
        }
        OutgoingRequest { head: head.freeze(), body: Bytes::new() }
    }

    /// A request that sends something.
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
    /// How much of it goes over the wire, in bytes.
    pub fn size(&self) -> usize {
        self.head.len() + self.body.len()
    }

    /// Head and body without what was written.
    pub fn rest(&self, written: usize) -> [&[u8]; 2] {
        let of_body = written.saturating_sub(self.head.len());
        [&self.head[written.min(self.head.len())..], &self.body[of_body..]]
    }
}

// Tokens are among the fields: neither shows them.
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
    fn what_goes_over_the_wire() {
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
