use std::sync::Arc;
use std::time::Duration;

use edgeproof_fixtures::spec::{Row, Stimulus};
use edgeproof_reports::{CaseBasis as Basis, CaseLevel as Level};
use futures_util::future::BoxFuture;

use super::{Backend, CaseContext, Conversation};
use crate::target::Setup;

/// One thing that is proven of an edge, a service or a key set.
#[derive(Clone)]
pub struct Case {
    /// Stable slug made for searching, such as `refusal.401.bad-signature`.
    pub id: String,
    /// What is tested, in one line.
    pub title: String,
    /// Section of the interface.
    pub section: String,
    /// How much a mismatch weighs, unless a check says otherwise.
    pub level: Level,
    /// Who says so.
    pub basis: Basis,
    /// The public standard, where it is the basis.
    pub standard: Option<String>,
    /// Rows that it proves, at least one.
    pub rows: Vec<String>,
    /// Which of the rows' stimuli it brings about.
    pub stimuli: Vec<Stimulus>,
    /// The settings that its edge is started with.
    pub setup: Setup,
    /// It needs an edge to itself: it can hold no marker, breaks connections, or reads the log; or a mock service to
    /// itself, whose clock or keys it changes.
    pub alone: bool,
    /// What it needs besides its target.
    pub needs: Vec<Need>,
    /// About how long it takes, where that is long: such cases begin first.
    pub takes: Duration,
    /// When in the run it is due.
    pub phase: Phase,
    /// An edge that does not start with these settings is observed, not blamed.
    pub may_refuse_to_start: bool,
    /// What is done.
    pub play: Play,
}

/// What a case does.
#[derive(Clone)]
pub enum Play {
    /// One request, with what the service answers and what is expected: data, which also a pure edge can play.
    Conversation(Box<Conversation>),
    /// Several, one after the other, each with a name: for what holds for many answers.
    Each(Arc<[(String, Conversation)]>),
    /// Anything else at an edge.
    EdgeSteps(EdgeSteps),
    /// What a backend asks of a service or a key set.
    ServiceSteps(ServiceSteps),
}

/// The steps of a case that is more than one conversation.
pub type EdgeSteps = Arc<dyn for<'a> Fn(&'a mut CaseContext) -> BoxFuture<'a, ()> + Send + Sync>;

/// What a backend asks, and what it checks.
pub type ServiceSteps = Arc<dyn for<'a> Fn(&'a mut Backend) -> BoxFuture<'a, ()> + Send + Sync>;

/// What a case needs besides its target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// A mock service behind the edge.
    Service,
    /// The origin that the edge allows.
    Origin,
    /// The edge's log.
    Log,
    /// Other loopback addresses to connect from.
    LoopbackClients,
    /// An edge that is reached with TLS.
    Https,
    /// An edge that reads the mock service's reasons.
    PlainReasons,
    /// A read token that is accepted.
    ReadToken,
    /// A read token that has expired.
    ExpiredToken,
    /// A license, which opens nothing here.
    License,
    /// The verdict endpoint and a session that it has a verdict for.
    Session,
    /// Leave to take real time.
    Waits,
    /// Our mock service: it is told when sessions arrive, what time it is, and which tokens it knows.
    Mock,
}

/// When in the run a case is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Before all others: without it nothing else can be judged.
    First,
    /// Between, in any order.
    Main,
    /// After all others.
    Last,
}

impl Case {
    /// A case that proves `row`, and takes level, basis and section from it.
    pub fn of(row: &Row, id: &str, title: &str, play: Play) -> Self {
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
            alone: false,
            needs: vec![Need::Service, Need::Origin],
            takes: Duration::ZERO,
            phase: Phase::Main,
            may_refuse_to_start: false,
            play,
        }
    }

    /// Another row that it proves as well.
    pub fn also(&mut self, row: &str) -> &mut Self {
        if !self.rows.iter().any(|other| other == row) {
            self.rows.push(row.into());
        }
        self
    }

    /// A stimulus that it brings about.
    pub fn stimulus(&mut self, stimulus: Stimulus) -> &mut Self {
        self.stimuli.push(stimulus);
        self
    }

    /// Runs on an edge with these settings.
    pub fn setup(&mut self, setup: Setup) -> &mut Self {
        self.setup = setup;
        self
    }

    /// Needs an edge or a mock service to itself.
    pub fn alone(&mut self) -> &mut Self {
        self.alone = true;
        self
    }

    /// Needs exactly these.
    pub fn needs(&mut self, needs: &[Need]) -> &mut Self {
        self.needs = needs.to_vec();
        self
    }

    /// Weighs this much in place of the row's level: where a row's case goes beyond what the row states.
    pub fn level(&mut self, level: Level) -> &mut Self {
        self.level = level;
        self
    }

    /// Takes about this long.
    pub fn takes(&mut self, time: Duration) -> &mut Self {
        self.takes = time;
        self
    }

    /// Is due then.
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

fn level(level: edgeproof_fixtures::spec::Level) -> Level {
    match level {
        edgeproof_fixtures::spec::Level::Must => Level::Must,
        edgeproof_fixtures::spec::Level::Should => Level::Should,
        edgeproof_fixtures::spec::Level::Open => Level::Open,
    }
}

fn basis(basis: edgeproof_fixtures::spec::Basis) -> Basis {
    match basis {
        edgeproof_fixtures::spec::Basis::Interface => Basis::Interface,
        edgeproof_fixtures::spec::Basis::Standard => Basis::Standard,
        edgeproof_fixtures::spec::Basis::Security => Basis::Security,
    }
}
