use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Uri, Version};

/// Head of a request, while the request is being answered.
pub(crate) struct RequestHead {
    pub(crate) method: Method,
    pub(crate) version: Version,
    pub(crate) headers: HeaderMap,
    uri: Uri,
}

/// Request target and header fields in one allocation. A [`HeaderMap`] of hyper's would keep the whole read buffer of the
/// connection allocated.
pub(super) struct PackedHead {
    /// Target, then names and values in turns.
    text: Box<[u8]>,
    /// Length of the target, then of each name and value, as offsets of their ends in `text`.
    ends: Box<[u32]>,
}

/// Memory of a request without headers (bytes, estimated).
const BARE_HEAD: usize = 1024;

/// Memory of a header field besides its name and value (bytes, estimated).
const BARE_FIELD: usize = 100;

impl RequestHead {
    /// Path and query; the authority for `CONNECT`, which has neither.
    pub(crate) fn target(&self) -> &str {
        match self.uri.path_and_query() {
            Some(target) => target.as_str(),
            None => self.uri.authority().map_or("", |authority| authority.as_str()),
        }
    }

    pub(crate) fn query(&self) -> Option<&str> {
        self.uri.query()
    }

    /// Memory of the request without its body (bytes, estimated).
    pub(super) fn size(&self) -> usize {
        let fields = self.headers.iter().map(|(name, value)| name.as_str().len() + value.len() + BARE_FIELD);
        BARE_HEAD + self.target().len() + fields.sum::<usize>()
    }

    /// Copy for the journal.
    pub(super) fn pack(&self) -> PackedHead {
        let target = self.target().as_bytes();
        let length =
            self.headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum::<usize>();
        let mut text = Vec::with_capacity(target.len() + length);
        let mut ends = Vec::with_capacity(1 + 2 * self.headers.len());
        let mut push = |part: &[u8]| {
            text.extend_from_slice(part);
            ends.push(u32::try_from(text.len()).expect("the limits of the listener are far below 4 GiB"));
        };
        push(target);
        for (name, value) in &self.headers {
            push(name.as_str().as_bytes());
            push(value.as_bytes());
        }
        PackedHead { text: text.into(), ends: ends.into() }
    }
}

impl From<Parts> for RequestHead {
    fn from(parts: Parts) -> Self {
        let Parts { method, uri, version, headers, .. } = parts;
        Self { method, version, headers, uri }
    }
}

impl PackedHead {
    /// Request target.
    pub(super) fn target(&self) -> &str {
        let end = self.ends.first().map_or(0, |end| *end as usize);
        std::str::from_utf8(&self.text[..end]).expect("the target of a request is text")
    }

    /// Header fields, in the order of the request's map.
    pub(super) fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::with_capacity(self.ends.len() / 2);
        for field in self.ends.windows(3).step_by(2) {
            let [start, middle, end] = [field[0], field[1], field[2]].map(|offset| offset as usize);
            let name = HeaderName::from_bytes(&self.text[start..middle]).expect("packed from a valid name");
            let value = HeaderValue::from_bytes(&self.text[middle..end]).expect("packed from a valid value");
            headers.append(name, value);
        }
        headers
    }
}

#[cfg(test)]
mod tests {
    use http::Request;
    use proptest::prelude::*;

    use super::*;

    fn head(target: &str, fields: &[(String, Vec<u8>)]) -> RequestHead {
        let mut request = Request::get(target);
        for (name, value) in fields {
            request = request.header(name, HeaderValue::from_bytes(value).unwrap());
        }
        request.body(()).unwrap().into_parts().0.into()
    }

    proptest! {
        #[test]
        fn packed_head_has_the_same_target_and_fields(
            target in "/[a-z%/]{0,20}(\\?[a-z=&]{0,10})?",
            fields in prop::collection::vec(
                ("[A-Za-z][a-z-]{0,3}", prop::collection::vec(prop_oneof![Just(9), 32..=126_u8, 128..=255_u8], 0..20)),
                0..12,
            ),
        ) {
            let head = head(&target, &fields);
            let packed = head.pack();
            prop_assert_eq!(packed.target(), head.target());
            let order = |headers: &HeaderMap| -> Vec<_> {
                headers.iter().map(|(name, value)| (name.clone(), value.clone())).collect()
            };
            prop_assert_eq!(order(&packed.headers()), order(&head.headers));
        }
    }
}
