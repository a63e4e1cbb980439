use std::fmt;

/// What a check found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Finding {
    pub(super) state: State,
    /// What was checked.
    about: String,
    /// What was found.
    found: String,
    /// What to do; empty if there is nothing to do.
    advice: String,
    /// Further lines, such as the output of the edge.
    details: Vec<String>,
}

/// Weight of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::Display)]
#[strum(serialize_all = "lowercase")]
pub(super) enum State {
    Ok,
    /// Only some runs are affected.
    Note,
    Problem,
}

impl Finding {
    pub(super) fn ok(about: impl Into<String>, found: impl Into<String>) -> Self {
        Self::new(State::Ok, about, found, "")
    }

    pub(super) fn note(
        about: impl Into<String>,
        found: impl Into<String>,
        advice: impl Into<String>,
    ) -> Self {
        Self::new(State::Note, about, found, advice)
    }

    pub(super) fn problem(
        about: impl Into<String>,
        found: impl Into<String>,
        advice: impl Into<String>,
    ) -> Self {
        Self::new(State::Problem, about, found, advice)
    }

    fn new(
        state: State,
        about: impl Into<String>,
        found: impl Into<String>,
        advice: impl Into<String>,
    ) -> Self {
        Self { state, about: about.into(), found: found.into(), advice: advice.into(), details: Vec::new() }
    }

    /// The same finding with further lines.
    pub(super) fn with(self, details: &[String]) -> Self {
        Self { details: details.to_vec(), ..self }
    }
}

/// One line, and the further lines below it.
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines = self.found.lines();
        write!(f, "{:<9}{:<23}{}", self.state.to_string(), self.about, lines.next().unwrap_or_default())?;
        if !self.advice.is_empty() {
            write!(f, " → {}", self.advice)?;
        }
        // Texts about an edge end with the lines of its log.
        let details = self.details.iter().map(|line| format!("| {line}"));
        for line in lines.map(|line| line.trim().to_owned()).chain(details) {
            write!(f, "\n{:32}{line}", "")?;
        }
        Ok(())
    }
}
