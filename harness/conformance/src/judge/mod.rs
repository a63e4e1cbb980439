//! Judging: what was expected × what was seen → checks. Nothing here does I/O or knows how a message came about.

mod answer;
mod code;
mod cors;
mod freshness;
mod jwks;
mod jws;
mod log;
mod relay;

pub use answer::{
    EDGE_SECRETS, Expected, exact, header_has, is_json, no_secrets, no_server_error, status_in,
};
pub use code::{Code, place_of, same_answer, tells};
pub use cors::{no_grant, preflight_passes, readable, vary};
pub use freshness::{bounded, fresh_for, not_shared};
pub use jwks::{distinct_ids, has_keys, public_only, typed_keys};
pub use jws::{Signed, is_jws, verify_jws};
pub use log::{names_refusal, one_refusal_line, shows_no_secrets, shows_nothing};
pub use relay::{carries_license, presents_certificate, relayed_nothing, relayed_once};

use edgeproof_reports::{CaseLevel as Level, Mismatch};

/// One thing that was looked at, right or wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// What was looked at.
    pub what: String,
    /// What would be right, in words or as on the wire.
    pub expected: String,
    /// What was there.
    pub actual: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// How much it weighs.
    pub level: Level,
    /// Whether it was right.
    pub ok: bool,
}

impl Check {
    /// A check at level `must`.
    pub fn new(what: &str, expected: impl Into<String>, actual: impl Into<String>, ok: bool) -> Self {
        let (expected, actual) = (expected.into(), actual.into());
        Self { what: what.into(), expected, actual, hint: None, level: Level::Must, ok }
    }

    /// The same with a hint for whoever has to mend it.
    #[must_use]
    pub fn hint(mut self, hint: &str) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same, of one among several answers.
    #[must_use]
    pub fn of(mut self, which: &str) -> Self {
        self.what = format!("{} of {which}", self.what);
        self
    }

    /// The same at another level.
    #[must_use]
    pub fn at(mut self, level: Level) -> Self {
        self.level = level;
        self
    }

    /// The mismatch that it is, if it is one.
    pub fn mismatch(&self) -> Option<Mismatch> {
        (!self.ok).then(|| Mismatch {
            what: self.what.clone(),
            expected: self.expected.clone(),
            actual: self.actual.clone(),
            hint: self.hint.clone(),
            level: self.level,
        })
    }
}

/// Bytes as a person reads them in one line: text where it is text, cut where it is long.
pub(crate) fn shown(bytes: &[u8]) -> String {
    const LONGEST: usize = 160;
    if bytes.is_empty() {
        return "nothing".into();
    }
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(LONGEST)]);
    if bytes.len() > LONGEST { format!("{text}… ({} bytes)", bytes.len()) } else { text.into_owned() }
}
