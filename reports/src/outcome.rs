use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a case ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// What was expected was seen.
    Pass,
    /// A `must` is broken.
    Fail,
    /// A `should` is broken.
    Warn,
    /// It is broken, and the baseline says so.
    Known,
    /// An open point: reported, never judged.
    Observed,
    /// Does not apply to this mode or version of the interface.
    NotApplicable,
    /// Planned, and could not run: nothing is proven.
    NotRun,
}

impl Outcome {
    /// Every outcome, in the order in which counts are told.
    pub const ALL: [Self; 7] =
        [Self::Pass, Self::Fail, Self::Warn, Self::Known, Self::Observed, Self::NotApplicable, Self::NotRun];

    /// As it stands in the JSON report, such as `not-run`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Warn => "warn",
            Self::Known => "known",
            Self::Observed => "observed",
            Self::NotApplicable => "not-applicable",
            Self::NotRun => "not-run",
        }
    }

    /// As people read it, such as `not run`.
    pub fn words(self) -> &'static str {
        match self {
            Self::NotApplicable => "not applicable",
            Self::NotRun => "not run",
            other => other.name(),
        }
    }
}

/// How much a mismatch weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// A mismatch is a `fail`.
    Must,
    /// A mismatch is a `warn`.
    Should,
    /// Never judged.
    Open,
}

impl Level {
    /// As it stands in every report.
    pub fn name(self) -> &'static str {
        match self {
            Self::Must => "must",
            Self::Should => "should",
            Self::Open => "open",
        }
    }
}

/// Who says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Basis {
    /// The interface.
    Interface,
    /// A public standard.
    Standard,
    /// A credential or an end user would be exposed.
    Security,
}

impl Basis {
    /// As it stands in every report.
    pub fn name(self) -> &'static str {
        match self {
            Self::Interface => "interface",
            Self::Standard => "standard",
            Self::Security => "security",
        }
    }
}

/// One thing that was not as expected. A case lists all of its mismatches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Mismatch {
    /// What was looked at: `status`, `body`, `requests at the service`, …
    pub what: String,
    /// What would have been right, in words or as it would appear on the wire.
    pub expected: String,
    /// What was there.
    pub actual: String,
    /// What the reader can do about it, where that is known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub hint: Option<String>,
    /// How much this one weighs.
    pub level: Level,
}

/// How the target behaved at a point that the interface leaves open.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Observation {
    /// The open point, a stable slug such as `preflight.status`.
    pub point: String,
    /// What was seen, the same text for the same behaviour.
    pub saw: String,
}

/// Where an exchange took place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub enum Hop {
    /// From edgeproof, in the place of a browser, to the edge.
    #[serde(rename = "client→edge")]
    ClientEdge,
    /// From the edge to edgeproof, in the place of the service.
    #[serde(rename = "edge→service")]
    EdgeService,
    /// From edgeproof, in the place of a backend, to the service.
    #[serde(rename = "client→service")]
    ClientService,
    /// From edgeproof, in the place of a backend, to the key set.
    #[serde(rename = "client→keys")]
    ClientKeys,
}

impl Hop {
    /// As it stands in every report.
    pub fn name(self) -> &'static str {
        match self {
            Self::ClientEdge => "client→edge",
            Self::EdgeService => "edge→service",
            Self::ClientService => "client→service",
            Self::ClientKeys => "client→keys",
        }
    }
}

/// A request and its answer as text: head, blank line, body. Lines end with `\n` alone. Secrets are redacted,
/// what is not printable is escaped, long bodies are cut with their length named.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Exchange {
    /// Which connection.
    pub hop: Hop,
    /// The request.
    pub request: String,
    /// The answer, or in parentheses why there is none.
    pub response: String,
}

/// What is known of the edge that a case ran against.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EdgeNotes {
    /// `NAME=value` for each setting it was started with; secrets as a label and a short digest.
    pub settings: Vec<String>,
    /// Its last log lines, escaped and redacted.
    pub log: Vec<String>,
}

