use edgeproof_reports::CaseLevel;

use crate::cases::Conversation;

/// One exchange to play: a conversation, and what precedes it on its connection. Pure data.
#[derive(Debug, Clone, PartialEq)]
pub struct Exchange {
    /// The judged conversation.
    pub conversation: Conversation,
    /// Conversations before it on the same connection. They are not judged.
    pub before: Vec<Conversation>,
    /// All requests are written before the first answer is read.
    pub pipelined: bool,
    /// The weakest level of its changes.
    pub level: CaseLevel,
}
