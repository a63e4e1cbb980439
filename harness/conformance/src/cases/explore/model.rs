use std::time::Duration;

use edgeproof_fixtures::spec::{Dimension, Family, Level, Side, Value};
use edgeproof_reports::CaseLevel;

use super::change;
use super::earlier::EarlierReplies;
use super::exchange::{Exchange, ExchangeCost};
use super::family::{self, ExploredRow};
use super::pairs::allowed_pairs;
use super::trial::{ChangeIndex, Trial};
use crate::cases::Catalog;
use crate::cases::case::level;

/// What exploration combines: rows and dimensions.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// The rows of all families, the plainest of a family first.
    pub rows: Vec<ExploredRow>,
    /// The dimensions of the model of variation.
    pub dimensions: Vec<Dimension>,
    /// Replies to requests before an exchange.
    pub earlier: EarlierReplies,
    /// What each value adds to an exchange, by dimension. A run asks for thousands of trials before it plays one.
    costs: Vec<Vec<ExchangeCost>>,
}

impl Model {
    /// The model of a catalog's interface.
    pub(crate) fn new(cases: &Catalog<'_>) -> Self {
        let dimensions = cases.spec.variation().dimensions.clone();
        let (rows, earlier) = (family::rows(cases), EarlierReplies::new(cases));
        let mut model = Self { rows, dimensions, earlier, costs: Vec::new() };
        model.costs = model.costs_of_values();
        model
    }

    /// A value of a dimension.
    pub fn value(&self, change: ChangeIndex) -> &Value {
        &self.dimensions[change.dimension].values[change.value]
    }

    /// Each value of a dimension alone, on the plainest row of a family.
    pub fn singles(&self, dimension: usize, family: Family) -> Vec<Trial> {
        if !applies(&self.dimensions[dimension], family) {
            return Vec::new();
        }
        let Some(row) = self.plainest(family) else { return Vec::new() };
        // The first family shows how an edge treats an open value.
        let observes = self.dimensions[dimension].families.first() == Some(&family);
        let values = self.dimensions[dimension].values.iter().enumerate();
        let played = values.filter(|(_, value)| observes || value.level != Level::Open);
        played.map(|(value, _)| Trial { row, changes: vec![ChangeIndex { dimension, value }] }).collect()
    }

    /// Trials that contain each pair of values that can be combined, and each value with each row of the family.
    pub fn pairs(&self, family: Family) -> Vec<Trial> {
        let rows: Vec<usize> = self.rows_of(family).collect();
        // For each dimension the values that can be combined. Position 0 of a choice is the plain value.
        let choices: Vec<Vec<ChangeIndex>> = (0..self.dimensions.len())
            .filter(|dimension| applies(&self.dimensions[*dimension], family))
            .map(|dimension| self.combinable(dimension))
            .collect();
        let sizes: Vec<usize> =
            std::iter::once(rows.len()).chain(choices.iter().map(|values| values.len() + 1)).collect();
        let value = |(choice, position): (usize, usize)| {
            let position = position.checked_sub(1)?;
            Some(self.value(*choices.get(choice.checked_sub(1)?)?.get(position)?))
        };
        let covered = allowed_pairs(&sizes, |one, other| match (value(one), value(other)) {
            (Some(one), Some(other)) => change::combine(&one.change, &other.change),
            _ => true,
        });
        let trial = |positions: Vec<usize>| {
            let chosen = positions[1..].iter().zip(&choices);
            let changes =
                chosen.filter_map(|(position, values)| values.get(position.checked_sub(1)?).copied());
            Trial { row: rows[positions[0]], changes: changes.collect() }
        };
        covered.into_iter().map(trial).filter(|trial| !trial.changes.is_empty()).collect()
    }

