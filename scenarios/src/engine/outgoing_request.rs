use bytes::{BufMut as _, Bytes, BytesMut};

/// An encoded request: head and body in one piece, because one write costs less than a vectored one.
#[derive(Clone, PartialEq, Eq)]
pub struct OutgoingRequest(pub Bytes);

/// Encoded header fields that many requests share. They contain tokens, so nothing here is `Debug`.
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
    for part in parts {
        encoded.put_slice(part);
    }
    OutgoingRequest(encoded.freeze())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_encoded() {
        let fields = HeaderFields::new([("Host", "edge:1"), ("Origin", "https://shop.example")]).unwrap();
        let get = fields.get("/v1/verdict/r");
        assert_eq!(
            &get.0[..],
            b"GET /v1/verdict/r HTTP/1.1\r\nHost: edge:1\r\nOrigin: https://shop.example\r\n\r\n"
        );
        let post = fields.post("/v1/signals", b"{}");
        assert!(post.0.ends_with(b"Content-Length: 2\r\n\r\n{}"));
        assert!(HeaderFields::new([("Host", "a\r\nX: y")]).is_none());
    }
}
