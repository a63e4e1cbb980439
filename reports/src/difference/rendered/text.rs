use crate::difference::value::Wire;
use crate::text::units::counted;

/// Longest excerpt of a value (bytes).
const LONGEST: usize = 160;

/// The text of a difference.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rendered {
    /// The compared property, such as `status`.
    pub what: String,
    /// Expected value.
    pub expected: String,
    /// Actual value.
    pub actual: String,
}

impl Rendered {
    pub(super) fn new(
        what: impl Into<String>,
        expected: impl Into<String>,
        actual: impl Into<String>,
    ) -> Self {
        Self { what: what.into(), expected: expected.into(), actual: actual.into() }
    }
}

/// Bytes as text for one line of a report, truncated to 160 bytes.
pub fn excerpt(bytes: &[u8]) -> String {
    excerpt_of(&String::from_utf8_lossy(&bytes[..bytes.len().min(LONGEST)]), bytes.len())
}

impl Wire {
    pub(super) fn text(&self) -> String {
        self.text.clone()
    }

    pub(crate) fn excerpt(&self) -> String {
        let bytes = usize::try_from(self.bytes).unwrap_or(usize::MAX);
        if bytes <= LONGEST {
            return excerpt_of(&self.text, bytes);
        }
        let start = &self.text.as_bytes()[..self.text.len().min(LONGEST)];
        excerpt_of(&String::from_utf8_lossy(start), bytes)
    }

    /// Excerpt of a body, with its length if it is long.
    pub(super) fn described(&self) -> String {
        match self.bytes {
            0 => "an empty body".into(),
            bytes if bytes > LONGEST as u64 => format!("{}, {}", several(bytes, "byte"), self.excerpt()),
            _ => self.excerpt(),
        }
    }
}

fn excerpt_of(start: &str, bytes: usize) -> String {
    match bytes {
        0 => "nothing".into(),
        bytes if bytes > LONGEST => format!("{start}… ({bytes} bytes)"),
        _ => start.to_owned(),
    }
}

/// A number with its noun.
pub(super) fn several(number: u64, noun: &str) -> String {
    counted(usize::try_from(number).unwrap_or(usize::MAX), noun)
}