/// One case, as every report shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CaseReport {
    /// Stable slug, such as `refusal.401.bad-signature`.
    pub id: String,
    /// What is tested, in one line.
    pub title: String,
    /// Section of the interface.
    pub section: String,
    /// How much it weighs.
    pub level: Level,
    /// Who says so.
    pub basis: Basis,
    /// The public standard, where it is the basis.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub standard: Option<String>,
    /// Ids of the rows that it proves.
    pub rows: Vec<String>,
    /// How it ended.
    pub outcome: Outcome,
    /// One line: why it ended so. Empty for a pass.
    pub because: String,
    /// What would have been right, in one line.
    pub expected: String,
    /// What was there, in one line.
    pub actual: String,
    /// Every mismatch, the heaviest first.
    pub mismatches: Vec<Mismatch>,
    /// How the target behaved at open points.
    pub observations: Vec<Observation>,
    /// Time it took, in microseconds.
    pub duration_us: u64,
    /// A `curl` command that sends the same request, or empty where curl cannot.
    pub reproduce: String,
    /// What went over the wire, in order.
    pub exchanges: Vec<Exchange>,
    /// The edge it ran against, on a mismatch.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub edge: Option<EdgeNotes>,
}

/// How many cases ended how. The parts add up to `planned`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "each field is the count of the outcome of that name")]
pub struct Summary {
    pub planned: usize,
    pub pass: usize,
    pub fail: usize,
    pub warn: usize,
    pub known: usize,
    pub observed: usize,
    pub not_applicable: usize,
    pub not_run: usize,
}

impl Summary {
    /// Counts cases that ended so.
    pub fn of(outcomes: impl IntoIterator<Item = Outcome>) -> Self {
        let mut summary = Self::default();
        for outcome in outcomes {
            summary.count(outcome);
        }
        summary
    }

    /// One more case that was planned and ended so.
    pub fn count(&mut self, outcome: Outcome) {
        self.planned += 1;
        *match outcome {
            Outcome::Pass => &mut self.pass,
            Outcome::Fail => &mut self.fail,
            Outcome::Warn => &mut self.warn,
            Outcome::Known => &mut self.known,
            Outcome::Observed => &mut self.observed,
            Outcome::NotApplicable => &mut self.not_applicable,
            Outcome::NotRun => &mut self.not_run,
        } += 1;
    }

    /// How many ended so.
    pub fn get(&self, outcome: Outcome) -> usize {
        match outcome {
            Outcome::Pass => self.pass,
            Outcome::Fail => self.fail,
            Outcome::Warn => self.warn,
            Outcome::Known => self.known,
            Outcome::Observed => self.observed,
            Outcome::NotApplicable => self.not_applicable,
            Outcome::NotRun => self.not_run,
        }
    }

    /// The line that everybody looks for: `212 planned · 205 pass · 2 fail`. What is zero is left out, a pass never.
    pub fn line(&self) -> String {
        let mut line = format!("{} planned", self.planned);
        for outcome in Outcome::ALL {
            if self.get(outcome) > 0 || outcome == Outcome::Pass {
                let _ = write!(line, " · {} {}", self.get(outcome), outcome.words());
            }
        }
        line
    }
}

/// Latency that the edge adds: its round trip less the mock service's share. Microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AddedLatency {
    /// Exchanges measured.
    pub samples: usize,
    /// Median.
    pub p50_us: u64,
    /// 99th percentile.
    pub p99_us: u64,
}

/// How edgeproof came by its target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TargetKind {
    /// The reference part, in this process.
    Embedded,
    /// A program that was started.
    Launched,
    /// An address that was given.
    Attached,
}

impl TargetKind {
    /// As it stands in every report.
    pub fn name(self) -> &'static str {
        match self {
            Self::Embedded => "embedded",
            Self::Launched => "launched",
            Self::Attached => "attached",
        }
    }
}