    /// The exchange of a trial.
    pub fn exchange(&self, trial: &Trial) -> Exchange {
        let conversation = self.rows[trial.row].conversation.clone();
        let mut exchange = Exchange {
            conversation,
            before: Vec::new(),
            pipelined: false,
            events: Vec::new(),
            beside: Vec::new(),
            level: self.level(trial),
        };
        for index in &trial.changes {
            let value = self.value(*index);
            change::apply(&value.change, &mut exchange);
        }
        exchange
    }

    /// What a trial costs: an exchange, and what its values add.
    pub(super) fn cost(&self, trial: &Trial) -> ExchangeCost {
        let values = trial.changes.iter().map(|index| &self.costs[index.dimension][index.value]);
        let plain = ExchangeCost { requests: 1, pause: Duration::ZERO };
        values.fold(plain, |all, one| ExchangeCost {
            requests: all.requests + one.requests - 1,
            pause: all.pause.max(one.pause),
        })
    }

    fn costs_of_values(&self) -> Vec<Vec<ExchangeCost>> {
        // Without a row there is no trial.
        if self.rows.is_empty() {
            return Vec::new();
        }
        let cost = |dimension, value| {
            let trial = Trial { row: 0, changes: vec![ChangeIndex { dimension, value }] };
            ExchangeCost::of(&self.exchange(&trial))
        };
        let values = self.dimensions.iter().map(|dimension| dimension.values.len()).enumerate();
        values.map(|(dimension, count)| (0..count).map(|value| cost(dimension, value)).collect()).collect()
    }

    /// The level of a trial: that of its weakest value.
    pub(super) fn level(&self, trial: &Trial) -> CaseLevel {
        let levels = trial.changes.iter().map(|index| level(self.value(*index).level));
        levels.max().unwrap_or(CaseLevel::Must)
    }

    /// The values of a trial and its row, such as `framing=chunked-1, row=relay.401.revoked`.
    pub fn name(&self, trial: &Trial) -> String {
        let row = format!("row={}", self.rows[trial.row].id);
        self.values(trial).into_iter().chain([row]).collect::<Vec<_>>().join(", ")
    }

    /// The values of a trial, such as `framing=chunked-1`.
    pub(super) fn values(&self, trial: &Trial) -> Vec<String> {
        trial.changes.iter().map(|change| self.value_name(*change)).collect()
    }

    /// The name of a value, such as `framing=chunked-1`.
    pub(super) fn value_name(&self, change: ChangeIndex) -> String {
        format!("{}={}", self.dimensions[change.dimension].id, self.value(change).id)
    }

    /// The values of a trial and its family, as the faults of an embedded edge get them.
    pub(super) fn announced(&self, trial: &Trial) -> Vec<String> {
        let mut values = self.values(trial);
        values.push(format!("family={}", self.rows[trial.row].family));
        values
    }

    /// The observed point of a trial, such as `vary.target.slash`.
    pub(super) fn point(&self, trial: &Trial) -> String {
        let values = self.values(trial).into_iter().map(|name| format!(".{}", name.replacen('=', ".", 1)));
        format!("vary{}", values.collect::<String>())
    }

    /// The plainest row of a family.
    pub fn plainest(&self, family: Family) -> Option<usize> {
        self.rows_of(family).next()
    }

    fn rows_of(&self, family: Family) -> impl Iterator<Item = usize> {
        (0..self.rows.len()).filter(move |row| self.rows[*row].family == family)
    }

    fn combinable(&self, dimension: usize) -> Vec<ChangeIndex> {
        let values = self.dimensions[dimension].values.iter().enumerate();
        let combined = values.filter(|(_, value)| !value.alone && value.level != Level::Open);
        combined.map(|(value, _)| ChangeIndex { dimension, value }).collect()
    }
}

/// Whether a dimension's values change anything in a family.
pub(super) fn applies(dimension: &Dimension, family: Family) -> bool {
    let replies = dimension.side != Side::Reply || family != Family::Unreachable;
    replies && dimension.families.contains(&family)
}
