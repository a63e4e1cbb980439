use std::sync::Arc;

use globset::GlobMatcher;

use super::baseline::glob_of;
use crate::cases::{Case, Prerequisite, Procedure};
use crate::target::Setup;

/// What will be played, in order.
#[derive(Debug, Default)]
pub struct Plan {
    /// The cases, each with the reason why it does not apply, if it does not.
    pub cases: Vec<(Arc<Case>, Option<String>)>,
    /// Ids of all cases there are, also of those that were filtered out.
    pub all: Vec<String>,
}

/// Which cases are wanted.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// Globs, of which an id has to match one; none: all are wanted.
    pub filter: Vec<String>,
    /// Globs, of which an id may match none.
    pub exclude: Vec<String>,
    /// Exactly these.
    pub only: Option<Vec<String>>,
}

/// What there is to play with, as far as a plan has to know it.
pub trait Applicability {
    /// What is to be proven, as the command calls it.
    fn target(&self) -> &'static str;

    /// Why a case does not apply, if it does not: with what would have to be given.
    fn lack(&self, case: &Case) -> Option<String>;
}

/// What there is to play with at an edge.
#[derive(Debug, Clone, Copy)]
pub struct Capabilities {
    /// Edges can be started with other settings.
    pub starts_edges: bool,
    /// A mock service stands behind the edge.
    pub service: bool,
    /// The origin that the edge allows is known.
    pub origin: bool,
    /// The edge's log can be read.
    pub log: bool,
    /// The edge is reached with TLS.
    pub https: bool,
    /// The edge can be reached from other loopback addresses.
    pub loopback_clients: bool,
}

/// A selection that cannot be used.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub enum PlanError {
    /// Not a glob.
    #[error("use {option} {glob:?}: {why}")]
    #[diagnostic(help("globs are as in a shell: * matches any text, ? one character, {{a,b}} either"))]
    Glob {
        /// The option.
        option: &'static str,
        /// As given.
        glob: String,
        /// What is wrong with it.
        why: globset::Error,
    },
    /// Matches no case.
    #[error("use {option} {glob:?}: no case has such an id{}", similar(near))]
    #[diagnostic(help("`edgeproof conformance {target} --list` shows all ids"))]
    NoMatch {
        /// The option.
        option: &'static str,
        /// As given.
        glob: String,
        /// Ids that look like it.
        near: Vec<String>,
        /// What is to be proven, as the command calls it.
        target: &'static str,
    },
    /// Together they leave nothing.
    #[error("plan a run: the filters leave no case")]
    #[diagnostic(help("loosen --filter or --exclude"))]
    Nothing,
}

impl Plan {
    /// The cases that are wanted, with the reason at each that does not apply.
    pub fn new(
        cases: Vec<Case>,
        selection: &Selection,
        applicability: &impl Applicability,
    ) -> Result<Self, PlanError> {
        let all: Vec<String> = cases.iter().map(|case| case.id.clone()).collect();
        let filter = globs("--filter", &selection.filter, &all, applicability.target())?;
        let exclude = globs("--exclude", &selection.exclude, &all, applicability.target())?;
        let wanted = |id: &str| {
            let only = selection.only.as_ref().is_none_or(|only| only.iter().any(|other| other == id));
            let filtered = filter.is_empty() || filter.iter().any(|glob| glob.is_match(id));
            only && filtered && !exclude.iter().any(|glob| glob.is_match(id))
        };
        let mut planned: Vec<_> = cases
            .into_iter()
            .filter(|case| wanted(&case.id))
            .map(|case| {
                let why = applicability.lack(&case);
                (Arc::new(case), why)
            })
            .collect();
        if planned.is_empty() {
            return Err(PlanError::Nothing);
        }
        planned.sort_by_key(|(case, _)| case.phase);
        Ok(Self { cases: planned, all })
    }
}

impl Applicability for Capabilities {
    fn target(&self) -> &'static str {
        "edge"
    }

    fn lack(&self, case: &Case) -> Option<String> {
        if !self.starts_edges && case.setup != Setup::Standard {
            return Some(format!("needs an edge with {}: use --launch", case.setup.describe()));
        }
        case.prerequisites.iter().find_map(|need| self.lacks(*need)).map(str::to_owned)
    }
}

impl Capabilities {
    fn lacks(self, need: Prerequisite) -> Option<&'static str> {
        match need {
            Prerequisite::Service => {
                (!self.service).then_some("needs a mock service behind the edge: leave out --no-service")
            }
            Prerequisite::Origin => {
                (!self.origin).then_some("needs the origin that the edge allows: use --origin")
            }
            Prerequisite::Log => (!self.log).then_some("needs the edge's log: use --launch"),
            Prerequisite::LoopbackClients => (!self.loopback_clients).then_some(
                "needs an edge on this machine and other loopback addresses to connect from (Linux has them)",
            ),
            Prerequisite::Https => (!self.https).then_some("needs an edge that is reached with https"),
            Prerequisite::PlainReasons => None,
            Prerequisite::ReadToken
            | Prerequisite::ExpiredToken
            | Prerequisite::License
            | Prerequisite::Session
            | Prerequisite::Waits
            | Prerequisite::Mock => Some("is for a service: use `edgeproof conformance service`"),
        }
    }
}

/// Whether a case needs an edge that reads the reasons of our mock service.
pub fn needs_plain_reasons(case: &Case) -> bool {
    let conversation = match &case.procedure {
        Procedure::Conversation(conversation) => conversation.answer.as_ref(),
        Procedure::Conversations(_) | Procedure::EdgeSteps(_) | Procedure::ServiceSteps(_) => None,
    };
    let reason = conversation.and_then(|answer| answer.body.as_ref()?.get("reason")?.as_str());
    case.prerequisites.contains(&Prerequisite::PlainReasons)
        || reason.is_some_and(|reason| reason != "unknown")
}

fn globs(
    option: &'static str,
    given: &[String],
    ids: &[String],
    target: &'static str,
) -> Result<Vec<GlobMatcher>, PlanError> {
    let mut globs = Vec::new();
    for text in given {
        let glob = glob_of(text).map_err(|why| PlanError::Glob { option, glob: text.clone(), why })?;
        if !ids.iter().any(|id| glob.is_match(id)) {
            return Err(PlanError::NoMatch { option, glob: text.clone(), near: near(text, ids), target });
        }
        globs.push(glob);
    }
    Ok(globs)
}

/// Ids that share a word with what was given.
fn near(given: &str, ids: &[String]) -> Vec<String> {
    let words: Vec<&str> =
        given.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| word.len() > 3).collect();
    ids.iter().filter(|id| words.iter().any(|word| id.contains(word))).take(3).cloned().collect()
}

fn similar(near: &[String]) -> String {
    if near.is_empty() { String::new() } else { format!("; there is {}", near.join(", ")) }
}
