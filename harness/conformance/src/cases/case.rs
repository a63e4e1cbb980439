use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::time::Duration;

use edgeproof_fixtures::spec::{Row, Stimulus};
use edgeproof_launch::TimeLimit;
use edgeproof_reports::{CaseBasis, CaseLevel, ReleaseVersion};
use futures_util::future::BoxFuture;

use super::{CaseContext, Exchange, Monitor, Part, PointRule};

/// One test of a part.
#[derive(Clone)]
pub struct Case<P: Part> {
    /// What plans and reports read.
    pub facts: CaseFacts,
    /// What the case requires besides its target.
    pub needs: Vec<P::Need>,
    /// What only cases of this part set.
    pub settings: P::Settings,
    /// The requests and their checks.
    pub procedure: Procedure<P>,
}

/// What a case of any part says of itself.
#[derive(Debug, Clone)]
pub struct CaseFacts {
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
    /// Version of edgeproof that added the case. None: a case of the user's own.
    pub since: Option<ReleaseVersion>,
    /// The rows' stimuli that the case triggers.
    pub stimuli: Vec<Stimulus>,
    /// The case leases its target exclusively: an edge, because it sends no marker, breaks connections or reads the log;
    /// the mock service, because it changes its clock or keys.
    pub exclusive: bool,
    /// Expected duration. Long cases start first. Zero: short.
    pub takes: Duration,
    /// When in the run the case is played.
    pub phase: Phase,
    /// Ids of the open points that the case observes.
    pub points: Vec<String>,
    /// The rule that the case judges by its observation. The other checks of its requests belong to another case.
    pub rule: Option<PointRule>,
}

/// Requests and checks of a case.
pub enum Procedure<P: Part> {
    /// One request with its expected result. It is data, so a target without sockets can play it too.
    Exchange(Box<P::Exchange>),
    /// Several named exchanges in sequence, for one behaviour that many answers share.
    Exchanges(Arc<[(String, P::Exchange)]>),
    /// Any other steps.
    Steps(Steps<P::Target>),
    /// Sends no requests. Judges all other cases.
    Monitor(P::Monitor),
}

/// Steps that are more than an exchange.
pub type Steps<T> = Arc<dyn for<'a> Fn(&'a mut CaseContext<T>) -> BoxFuture<'a, ()> + Send + Sync>;

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

impl<P: Part> Case<P> {
    /// A case that proves `row` and takes level, basis and section from it.
    pub fn of(row: &Row, id: &str, title: &str, procedure: Procedure<P>) -> Self {
        let points = match &procedure {
            Procedure::Exchange(exchange) => exchange.points(id),
            Procedure::Exchanges(all) => all.iter().flat_map(|(_, exchange)| exchange.points(id)).collect(),
            Procedure::Monitor(monitor) => monitor.point().map(str::to_owned).into_iter().collect(),
            Procedure::Steps(_) => Vec::new(),
        };
        let facts = CaseFacts {
            id: id.into(),
            title: title.into(),
            section: row.section.clone(),
            level: level(row.level),
            basis: basis(row.basis),
            standard: row.standard.clone(),
            rows: vec![row.id.clone()],
            since: None,
            stimuli: Vec::new(),
            exclusive: false,
            takes: Duration::ZERO,
            phase: Phase::Main,
            points,
            rule: None,
        };
        Self { facts, needs: P::NEEDS.to_vec(), settings: P::Settings::default(), procedure }
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

    /// Names the open points that the steps of the case observe.
    pub fn observes<S: Into<String>>(&mut self, points: impl IntoIterator<Item = S>) -> &mut Self {
        self.points.extend(points.into_iter().map(Into::into));
        self
    }

    /// The steps of the case observe the open point that has its id.
    pub fn observes_itself(&mut self) -> &mut Self {
        let id = self.id.clone();
        self.observes([id])
    }

    /// The case that judges a rule about an open point by what this case observes there. `row`: that of the rule.
    pub(super) fn judging(&self, row: &Row, rule: PointRule) -> Self {
        let id = format!("rule.{}", rule.point);
        let title = format!("{} follows the rule about {}", P::SUBJECT.name(), rule.point);
        let facts = CaseFacts {
            exclusive: self.exclusive,
            takes: self.takes,
            points: Vec::new(),
            rule: Some(rule),
            ..Self::of(row, &id, &title, self.procedure.clone()).facts
        };
        Self { facts, ..self.clone() }
    }

    /// Leases the target exclusively.
    pub fn exclusive(&mut self) -> &mut Self {
        self.exclusive = true;
        self
    }

    /// Replaces the needs.
    pub fn requires(&mut self, needs: &[P::Need]) -> &mut Self {
        self.needs = needs.to_vec();
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

    /// Plays the case. False: it, or one of its exchanges, took longer than `limit`. Their number must not fail a slow
    /// target. Each check of several exchanges names its own.
    pub async fn play(&self, context: &mut CaseContext<P::Target>, limit: &TimeLimit) -> bool {
        match &self.procedure {
            Procedure::Exchange(exchange) => limit.within(exchange.play(context)).await.is_some(),
            Procedure::Exchanges(all) => {
                for (name, exchange) in all.iter() {
                    let before = context.found.checks.len();
                    let played = limit.within(exchange.play(context)).await;
                    for check in &mut context.found.checks[before..] {
                        *check = check.clone().of(name);
                    }
                    match played {
                        None => return false,
                        Some(false) => break,
                        Some(true) => {}
                    }
                }
                true
            }
            Procedure::Steps(steps) => limit.within(steps(context)).await.is_some(),
            Procedure::Monitor(_) => true,
        }
    }
}

impl<P: Part> Clone for Procedure<P> {
    fn clone(&self) -> Self {
        match self {
            Self::Exchange(exchange) => Self::Exchange(exchange.clone()),
            Self::Exchanges(all) => Self::Exchanges(Arc::clone(all)),
            Self::Steps(steps) => Self::Steps(Arc::clone(steps)),
            Self::Monitor(monitor) => Self::Monitor(*monitor),
        }
    }
}

impl<P: Part> Deref for Case<P> {
    type Target = CaseFacts;

    fn deref(&self) -> &CaseFacts {
        &self.facts
    }
}

impl<P: Part> DerefMut for Case<P> {
    fn deref_mut(&mut self) -> &mut CaseFacts {
        &mut self.facts
    }
}

impl<P: Part> std::fmt::Debug for Case<P> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Case").field("id", &self.id).field("rows", &self.rows).finish_non_exhaustive()
    }
}

pub(crate) fn level(level: edgeproof_fixtures::spec::Level) -> CaseLevel {
    match level {
        edgeproof_fixtures::spec::Level::Must => CaseLevel::Must,
        edgeproof_fixtures::spec::Level::Should => CaseLevel::Should,
        edgeproof_fixtures::spec::Level::Open => CaseLevel::Open,
    }
}

pub(crate) fn basis(basis: edgeproof_fixtures::spec::Basis) -> CaseBasis {
    match basis {
        edgeproof_fixtures::spec::Basis::Interface => CaseBasis::Interface,
        edgeproof_fixtures::spec::Basis::Standard => CaseBasis::Standard,
        edgeproof_fixtures::spec::Basis::Security => CaseBasis::Security,
    }
}
