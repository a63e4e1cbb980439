use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

use crate::difference::{Difference, DifferenceKind};

use super::advice::AdviceNote;
use super::confirmation::Confirmation;
use super::outcome::{CaseBasis, CaseLevel, Outcome};
use super::release_version::ReleaseVersion;

/// One case, as every report shows it. By default it did not run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CaseReport {
    /// Stable slug, such as `refusal.401.bad-signature`.
    pub id: String,
    /// Tested behaviour in one line.
    pub title: String,
    /// Section of the interface.
    pub section: String,
    /// Weight of the case.
    pub level: CaseLevel,
    /// Authority behind the expectation.
    pub basis: CaseBasis,
    /// The public standard; set when `basis` is `standard`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub standard: Option<String>,
    /// Ids of the rows that the case proves.
    pub rows: Vec<String>,
    /// Version of edgeproof that added the case. Absent for a case of your own: of a row in your tables, or a saved sequence.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[cfg_attr(test, schemars(with = "Option<String>"))]
    pub since: Option<ReleaseVersion>,
    /// Result.
    pub outcome: Outcome,
    /// Reason for the outcome in one line; empty for a pass.
    pub because: String,
    /// Expected behaviour in one line.
    pub expected: String,
    /// Actual behaviour in one line.
    pub actual: String,
    /// All mismatches, the heaviest first.
    pub mismatches: Vec<Mismatch>,
    /// Behaviour of the target at open points.
    pub observations: Vec<Observation>,
    /// Duration (µs).
    pub duration_us: u64,
    /// Number of exchanges in other forms that the interface treats alike.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub varied: u64,
    /// Commands that play the case by hand: where the target still runs, `curl` commands in lines, one for each connection,
    /// that send the failed request and the ones before it; otherwise `edgeproof serve`. Empty: none can.
    pub reproduce: String,
    /// What it did when it was played again. Absent: it was not.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub confirmed: Option<Confirmation>,
    /// Recorded exchanges, in order.
    pub exchanges: Vec<Exchange>,
    /// Settings and log of the edge; set on a mismatch.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub edge: Option<EdgeNotes>,
}

/// One difference between expected and actual behaviour.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Mismatch {
    /// Checked property: `status`, `body`, `requests at the service`, …
    pub what: String,
    /// Expected value, in words or as on the wire.
    pub expected: String,
    /// Actual value.
    pub actual: String,
    /// How to fix it, if known: the text of `advice`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub hint: Option<String>,
    /// Weight of this mismatch.
    pub level: CaseLevel,
    /// Name of the answer that it belongs to, if the case has several. `what` ends with it.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub place: String,
    /// The compared values. The texts are rendered from them.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub difference: Option<Difference>,
    /// What helps against it, the most important first.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub advice: Vec<AdviceNote>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl CaseReport {
    /// Level of the worst mismatch, or of the case if it has no mismatches.
    pub fn worst_level(&self) -> CaseLevel {
        self.mismatches.iter().map(|mismatch| mismatch.level).min().unwrap_or(self.level)
    }
}

impl Mismatch {
    /// The checked property without the answer: `body` for `body of 401 expired`. A mismatch of an older report, without
    /// a difference, has only the text of both.
    pub(crate) fn property(&self) -> Cow<'_, str> {
        self.kind().map_or(Cow::Borrowed(&self.what), |kind| Cow::Owned(kind.rendered().what))
    }

    /// Whether both compare the same property. Without a difference, this is unknown.
    pub(crate) fn is_about_same(&self, other: &Self) -> bool {
        let (Some(own), Some(other)) = (self.kind(), other.kind()) else { return false };
        own.is_about_same(other)
    }

    /// Whether both have the same values, level and advice, for two answers.
    pub(crate) fn is_alike(&self, other: &Self) -> bool {
        let (Some(own), Some(others)) = (&self.difference, &other.difference) else { return false };
        !(self.place.is_empty() || other.place.is_empty())
            && (&own.field, &own.stopped, &own.kind) == (&others.field, &others.stopped, &others.kind)
            && (self.level, &self.advice) == (other.level, &other.advice)
    }

    /// Kind and values of the difference.
    pub fn kind(&self) -> Option<&DifferenceKind> {
        self.difference.as_ref().map(|difference| &difference.kind)
    }
}

/// Behaviour of the target at a point that the interface leaves open.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Observation {
    /// The open point, a stable slug such as `preflight.status`.
    pub point: String,
    /// Observed behaviour; the same text for the same behaviour.
    #[serde(rename = "saw")]
    pub observed: String,
    /// Value of the profile; set if `often_a_mistake` is.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub profile: Option<String>,
    /// What a value other than that of the profile often means; set in `observations` of the report if the value differs and
    /// is not pinned.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub often_a_mistake: Option<String>,
}

/// Observations by point.
pub(crate) fn by_point(observations: &[Observation]) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut points: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for Observation { point, observed, .. } in observations {
        points.entry(point).or_default().insert(observed);
    }
    points
}

/// Connection of an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, IntoStaticStr)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum Hop {
    /// From edgeproof, acting as the browser, to the edge.
    #[serde(rename = "client→edge")]
    #[strum(serialize = "client→edge")]
    ClientEdge,
    /// From the edge to edgeproof, acting as the service.
    #[serde(rename = "edge→service")]
    #[strum(serialize = "edge→service")]
    EdgeService,
    /// From edgeproof, acting as a backend, to the service.
    #[serde(rename = "client→service")]
    #[strum(serialize = "client→service")]
    ClientService,
    /// From edgeproof, acting as a backend, to the key set.
    #[serde(rename = "client→keys")]
    #[strum(serialize = "client→keys")]
    ClientKeys,
}

impl Hop {
    /// Name in every report.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// A request and its response as text: head, blank line, body. Lines end with `\n`. Secrets are redacted,
/// unprintable characters are escaped, and long bodies are cut with a note of their length.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Exchange {
    /// The connection.
    pub hop: Hop,
    /// The request.
    pub request: String,
    /// The response, or in parentheses the reason why there is none.
    pub response: String,
}

/// Settings and log of the edge that a case ran against.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct EdgeNotes {
    /// `NAME=value` for each setting of the edge; secrets as a label and a short digest.
    pub settings: Vec<String>,
    /// Last log lines, escaped and redacted.
    pub log: Vec<String>,
}
