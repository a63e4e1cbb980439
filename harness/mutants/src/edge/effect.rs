use std::time::Duration;

use bytes::Bytes;
use edgeproof_edge::{CertificateCheck, EdgeOptions, UpstreamOptions};
use edgeproof_fixtures::credentials::EdgeSettings;

use crate::behaviour::{Answer, Behaviour, Change, Draft, Effect, Memory, Page, Seen};

/// What a mutant of an edge does.
#[derive(Debug, Clone, Copy)]
pub(crate) enum EdgeEffect {
    /// At start: changes its options. The settings are those of the run's first edge.
    Start(fn(&mut EdgeOptions, &EdgeSettings)),
    /// At start: sends this text as its license.
    License(&'static str),
    /// At start: checks the service's certificate so.
    ChecksCertificate(CertificateCheck),
    /// At start: changes requests and connections to the service.
    Upstream(fn(UpstreamOptions) -> UpstreamOptions),

    /// Sends no `100 Continue`.
    NoContinue,

    /// Answers before it reads the body.
    Instead(Page),
    /// Relays a request that is no collection.
    RelayAnyway,
    /// Relays this in place of a body that broke off.
    Partial(fn(Bytes) -> Bytes),
    /// Relays another body.
    Body(fn(&[u8]) -> Vec<u8>),
    /// Relays this text.
    BodyText(&'static str),
    /// Relays another body, or answers in place of relaying.
    Parse(fn(&Seen<'_>) -> Result<Bytes, Box<Answer>>),
    /// Answers in place of relaying.
    Refuse(Page),
    /// Relays the body of an earlier exchange first.
    RelayFirst(Memory),
    /// Relays the body a second time.
    RelayAgain,

    /// Changes its answer.
    Answering(Change),
    /// Writes other bytes than those of the answer. HTTP/1 only.
    Raw(fn(&str) -> String),
    /// Answers after this delay.
    Delay(Duration),
    /// Closes the connection.
    NoAnswer,
    /// Sends nothing, and keeps the connection open.
    Silence,
    /// Changes its log of a refusal.
    Log(fn(&Seen<'_>, &str) -> String),
    /// Logs this with a refusal.
    LogAlso(fn(&Seen<'_>) -> Option<String>),
}

impl Effect for EdgeEffect {
    fn memory(&self) -> Option<Memory> {
        match self {
            Self::RelayFirst(memory) => Some(*memory),
            Self::Answering(change) => change.memory(),
            _ => None,
        }
    }
}

/// A mutant of an edge.
pub(super) const fn mutant(name: &'static str, title: &'static str) -> Draft<EdgeEffect> {
    Draft::new(name, title)
}

impl Draft<EdgeEffect> {
    /// How its answer is wrong.
    pub(super) const fn answers(self, change: Change) -> Behaviour<EdgeEffect> {
        self.then(EdgeEffect::Answering(change))
    }
}
