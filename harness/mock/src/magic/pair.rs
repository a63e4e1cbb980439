use std::time::Duration;

use edgeproof_fixtures::spec::{Stimulus, Table};
use serde::Serialize;

/// A magic value with what it brings about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Pair {
    /// The value, as it is written where [`Carrier`] says.
    pub value: String,
    /// Where it stands.
    pub carrier: Carrier,
    /// Id of the row that answers.
    pub row: String,
    /// The row's table: whose answer it is.
    pub table: Table,
    /// Status of the row.
    pub status: u16,
    /// Code of the row, where it has one; one that carries a suffix carries it behind a colon.
    pub code: Option<String>,
    /// The cause that the journal then names.
    #[serde(rename = "cause")]
    pub stimulus: Stimulus,
    /// From the first request to the verdict, in milliseconds; none where nothing changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after_ms: Option<u64>,
}

/// What holds a magic value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Carrier {
    /// The license of an edge.
    License,
    /// The read token of a backend.
    ReadToken,
    /// The session reference: in a sealed collection for rows of the relay, in the path for rows of the verdict. It counts
    /// where the request would succeed otherwise.
    SessionRef,
}

/// What a magic value brings about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect<'a> {
    /// The row of this pair answers.
    Row(&'a Pair),
    /// The verdict is there so long after the collection was accepted, or after somebody asked for it.
    ReadyAfter(Duration),
}

impl Carrier {
    /// Its name in the pairing table.
    pub fn name(self) -> &'static str {
        match self {
            Self::License => "license",
            Self::ReadToken => "read token",
            Self::SessionRef => "session reference",
        }
    }
}
