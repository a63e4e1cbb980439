use std::time::{Duration, SystemTime};

use edgeproof_fixtures::credentials::{ReadClaims, ReadTokenFault};
use edgeproof_fixtures::spec::{Row, Stimulus, Table};
use http::StatusCode;

use crate::Kind;
use edgeproof_edge::{EdgeAction, EdgeAnswer};
use edgeproof_mock::{
    ReadOutage, ServiceAction, ServiceDecision, ServiceEndpoint, ServiceFaultHooks, ServiceRequest,
};

/// A service or key set that deviates at one row.
#[derive(Debug, Clone, PartialEq)]
pub struct AtServiceRow {
    /// The row whose answer is changed.
    pub row: Row,
    /// How.
    pub fault: Fault,
    /// The row that is broken by that: the changed one, or the statement about all answers that it is an instance of.
    pub breaks: String,
}

/// How a service deviates at a row.
#[derive(Debug, Clone, PartialEq)]
pub enum Fault {
    /// Its answer is another.
    Answer(Kind),
    /// It does not check for what the row refuses.
    Unchecked,
}

impl Fault {
    /// The end of the deviation's id.
    pub fn slug(&self) -> String {
        match self {
            Self::Answer(kind) => kind.slug(),
            Self::Unchecked => "unchecked".into(),
        }
    }

    /// What is done, in a few words.
    pub fn words(&self) -> String {
        match self {
            Self::Answer(kind) => kind.words(),
            Self::Unchecked => "it is not checked, and everybody is let in".into(),
        }
    }

    /// What is said in place of a right answer.
    pub fn change(&self, right: ServiceDecision) -> ServiceAction {
        let Self::Answer(kind) = self else { return ServiceAction::At(Duration::ZERO, right) };
        let cause = right.stimulus;
        match kind.change(as_answer(right)) {
            EdgeAction::Answer(EdgeAnswer { status, headers, body, .. }) => ServiceAction::At(
                Duration::ZERO,
                ServiceDecision { status: status.as_u16(), headers, body, stimulus: cause },
            ),
            EdgeAction::Nothing | EdgeAction::Silence => ServiceAction::Nothing,
        }
    }
}

impl AtServiceRow {
    fn lets_in(&self, cause: Stimulus) -> bool {
        self.fault == Fault::Unchecked && self.row.stimuli.contains(&cause)
    }
}

impl ServiceFaultHooks for AtServiceRow {
    fn token(
        &self,
        _authorization: Option<&str>,
        license_id: &str,
        right: Result<ReadClaims, ReadTokenFault>,
    ) -> Result<ReadClaims, ReadTokenFault> {
        right.or_else(|fault| {
            if !self.lets_in(fault.stimulus) {
                return Err(fault);
            }
            Ok(ReadClaims { license_id: license_id.to_owned(), expires: SystemTime::now() })
        })
    }

    fn outage(&self, right: Option<ReadOutage>) -> Option<ReadOutage> {
        right.filter(|outage| !self.lets_in(outage.stimulus()))
    }

    fn conclude(&self, asked: &ServiceRequest<'_>, right: ServiceDecision) -> ServiceAction {
        if shows(&self.row, asked.endpoint, &right) {
            self.fault.change(right)
        } else {
            ServiceAction::At(Duration::ZERO, right)
        }
    }
}

/// A right answer is the one that a row gives.
pub(crate) fn shows(row: &Row, endpoint: ServiceEndpoint, right: &ServiceDecision) -> bool {
    match (row.table, endpoint) {
        (Table::Verdict, ServiceEndpoint::Verdict) => {
            row.stimuli.contains(&right.stimulus.unwrap_or(Stimulus::VerdictReady))
        }
        (Table::Keys, ServiceEndpoint::KeySet) => row.status() == Some(right.status),
        _ => false,
    }
}

/// The same as an edge says it, for what both can do otherwise.
pub(super) fn as_answer(decision: ServiceDecision) -> EdgeAnswer {
    let ServiceDecision { status, headers, body, .. } = decision;
    let status =
        StatusCode::from_u16(status).expect("the status of a decision is a row's, and those are checked");
    EdgeAnswer { status, headers, body, log: None }
}
