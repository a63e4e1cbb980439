use std::sync::Arc;

use fixtures::spec::{Level, Spec};

use super::behaviour::Behaviour;
use super::derive::AtRow;
use super::quirks;
use crate::mock::edge::Quirk;
use crate::target::Twist;

/// An edge that does one thing other than it should.
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
    /// At one row of the tables.
    AtRow(Arc<AtRow>),
    /// By a behaviour of its own.
    Behaviour(Behaviour),
}

impl Deviation {
    /// A deviation that was derived from a row.
    pub fn at_row(spec: &Spec, at: AtRow) -> Self {
        Self {
            id: format!("{}/{}", at.row.id, at.kind.slug()),
            title: format!("where {} belongs: {}", at.row.id, at.kind.words()),
            level: at.level.unwrap_or_else(|| level(spec, &at.breaks)),
            row: at.breaks.clone(),
            how: How::AtRow(Arc::new(at)),
        }
    }

    /// A behaviour.
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

    /// What puts it into the edges of one run.
    pub fn twist(&self) -> Twist {
        match &self.how {
            How::AtRow(at) => {
                let at = Arc::clone(at);
                Twist::new(move |options| options.quirk = Arc::clone(&at) as Arc<dyn Quirk>)
            }
            How::Behaviour(behaviour) => quirks::twist(*behaviour),
        }
    }
}

fn level(spec: &Spec, row: &str) -> Level {
    spec.row(row).map_or(Level::Must, |row| row.level)
}
