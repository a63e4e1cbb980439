use std::time::Duration;

use edgeproof_fixtures::spec::Advice;
use edgeproof_http::{Answer, NoAnswer};
use edgeproof_reports::difference::{
    Count, Counted, Difference, DifferenceKind, PageEffect, PageValue, ProcessEnd, ProcessError, Rendered,
    Subject, TimeRule, Wire,
};
use edgeproof_reports::{AdviceNote, CaseLevel, Mismatch};

use super::values::silence;

/// An answer, or why there is none.
pub type AnswerResult = Result<Answer, NoAnswer>;

/// One comparison of an expected with an actual value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// Text: the compared part, such as `status`.
    pub what: String,
    /// Text: the expected value.
    pub expected: String,
    /// Text: the actual value.
    pub actual: String,
    /// What helps against a mismatch, the most important first.
    pub advice: Vec<Advice>,
    /// Level of a mismatch.
    pub level: CaseLevel,
    /// The values match.
    pub ok: bool,
    /// Name of the answer, if the case has several.
    pub place: String,
    /// The compared values. Decisions read them, never the texts.
    pub difference: Option<Difference>,
    /// The earlier answer that was compared.
    pub against: Option<Box<AnswerResult>>,
    /// This version of the interface states nothing to compare with, so any value is right.
    pub unstated: bool,
}

impl Check {
    /// A check of these values at level `must`.
    pub fn judged(kind: impl Into<DifferenceKind>, ok: bool) -> Self {
        let kind = kind.into();
        let Rendered { what, expected, actual } = kind.rendered();
        Self {
            what,
            expected,
            actual,
            advice: Vec::new(),
            level: CaseLevel::Must,
            ok,
            place: String::new(),
            difference: Some(kind.into()),
            against: None,
            unstated: false,
        }
    }

    /// A check that any answer passes, because this version of the interface does not show one. A case with no other check is
    /// not applicable.
    pub fn unstated(expected: impl Into<DifferenceKind>) -> Self {
        Self { unstated: true, ..Self::judged(expected, true) }
    }

    /// A check that there are as many as expected.
    pub fn counted(counted: Counted, expected: usize, actual: usize) -> Self {
        Self::judged(Count::new(counted, expected, actual), expected == actual)
    }

    /// A check that something took less time than the limit.
    pub fn timed(rule: TimeRule, took: Duration, limit: Duration) -> Self {
        Self::judged(DifferenceKind::time(rule, Some(took), limit), took < limit)
    }

    /// A check of a page. `actual`: None if it is as expected.
    pub fn page(effect: PageEffect, actual: Option<PageValue>, ok: bool) -> Self {
        Self::judged(DifferenceKind::page(effect, None, actual), ok)
    }

    /// A check that a value of a page is the expected one.
    pub fn page_is(effect: PageEffect, expected: impl Into<Wire>, actual: PageValue, ok: bool) -> Self {
        Self::judged(DifferenceKind::page(effect, Some(expected.into()), Some(actual)), ok)
    }

    /// A check of a process. `cause`: why it ended or did not start.
    pub fn process(end: ProcessEnd, process: Subject, cause: Option<ProcessError>) -> Self {
        let kind = DifferenceKind::Process { end, process: Some(process), cause };
        Self::judged(kind, end == ProcessEnd::Open)
    }

    /// A failed check that needs an answer.
    pub fn unanswered(why: &NoAnswer, wanted: DifferenceKind) -> Self {
        Self::judged(
            DifferenceKind::NoAnswer { silence: silence(why), wanted: Some(Box::new(wanted)) },
            false,
        )
    }

    /// Kind and values of the comparison.
    pub fn kind(&self) -> Option<&DifferenceKind> {
        self.difference.as_ref().map(|difference| &difference.kind)
    }

    /// Names the earlier answer that was compared: a mismatch points at its exchange too.
    #[must_use]
    pub fn against(mut self, earlier: &AnswerResult) -> Self {
        self.against = (!self.ok).then(|| Box::new(earlier.clone()));
        self
    }

    /// Sets the advice.
    #[must_use]
    pub fn advise(self, advice: Advice) -> Self {
        self.advise_all([advice])
    }

    /// Sets several advices, the most important first.
    #[must_use]
    pub fn advise_all(mut self, advice: impl IntoIterator<Item = Advice>) -> Self {
        self.advice = advice.into_iter().collect();
        self
    }

    /// Adds an advice after the others.
    #[must_use]
    pub fn also(mut self, advice: Advice) -> Self {
        self.advice.push(advice);
        self
    }

    /// Names the answer, if the case has several. An answer without a name stays unnamed.
    #[must_use]
    pub fn of(mut self, which: &str) -> Self {
        if which.is_empty() {
            return self;
        }
        self.what = format!("{} of {which}", self.what);
        self.place = if self.place.is_empty() { which.into() } else { format!("{} of {which}", self.place) };
        self
    }

    /// Says which of several was compared. The place of the answer stays as it is.
    #[must_use]
    pub fn which(mut self, which: &str) -> Self {
        self.what = format!("{} {which}", self.what);
        self
    }

    /// Shows these lines for the actual value.
    #[must_use]
    pub fn lines(self, lines: &[String]) -> Self {
        Self { actual: lines.join("\n"), ..self }
    }

    /// Sets the level.
    #[must_use]
    pub fn at(mut self, level: CaseLevel) -> Self {
        self.level = level;
        self
    }

    /// The mismatch, without the text of its advice. None: the values match.
    pub fn mismatch(&self) -> Option<Mismatch> {
        (!self.ok).then(|| Mismatch {
            what: self.what.clone(),
            expected: self.expected.clone(),
            actual: self.actual.clone(),
            hint: None,
            level: self.level,
            place: self.place.clone(),
            difference: self.difference.clone(),
            advice: self.advice.iter().map(note).collect(),
        })
    }
}

/// An advice with its values, as reports keep it.
fn note(advice: &Advice) -> AdviceNote {
    let value = serde_json::to_value(advice);
    value.and_then(serde_json::from_value).expect("values of advices are numbers, texts and lists of texts")
}
