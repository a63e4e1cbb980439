use std::time::Duration;

use edgeproof_fixtures::spec::{Earlier, Event};
use edgeproof_http::Body;
use edgeproof_reports::CaseLevel;

use crate::cases::Conversation;

/// One exchange to play: a conversation, and what precedes it. Pure data.
#[derive(Debug, Clone, PartialEq)]
pub struct Exchange {
    /// The judged conversation.
    pub conversation: Conversation,
    /// Exchanges before it on the same connection. They are not judged.
    pub before: Vec<Earlier>,
    /// It follows another request before that one is answered.
    pub pipelined: bool,
    /// Events before it, on other connections.
    pub events: Vec<Event>,
    /// Events on other connections while it waits for the service.
    pub beside: Vec<Event>,
    /// The weakest level of its changes.
    pub level: CaseLevel,
}

/// What an exchange takes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct ExchangeCost {
    /// Number of its requests.
    pub(super) requests: usize,
    /// Time that its client waits between pieces of the body.
    pub(super) pause: Duration,
}

impl ExchangeCost {
    pub(super) fn of(exchange: &Exchange) -> Self {
        let pause = match &exchange.conversation.draft.body {
            Body::Slow(_, count, pause) => *pause * u32::try_from(*count).unwrap_or(u32::MAX),
            _ => Duration::ZERO,
        };
        let others = exchange.before.len() + exchange.events.len() + exchange.beside.len();
        Self { requests: 1 + others, pause }
    }
}
