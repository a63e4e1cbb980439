use bytes::Bytes;
use edgeproof::wire::Endpoint;

use super::choice::choose;
use crate::engine::{Expectation, HeaderFields, OutgoingRequest};
use crate::measure::Code;

/// How collections are posted to an edge.
#[derive(Debug, Clone)]
pub struct CollectionRequests {
    target: String,
    fields: HeaderFields,
}

/// How verdicts are asked for at a service.
#[derive(Debug, Clone)]
pub struct VerdictRequests {
    base: String,
    /// With the read token.
    fields: HeaderFields,
    bad: Vec<(HeaderFields, Option<Code>)>,
}

/// An `Authorization` that is to be refused.
#[derive(Debug, Clone)]
pub struct BadToken {
    /// Its value; none for no header at all.
    pub authorization: Option<String>,
    /// The code of the refusal; none for any that the tables have.
    pub code: Option<Code>,
}

impl CollectionRequests {
    /// To the edge at an endpoint, from a page of this origin.
    pub fn new(endpoint: &Endpoint, origin: &str) -> Option<Self> {
        let fields =
            [("Host", endpoint.authority()), ("Content-Type", "application/json"), ("Origin", origin)];
        let target = format!("{}/v1/signals", endpoint.base());
        Some(Self { target, fields: HeaderFields::new(fields)? })
    }

    /// The request that sends a collection.
    pub fn request(&self, body: Bytes) -> OutgoingRequest {
        self.fields.post(&self.target, body)
    }
}

impl VerdictRequests {
    /// At the service at an endpoint, with this read token; and now and then with one of the bad ones.
    pub fn new(endpoint: &Endpoint, authorization: &str, bad: Vec<BadToken>) -> Option<Self> {
        let host = ("Host", endpoint.authority());
        let with = |authorization: Option<&str>| {
            HeaderFields::new([host].into_iter().chain(authorization.map(|value| ("Authorization", value))))
        };
        let bad = bad
            .into_iter()
            .map(|BadToken { authorization, code }| Some((with(authorization.as_deref())?, code)));
        Some(Self {
            base: endpoint.base().to_owned(),
            fields: with(Some(authorization))?,
            bad: bad.collect::<Option<_>>()?,
        })
    }

    /// Whether there are bad tokens to ask with.
    pub fn has_bad_tokens(&self) -> bool {
        !self.bad.is_empty()
    }

    /// Asks for the verdict of a reference, and waits for it as long as `wait` says.
    pub fn request(&self, reference: &str, wait: Option<u64>) -> OutgoingRequest {
        self.fields.get(&self.target(reference, wait))
    }

    /// Asks with one of the bad tokens, and what is to come out of that.
    pub fn bad_request(&self, reference: &str, number: u64) -> (OutgoingRequest, Expectation<'static>) {
        let (fields, code) = &self.bad[choose(number, self.bad.len())];
        (fields.get(&self.target(reference, None)), Expectation::Refused(401, *code))
    }

    fn target(&self, reference: &str, wait: Option<u64>) -> String {
        // A reference that no request line can hold is asked for as nothing: the service refuses it, and that is counted.
        let fits = reference.bytes().all(|byte| byte > b' ' && byte != 0x7f);
        let reference = if fits { reference } else { "" };
        match wait {
            Some(ms) => format!("{}/v1/verdict/{reference}?waitMs={ms}", self.base),
            None => format!("{}/v1/verdict/{reference}", self.base),
        }
    }
}
