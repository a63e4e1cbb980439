use edgeproof_fixtures::spec::{Earlier, Event};
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
