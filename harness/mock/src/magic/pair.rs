use std::time::Duration;

use edgeproof_fixtures::spec::{Stimulus, Table};
use serde::Serialize;

/// A magic value with its row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Pair {
    /// Text of the value.
    pub value: String,
    /// Part of a request that carries it.
    pub carrier: Carrier,
    /// Id of the row.
    pub row: String,
    /// Table of the row.
    pub table: Table,
    /// Status of the row.
    pub status: u16,
    /// Code of the row, if any. A suffix follows a colon.
    pub code: Option<String>,
    /// Stimulus that the journal names.
    #[serde(rename = "cause")]
    pub stimulus: Stimulus,
    /// Time from the first request to the verdict (ms); none for a constant answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after_ms: Option<u64>,
}

/// Part of a request that carries a magic value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Carrier {
    /// The license of an edge.
    License,
    /// The read token of a backend.
    ReadToken,
    /// The session reference: in a sealed collection for relay rows, in the path for verdict rows. It has an effect on
    /// requests that would succeed otherwise.
    SessionRef,
}

/// Effect of a magic session reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect<'a> {
    /// The row of this pair gives the answer.
    Row(&'a Pair),
    /// The verdict is ready this long after the collection was accepted, or after the first request for it.
    ReadyAfter(Duration),
}

impl Carrier {
    /// Name in the table of magic values.
    pub fn name(self) -> &'static str {
        match self {
            Self::License => "license",
            Self::ReadToken => "read token",
            Self::SessionRef => "session reference",
        }
    }
}
