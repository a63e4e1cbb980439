use std::fmt;
use std::time::Duration;

use humantime::format_duration;

use super::text::Rendered;
use crate::difference::choice::{ProcessEnd, Subject};
use crate::difference::process::{DeathEvidence, ExchangeLine, LastExchange, ProcessDeath, ProcessError};
use crate::text::escape::visible;

/// Longest request line in a message, in characters.
const LONGEST: usize = 160;

pub(super) fn process(end: ProcessEnd, process: Option<Subject>, cause: Option<&ProcessError>) -> Rendered {
    let process = process.map_or("", Subject::name);
    let cause = cause.map(ToString::to_string).unwrap_or_default();
    match end {
        ProcessEnd::Died => Rendered::new(process, "keeps running", cause),
        ProcessEnd::NotStarted => Rendered::new(process, "starts", cause),
        ProcessEnd::Open => Rendered::new(process, "starts, or does not start", "does not start"),
    }
}

impl fmt::Display for ProcessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Death(death) => death.fmt(f),
            Self::NotStarted { command, error } => {
                write!(f, "cannot start `{}`: {}", command.text, error.text)
            }
            Self::ExitedEarly { command, status } => {
                write!(
                    f,
                    "cannot start `{}`: it exited with {} before it answered",
                    command.text, status.text
                )
            }
            Self::Refused(error) => write!(f, "cannot start the reference edge: {}", error.text),
        }
    }
}

impl fmt::Display for ProcessDeath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (evidence, after) = (&self.evidence, &self.after);
        match (evidence, after) {
            (DeathEvidence::Refused(silence), LastExchange::FirstRequest) => {
                write!(f, "{silence} to {after}, and connections are refused since then")?;
            }
            (_, LastExchange::FirstCollection | LastExchange::FirstRequest) => {
                write!(f, "{evidence}, after {after}")?;
            }
            (DeathEvidence::Hung { .. }, _) => {
                write!(
                    f,
                    "it hangs since {after}: {evidence}. Look for what each request takes and some never give back, \
                     such as a connection, a slot or a lock"
                )?;
            }
            _ => write!(f, "it died after {after}: {evidence}")?,
        }
        if !self.others.is_empty() {
            let others = self.others.join(", ");
            if self.is_replaced {
                let end = "ran again alone, it stayed up or came back at once";
                write!(f, "; when this case and {others} {end}")?;
            } else {
                write!(f, "; requests of {others} were open as well: use --jobs 1 to be sure")?;
            }
        }
        self.log.iter().try_for_each(|line| write!(f, "\n  | {}", line.text))
    }
}

impl fmt::Display for DeathEvidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = |ms: &u64| format_duration(Duration::from_millis(*ms));
        match self {
            Self::Exit(status) => write!(f, "it exited by itself with {}", status.text),
            Self::Silent { for_ms, silence } => {
                write!(f, "for {} it has not answered: {silence}", time(for_ms))
            }
            Self::Hung { for_ms, cases } => {
                write!(
                    f,
                    "it still listens, and answered nothing for {}, in {cases} cases in turn",
                    time(for_ms)
                )
            }
            Self::Absent(ms) => write!(f, "it did not answer for {}, then it answered again", time(ms)),
            Self::Refused(silence) => write!(f, "it refuses connections now: {silence}"),
        }
    }
}

impl fmt::Display for LastExchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Case(id, line) => write!(f, "{line} of case {id}"),
            Self::Probe => f.write_str("edgeproof's own probe"),
            Self::FirstCollection => f.write_str("edgeproof's first collection"),
            Self::FirstRequest => f.write_str("edgeproof's first request"),
        }
    }
}

impl fmt::Display for ExchangeLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = format!("{} {}", self.method.text, self.target.text);
        let short: String = line.chars().take(LONGEST).collect();
        let more = if short.len() < line.len() { "…" } else { "" };
        let result = match (self.status, &self.silence) {
            (Some(status), _) if self.is_cut_off => format!("status {status}, cut off"),
            (Some(status), _) => format!("status {status}"),
            (None, Some(silence)) => silence.to_string(),
            (None, None) => "no answer".to_owned(),
        };
        write!(f, "{}{more} ({})", visible(&short), visible(&result))
    }
}
