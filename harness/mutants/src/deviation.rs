use std::sync::Arc;

use edgeproof_fixtures::spec::{Level, Spec};

use super::behaviour::Behaviour;
use super::derive::AtRow;
use super::injection::Injection;
use super::serving::{AtServiceRow, ServiceBehaviour};
use super::sockets::Side;
use edgeproof::target::FaultInjection;

/// An edge, a service or a key set that does one thing other than it should.
#[derive(Debug, Clone)]
pub struct Deviation {
    /// Stable slug: the row and the kind, or the behaviour.
    pub id: String,
    /// What it does, in one line.
    pub title: String,
    /// The row that it breaks.
    pub row: String,
    /// How much that weighs.
    pub level: Level,
    /// How it is done.
    pub how: How,
}

/// How a deviation is done.
#[derive(Debug, Clone)]
pub enum How {
    /// By an edge, at one row of the tables.
    AtRow(Arc<AtRow>),
    /// By an edge, in a behaviour of its own.
    Behaviour(Behaviour),
    /// By a service or a key set, at one row of the tables.
    AtServiceRow(Arc<AtServiceRow>),
    /// By a service or a key set, in a behaviour of its own.
    ServiceBehaviour(ServiceBehaviour),
}

impl Deviation {
    /// A deviation of an edge that was derived from a row.
    pub fn at_row(spec: &Spec, at: AtRow) -> Self {
        Self {
            id: format!("{}/{}", at.row.id, at.kind.slug()),
            title: format!("where {} belongs: {}", at.row.id, at.kind.words()),
            level: at.level.unwrap_or_else(|| level(spec, &at.breaks)),
            row: at.breaks.clone(),
            how: How::AtRow(Arc::new(at)),
        }
    }

    /// A behaviour of an edge.
    pub fn behaviour(spec: &Spec, behaviour: Behaviour) -> Self {
        let row = behaviour.row();
        Self {
            id: format!("behaviour/{behaviour}"),
            title: behaviour.meaning().to_owned(),
            row: row.to_owned(),
            level: behaviour.level().unwrap_or_else(|| level(spec, row)),
            how: How::Behaviour(behaviour),
        }
    }

    /// A deviation of a service or a key set that was derived from a row.
    pub fn at_service_row(spec: &Spec, at: AtServiceRow) -> Self {
        Self {
            id: format!("{}/{}", at.row.id, at.fault.slug()),
            title: format!("where {} belongs: {}", at.row.id, at.fault.words()),
            level: level(spec, &at.breaks),
            row: at.breaks.clone(),
            how: How::AtServiceRow(Arc::new(at)),
        }
    }

    /// A behaviour of a service or a key set.
    pub fn service_behaviour(spec: &Spec, behaviour: ServiceBehaviour) -> Self {
        let row = behaviour.row();
        Self {
            id: format!("service/{behaviour}"),
            title: behaviour.meaning().to_owned(),
            row: row.to_owned(),
            level: behaviour.level().unwrap_or_else(|| level(spec, row)),
            how: How::ServiceBehaviour(behaviour),
        }
    }

    /// What is proven on this side meets it. A service and its key set are one.
    pub fn is_of(&self, side: Side) -> bool {
        let of_edge = matches!(self.how, How::AtRow(_) | How::Behaviour(_));
        of_edge == (side == Side::Edge)
    }

    /// Injects it into the edges or mock services of one run.
    pub fn faults(&self) -> Arc<dyn FaultInjection> {
        Arc::new(Injection::new(self.how.clone()))
    }
}

fn level(spec: &Spec, row: &str) -> Level {
    spec.row(row).map_or(Level::Must, |row| row.level)
}
