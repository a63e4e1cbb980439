//! Deaths and failed starts of processes.

use serde::{Deserialize, Serialize};

use super::value::{Silence, Wire};

/// Why a process does not run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ProcessError {
    /// It died.
    Death(Box<ProcessDeath>),
    /// The system refused to start the program.
    NotStarted {
        /// The command.
        command: Wire,
        /// Error of the system.
        error: Wire,
    },
    /// The program exited before it answered.
    ExitedEarly {
        /// The command.
        command: Wire,
        /// Exit status, as the system writes it.
        status: Wire,
    },
    /// The reference edge refused its settings, with this error.
    Refused(Wire),
}

/// Death of a process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ProcessDeath {
    /// How the death showed.
    pub evidence: DeathEvidence,
    /// The last exchange before it.
    pub after: LastExchange,
    /// Ids of other cases whose requests were open.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub others: Vec<String>,
    /// Another process took its place, or it came back: the cases ran again alone.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub is_replaced: bool,
    /// Its last log lines.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub log: Vec<Wire>,
}

/// How a death showed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum DeathEvidence {
    /// The process exited. Its status, as the system writes it.
    Exit(Wire),
    /// It answered no more.
    Silent {
        /// Time without an answer (ms).
        for_ms: u64,
        /// Result of the last probe.
        silence: Silence,
    },
    /// It accepts connections and answers nothing.
    Hung {
        /// Time without an answer (ms).
        for_ms: u64,
        /// Cases in turn without an answer.
        cases: u64,
    },
    /// It did not answer for this time (ms), and then it answered again.
    Absent(u64),
    /// It refuses connections. The result of the last exchange, or of a probe after it.
    Refused(Silence),
}

/// The last exchange before a death.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum LastExchange {
    /// An exchange of the case with this id.
    Case(String, ExchangeLine),
    /// A probe of edgeproof.
    Probe,
    /// The first collection of edgeproof, before all cases.
    FirstCollection,
    /// The first request of edgeproof, before all cases.
    FirstRequest,
}

/// Request line and result of an exchange.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ExchangeLine {
    /// Method of the request.
    pub method: Wire,
    /// Its target.
    pub target: Wire,
    /// Status of the answer.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub status: Option<u16>,
    /// The answer was cut off.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub is_cut_off: bool,
    /// Why there is no answer.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub silence: Option<Silence>,
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use crate::difference::Difference;

    #[rstest]
    #[case::process(
        r#"{"field":"/process","kind":"process","end":"died","error":{"text":"it died","bytes":7}}"#
    )]
    #[case::member(r#"{"field":"/body/a","kind":"member","path":"the claim a","change":"other"}"#)]
    #[case::pin(
        r#"{"field":"/points/a","kind":"pin","point":"a","expected":[],"actual":{"text":"b","bytes":1}}"#
    )]
    fn differences_of_older_reports_are_read(#[case] json: &str) {
        assert!(serde_json::from_str::<Difference>(json).is_ok());
    }
}
