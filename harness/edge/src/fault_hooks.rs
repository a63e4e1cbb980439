use std::fmt;
use std::net::SocketAddr;

use bytes::Bytes;
use http::{HeaderMap, Version};

use super::decide::{EdgeAnswer, EdgeDecision, Relayed, RequestFacts};

/// Where an edge does other than the reference edge. Each method is given what is right and by default returns it: a
/// deviation overrides the one that it is about, and everything else stays the real edge.
pub trait EdgeFaultHooks: fmt::Debug + Send + Sync {
    /// What is done with a request, before its body is read.
    fn decide(&self, _asked: &EdgeRequest<'_>, right: EdgeDecision) -> EdgeDecision {
        right
    }

    /// The body that is relayed; or an answer in place of relaying.
    fn body(&self, _asked: &EdgeRequest<'_>, body: Bytes) -> Result<Bytes, Box<EdgeAnswer>> {
        Ok(body)
    }

    /// A collection that is relayed before this one, whatever comes of it.
    fn before(&self, _body: &Bytes) -> Option<Bytes> {
        None
    }

    /// Whether the body is relayed once more, after it was relayed so often and this came of it.
    fn again(&self, _times: u32, _relayed: &Relayed) -> bool {
        false
    }

    /// What is said in the end. `relayed`: what came of relaying, where there was any.
    fn conclude(
        &self,
        _asked: &EdgeRequest<'_>,
        _relayed: Option<&Relayed>,
        right: EdgeAnswer,
    ) -> EdgeAction {
        EdgeAction::Answer(right)
    }

    /// How it treats connections.
    fn habits(&self) -> Habits {
        Habits::default()
    }
}

/// None.
#[derive(Debug, Clone, Copy)]
pub struct NoFaults;

impl EdgeFaultHooks for NoFaults {}

/// A request as a hooks sees it.
#[derive(Debug, Clone)]
pub struct EdgeRequest<'a> {
    /// What decisions are made on.
    pub facts: &'a RequestFacts,
    /// Header fields.
    pub headers: &'a HeaderMap,
    /// HTTP version.
    pub version: Version,
    /// Where it comes from.
    pub peer: SocketAddr,
    /// Number of its connection.
    pub connection: u64,
    /// Its body, once it was read.
    pub body: Option<Bytes>,
}

/// What is said to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EdgeAction {
    /// This.
    Answer(EdgeAnswer),
    /// Nothing: the connection is closed.
    Nothing,
    /// Nothing: the connection stays open.
    Silence,
}

/// How an edge treats connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Habits {
    /// Which certificates of the service it takes.
    pub trust: Trust,
    /// It sends the collection where a redirect points to.
    pub follows_redirects: bool,
    /// It opens another connection to the service when the first is gone.
    pub reconnects: bool,
    /// It relays what it got of a body that broke off.
    pub relays_partial: bool,
}

/// Which certificates of the service an edge takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// Those that it should.
    Right,
    /// All of them.
    All,
    /// All of them, where `SERVICE_CA_FILE` is not set.
    AllWithoutCaFile,
    /// Those for another host as well.
    AnyHost,
    /// Those that have expired as well.
    AnyTime,
}

impl Default for Habits {
    fn default() -> Self {
        Self { trust: Trust::Right, follows_redirects: false, reconnects: true, relays_partial: false }
    }
}
