use edgeproof_fixtures::spec::Family;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::edge_model::{EdgeAction, EdgeModel, events};

/// Most values of a generated exchange.
const MOST_VALUES: usize = 3;

/// Actions that an edge allows.
pub(super) fn actions(model: &EdgeModel) -> BoxedStrategy<EdgeAction> {
    let events = select(events()).prop_map(EdgeAction::Event);
    prop_oneof![
        6 => exchanges(model),
        2 => (0..model.cases.len()).prop_map(EdgeAction::Case),
        3 => events,
    ]
    .boxed()
}

/// Exchanges of all families, half of them plain.
fn exchanges(model: &EdgeModel) -> BoxedStrategy<EdgeAction> {
    let rows_of = |family: Family| {
        let all = model.variation.rows.iter().enumerate();
        let rows: Vec<usize> = all.filter(|(_, row)| row.family == family).map(|(row, _)| row).collect();
        select(rows)
    };
    let row = prop_oneof![
        4 => rows_of(Family::Accepted),
        5 => rows_of(Family::Refusals),
        2 => rows_of(Family::Unknown),
        1 => rows_of(Family::Unreachable),
    ];
    let values = prop_oneof![
        1 => Just(Vec::new()),
        1 => vec(select(model.changes()), 1..=MOST_VALUES),
    ];
    // The strategy outlives this borrow of the model.
    let model = model.clone();
    (row, values).prop_map(move |(row, values)| EdgeAction::Exchange(model.compatible(row, &values))).boxed()
}
