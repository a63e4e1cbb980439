use edgeproof_http::Sent;
use edgeproof_mock::{ListenerMode, Script};
use edgeproof_reports::CaseLevel;
use edgeproof_reports::difference::Subject;
use serde_json::Value;
use strum::VariantArray;

use crate::cases::{
    Case, CaseList, CaseSettings, Conversation, EdgeMonitor, EdgeNeed, EdgeObservation, EdgeTarget, NewCase,
    Part, RateLimitRule, Setup, collection,
};
use crate::judge::ExpectedAnswer;

/// The edge, which relays collections to the service.
#[derive(Debug, Clone, Copy)]
pub struct Edge;

impl Part for Edge {
    const NAME: &'static str = "edge";
    const SUBJECT: Subject = Subject::Edge;
    const RATE_LIMIT: RateLimitRule = RateLimitRule::Fails;
    const NEEDS: &'static [EdgeNeed] = &[EdgeNeed::Service, EdgeNeed::Origin];
    const MONITORS: &'static [EdgeMonitor] = EdgeMonitor::VARIANTS;

    type Need = EdgeNeed;
    type Settings = EdgeLaunch;
    type Exchange = Conversation;
    type Target = EdgeTarget;
    type Monitor = EdgeMonitor;

    /// An accepted collection reached the service.
    fn is_whole(sent: &Sent) -> bool {
        let is_success = sent.reply.as_ref().is_ok_and(|answer| (200..300).contains(&answer.status));
        is_success && sent.request.method == "POST"
    }

    fn commands(id: &str) -> Vec<String> {
        ["conformance --filter", "serve"]
            .map(|command| format!("edgeproof {command} {id} --launch 'CMD ARG…'"))
            .to_vec()
    }
}

/// How the edge of a case is started.
#[derive(Debug, Clone)]
pub struct EdgeLaunch {
    /// Settings of the edge.
    pub setup: Setup,
    /// The settings of this case alone, if `setup` serves several cases. A case that does not pass is played again with them.
    pub alone: Option<Setup>,
    /// Level of the requirement that the edge starts with these settings.
    pub start: CaseLevel,
    /// Mode of the mock service's listener. None: the usual one.
    pub listener: Option<ListenerMode>,
}

impl Default for EdgeLaunch {
    fn default() -> Self {
        Self { setup: Setup::Standard, alone: None, start: CaseLevel::Must, listener: None }
    }
}

impl CaseSettings for EdgeLaunch {
    fn describe(&self) -> Option<String> {
        let setup = self.alone.unwrap_or(self.setup);
        (self.setup != Setup::Standard).then(|| format!("an edge with {}", setup.describe()))
    }
}

impl Case<Edge> {
    /// Sets the settings of the edge.
    pub fn setup(&mut self, setup: Setup) -> &mut Self {
        self.settings.setup = setup;
        if setup.is_without_service() {
            self.settings.start = CaseLevel::Should;
        }
        self
    }

    /// Sets the mode of the mock service's listener. Such a case is exclusive.
    pub fn listener(&mut self, mode: ListenerMode) -> &mut Self {
        self.settings.listener = Some(mode);
        self.exclusive()
    }
}

impl<'c> NewCase<'c, '_, '_, Edge> {
    /// Completes the case with one conversation.
    pub fn conversation(self, conversation: Conversation) -> &'c mut Case<Edge> {
        let answer = conversation.answer.as_ref();
        let expects_reason = answer.is_some_and(|answer| self.list.has_plain_reason(answer));
        let case = self.exchange(conversation);
        case.needs.extend(expects_reason.then_some(EdgeNeed::PlainReasons));
        case
    }

    /// Completes the case: it posts a collection, to which the service replies by `script`, and observes the edge's
    /// answer. The observed point has the case's id.
    pub fn observation(self, script: Script) -> &'c mut Case<Edge> {
        let post = Conversation::request(collection()).script(script);
        self.conversation(post.observe(EdgeObservation::Answer))
    }
}

impl CaseList<'_, Edge> {
    /// Whether the edge must have read a reason in the service's reply to give this answer.
    fn has_plain_reason(&self, answer: &ExpectedAnswer) -> bool {
        let reason = |body: Option<&Value>| body.and_then(|body| body.get("reason").cloned());
        let expected = reason(answer.body.as_ref());
        expected.is_some() && expected != reason(self.row("edge.refused.unknown").body())
    }
}
