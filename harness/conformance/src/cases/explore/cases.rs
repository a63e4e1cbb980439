use std::sync::Arc;
use std::time::Duration;

use edgeproof_fixtures::spec::{Change, Dimension, Family, Level, Side};
use edgeproof_reports::CaseLevel;

use super::exchange::ExchangeCost;
use super::exploration::Exploration;
use super::family::describe;
use super::model::Model;
use super::trial::{ChangeIndex, Trial};
use super::twice;
use crate::cases::{Case, CaseList, Catalog, Edge, EdgeNeed};

/// Time that an exchange may take on a busy machine, on average.
const EXCHANGE_TIME: Duration = Duration::from_millis(80);

/// Numbers of exchanges at the same time in the cases about concurrency.
const LEVELS: [usize; 3] = [2, 8, 32];
/// Number of exchanges at the same time in other cases. Several cases run at the same time, and a correct edge may be slow.
const CONCURRENT: usize = 4;

/// Adds the cases: for each dimension and family one with single values, for each family one with combinations, and some
/// about concurrency and repetition.
pub(crate) fn add(cases: &mut CaseList<'_, Edge>) {
    let model = Arc::new(Model::new(cases));
    for (position, dimension) in model.dimensions.iter().enumerate() {
        for family in Family::ALL {
            // Events and broken connections may concern exchanges at the same time.
            let alone = dimension.side == Side::History || *family == Family::Unreachable;
            let concurrent = if alone { 1 } else { CONCURRENT };
            let id = format!("vary.{}.{family}", dimension.id);
            let title = case_title(dimension, *family, cases);
            let exploration = Exploration { trials: model.singles(position, *family), concurrent };
            add_case(cases, &model, &dimension.row, &id, &title, exploration);
        }
    }
    for family in Family::ALL {
        let concurrent = if *family == Family::Unreachable { 1 } else { CONCURRENT };
        let title = format!("{}, also with two variations at once", describe(*family, cases));
        let exploration = Exploration { trials: model.pairs(*family), concurrent };
        add_case(cases, &model, "statement.isolation", &format!("vary.pairs.{family}"), &title, exploration);
    }
    for level in LEVELS {
        let title = format!("{level} exchanges at the same time each get their own answer");
        let exploration = Exploration { trials: mixed(&model, 3 * level), concurrent: level };
        add_case(
            cases,
            &model,
            "statement.isolation",
            &format!("vary.concurrency.{level}"),
            &title,
            exploration,
        );
    }
    twice::add(cases);
}

/// What the edge has to do, or what is observed.
fn case_title(dimension: &Dimension, family: Family, cases: &Catalog<'_>) -> String {
    let is_open = dimension.values.iter().all(|value| value.level == Level::Open);
    let required = if is_open { "the answer to a collection".to_owned() } else { describe(family, cases) };
    format!("{required}, whatever the {}", dimension.title)
}

/// Exchanges with all outcomes in turn, some of them delayed, so that answers overtake each other.
fn mixed(model: &Model, count: usize) -> Vec<Trial> {
    let is_delay = |index: &ChangeIndex| matches!(model.value(*index).change, Change::DelayMs(..100));
    let all = model.dimensions.iter().enumerate().flat_map(|(dimension, all)| {
        (0..all.values.len()).map(move |value| ChangeIndex { dimension, value })
    });
    let delays: Vec<ChangeIndex> = all.filter(is_delay).collect();
    let rows = (0..model.rows.len()).filter(|row| model.rows[*row].family != Family::Unreachable);
    let trial = |(number, row): (usize, usize)| {
        let changes = if number % 3 == 0 { delays.clone() } else { Vec::new() };
        Trial { row, changes }
    };
    rows.cycle().take(count).enumerate().map(trial).collect()
}

fn add_case(
    cases: &mut CaseList<'_, Edge>,
    model: &Arc<Model>,
    row: &str,
    id: &str,
    title: &str,
    exploration: Exploration,
) {
    if exploration.trials.is_empty() {
        return;
    }
    let open = exploration.trials.iter().all(|trial| model.level(trial) == CaseLevel::Open);
    let observed = exploration.trials.iter().filter(|trial| model.level(trial) == CaseLevel::Open);
    let points: Vec<String> = observed.map(|trial| model.point(trial)).collect();
    let cost = exploration.trials.iter().map(|trial| model.cost(trial));
    let cost = cost.fold(ExchangeCost::default(), |all, one| ExchangeCost {
        requests: all.requests + one.requests,
        pause: all.pause.max(one.pause),
    });
    let refuses = exploration.trials.iter().any(|trial| model.rows[trial.row].family == Family::Refusals);
    let (alone, model, exploration) = (exploration.concurrent == 1, Arc::clone(model), Arc::new(exploration));
    let case: &mut Case<Edge> = cases
        .case(row, id, title)
        .steps(steps!(with(model, exploration), async |context| { exploration.run(context, &model).await }));
    case.observes(points);
    case.takes(EXCHANGE_TIME * u32::try_from(cost.requests).unwrap_or(u32::MAX) + cost.pause);
    if open {
        case.level(CaseLevel::Open);
    }
    if alone {
        case.exclusive();
    }
    if refuses {
        case.requires(&[EdgeNeed::Service, EdgeNeed::Origin, EdgeNeed::PlainReasons]);
    }
}

#[cfg(test)]
mod tests {
    use edgeproof_fixtures::spec::Spec;
    use edgeproof_mock::ReplyShape;

    use super::*;

    #[test]
    fn cost_of_a_trial_is_that_of_its_exchange() {
        let shape = ReplyShape::from_profile(Spec::current().profile());
        let model = Model::new(&Catalog::new(Spec::current(), &shape, true));
        let trials = Family::ALL.iter().flat_map(|family| model.pairs(*family));
        for trial in trials {
            let whole = ExchangeCost::of(&model.exchange(&trial));
            assert_eq!(model.cost(&trial), whole, "{}", model.name(&trial));
        }
    }
}
