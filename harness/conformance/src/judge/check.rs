use edgeproof_http::{Answer, NoAnswer};
use edgeproof_reports::{CaseLevel, Mismatch};

/// An answer, or why there is none.
pub type AnswerResult = Result<Answer, NoAnswer>;

/// One comparison of an expected with an actual value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// The compared part, such as `status`.
    pub what: String,
    /// The expected value, as a description or as on the wire.
    pub expected: String,
    /// The actual value.
    pub actual: String,
    /// How to fix a mismatch.
    pub hint: Option<String>,
    /// Level of a mismatch.
    pub level: CaseLevel,
    /// The values match.
    pub ok: bool,
}

impl Check {
    /// A check at level `must`.
    pub fn new(what: &str, expected: impl Into<String>, actual: impl Into<String>, ok: bool) -> Self {
        let (expected, actual) = (expected.into(), actual.into());
        Self { what: what.into(), expected, actual, hint: None, level: CaseLevel::Must, ok }
    }

    /// Sets the hint.
    #[must_use]
    pub fn hint(mut self, hint: &str) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Names the answer, if the case has several.
    #[must_use]
    pub fn of(mut self, which: &str) -> Self {
        self.what = format!("{} of {which}", self.what);
        self
    }

    /// Sets the level.
    #[must_use]
    pub fn at(mut self, level: CaseLevel) -> Self {
        self.level = level;
        self
    }

    /// The mismatch. None: the values match.
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

/// Bytes as text for one line of a report, truncated to 160 bytes.
pub(crate) fn excerpt(bytes: &[u8]) -> String {
    const LONGEST: usize = 160;
    if bytes.is_empty() {
        return "nothing".into();
    }
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(LONGEST)]);
    if bytes.len() > LONGEST { format!("{text}… ({} bytes)", bytes.len()) } else { text.into_owned() }
}
