use std::sync::Arc;
use std::time::Duration;

use edgeproof_fixtures::spec::{Row, Stimulus};
use edgeproof_reports::{CaseBasis, CaseLevel};
use futures_util::future::BoxFuture;

use super::{
    CaseContext, CollectorCaseContext, CollectorMonitor, Conversation, EdgeMonitor, Prerequisite,
    ServiceCaseContext, ServiceMonitor,
};
use crate::cases::Setup;

/// One test of an edge, a service, a key set or a collector.
#[derive(Clone)]
pub struct Case {
    /// Stable slug, such as `refusal.401.bad-signature`.
    pub id: String,
    /// The tested behaviour in one line.
    pub title: String,
    /// Section of the interface.
    pub section: String,
    /// Level of a mismatch, unless a check sets its own.
    pub level: CaseLevel,
    /// Basis of the first row.
    pub basis: CaseBasis,
    /// The public standard, if that is the basis.
    pub standard: Option<String>,
    /// Ids of the rows that the case proves, at least one.
    pub rows: Vec<String>,
    /// The rows' stimuli that the case triggers.
    pub stimuli: Vec<Stimulus>,
    /// Settings of the edge.
    pub setup: Setup,
    /// The settings of this case alone, if `setup` serves several cases. A case that does not pass is played again with them.
    pub alone: Option<Setup>,
    /// The case leases its edge exclusively, because it sends no marker, breaks connections or reads the log; or it leases
    /// the mock service exclusively, because it changes its clock or keys.
    pub exclusive: bool,
    /// What the case requires besides its target.
    pub prerequisites: Vec<Prerequisite>,
    /// Expected duration. Long cases start first. Zero: short.
    pub takes: Duration,
    /// When in the run the case is played.
    pub phase: Phase,
    /// Level of the requirement that the edge starts with these settings.
    pub start: CaseLevel,
    /// The requests and their checks.
    pub procedure: Procedure,
}

/// Requests and checks of a case.
#[derive(Clone)]
pub enum Procedure {
    /// One request with its expected result. It is data, so an edge without sockets can play it too.
    Conversation(Box<Conversation>),
    /// Several named conversations in sequence, for one behaviour that many answers share.
    Conversations(Arc<[(String, Conversation)]>),
    /// Any other steps at an edge.
    EdgeSteps(EdgeSteps),
    /// Steps at a service or a key set.
    ServiceSteps(ServiceSteps),
    /// Steps at a collector in a browser.
    CollectorSteps(CollectorSteps),
    /// Sends no requests. Judges the exchanges and logs of all other cases.
    Monitor(EdgeMonitor),
    /// No requests: judges all exchanges with a service or a key set.
    ServiceMonitor(ServiceMonitor),
    /// No calls: judges all pages of a collector.
    CollectorMonitor(CollectorMonitor),
}

/// Steps at an edge that are more than a conversation.
pub type EdgeSteps = Arc<dyn for<'a> Fn(&'a mut CaseContext) -> BoxFuture<'a, ()> + Send + Sync>;

/// Steps at a service or a key set, played as the integrator's backend.
pub type ServiceSteps = Arc<dyn for<'a> Fn(&'a mut ServiceCaseContext) -> BoxFuture<'a, ()> + Send + Sync>;

/// Steps at a collector, played in pages of a browser.
pub type CollectorSteps =
    Arc<dyn for<'a> Fn(&'a mut CollectorCaseContext) -> BoxFuture<'a, ()> + Send + Sync>;

/// When in the run a case is played.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Before all other cases.
    First,
    /// Between the first and the last cases, in any order.
    Main,
    /// After the main cases.
    Last,
    /// After all requests of the run.
    Monitors,
}

impl Case {
    /// A case that proves `row` and takes level, basis and section from it.
    pub fn of(row: &Row, id: &str, title: &str, procedure: Procedure) -> Self {
        Self {
            id: id.into(),
            title: title.into(),
            section: row.section.clone(),
            level: level(row.level),
            basis: basis(row.basis),
            standard: row.standard.clone(),
            rows: vec![row.id.clone()],
            stimuli: Vec::new(),
            setup: Setup::Standard,
            alone: None,
            exclusive: false,
            prerequisites: vec![Prerequisite::Service, Prerequisite::Origin],
            takes: Duration::ZERO,
            phase: Phase::Main,
            start: CaseLevel::Must,
            procedure,
        }
    }

    /// Adds a row that the case also proves.
    pub fn also(&mut self, row: &str) -> &mut Self {
        if !self.rows.iter().any(|other| other == row) {
            self.rows.push(row.into());
        }
        self
    }

    /// Adds a stimulus that the case triggers.
    pub fn stimulus(&mut self, stimulus: Stimulus) -> &mut Self {
        self.stimuli.push(stimulus);
        self
    }

    /// Sets the settings of the edge.
    pub fn setup(&mut self, setup: Setup) -> &mut Self {
        self.setup = setup;
        if setup.is_without_service() {
            self.start = CaseLevel::Should;
        }
        self
    }

    /// Leases the edge or the mock service exclusively.
    pub fn exclusive(&mut self) -> &mut Self {
        self.exclusive = true;
        self
    }

    /// Replaces the prerequisites.
    pub fn requires(&mut self, prerequisites: &[Prerequisite]) -> &mut Self {
        self.prerequisites = prerequisites.to_vec();
        self
    }

    /// Replaces the row's level, for a case that tests more than the row states.
    pub fn level(&mut self, level: CaseLevel) -> &mut Self {
        self.level = level;
        self
    }

    /// Sets the expected duration.
    pub fn takes(&mut self, time: Duration) -> &mut Self {
        self.takes = time;
        self
    }

    /// Sets when in the run the case is played.
    pub fn phase(&mut self, phase: Phase) -> &mut Self {
        self.phase = phase;
        self
    }
}

impl std::fmt::Debug for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Case").field("id", &self.id).field("rows", &self.rows).finish_non_exhaustive()
    }
}

pub(super) fn level(level: edgeproof_fixtures::spec::Level) -> CaseLevel {
    match level {
        edgeproof_fixtures::spec::Level::Must => CaseLevel::Must,
        edgeproof_fixtures::spec::Level::Should => CaseLevel::Should,
        edgeproof_fixtures::spec::Level::Open => CaseLevel::Open,
    }
}

pub(super) fn basis(basis: edgeproof_fixtures::spec::Basis) -> CaseBasis {
    match basis {
        edgeproof_fixtures::spec::Basis::Interface => CaseBasis::Interface,
        edgeproof_fixtures::spec::Basis::Standard => CaseBasis::Standard,
        edgeproof_fixtures::spec::Basis::Security => CaseBasis::Security,
    }
}
