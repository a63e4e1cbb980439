use std::sync::Arc;
use std::time::Duration;

use edgeproof_fixtures::spec::{Family, Side};
use strum::VariantArray;

use super::family::describe;
use super::minimize::{Minimal, minimize};
use super::model::Model;
use super::play::Player;
use super::trial::Trial;
use crate::cases::{CaseContext, Catalog, Prerequisite, summary};
use crate::judge::Check;
use edgeproof_reports::CaseLevel;

/// Different causes that a case reports. It counts the others.
const MAX_CAUSES: usize = 6;
/// Longest wait for an answer.
const ANSWER_LIMIT: Duration = Duration::from_secs(10);
/// Longest wait for an answer while a failure is reduced.
const REPLAY_LIMIT: Duration = Duration::from_millis(1500);

/// Time that an exchange may take on a busy machine, on average.
const EXCHANGE_TIME: Duration = Duration::from_millis(40);

/// Adds the cases: for each dimension and family one with single values, and for each family one with combinations.
pub(crate) fn add(cases: &mut Catalog<'_>) {
    let model = Arc::new(Model::new(cases));
    for (position, dimension) in model.dimensions.iter().enumerate() {
        for family in Family::VARIANTS {
            let id = format!("vary.{}.{}", dimension.id, family);
            let title = format!("each {}, with {}", dimension.title, describe(*family));
            let trials = model.singles(position, *family);
            let exclusive = dimension.side == Side::History;
            add_case(cases, &model, &dimension.row, &id, &title, *family, exclusive, trials);
        }
    }
    for family in Family::VARIANTS {
        let id = format!("vary.pairs.{}", family);
        let title = format!("pairs of values of all dimensions, with {}", describe(*family));
        add_case(cases, &model, "statement.isolation", &id, &title, *family, false, model.pairs(*family));
    }
}

fn add_case(
    cases: &mut Catalog<'_>,
    model: &Arc<Model>,
    row: &str,
    id: &str,
    title: &str,
    family: Family,
    exclusive: bool,
    trials: Vec<Trial>,
) {
    if trials.is_empty() {
        return;
    }
    // Broken connections to the service may concern other exchanges.
    let exclusive = exclusive || family == Family::Unreachable;
    let model = Arc::clone(model);
    let open = trials.iter().all(|trial| model.exchange(trial).level == CaseLevel::Open);
    let count = trials.len();
    let trials: Arc<[Trial]> = trials.into();
    let case = cases.edge_steps(row, id, title, move |context| {
        let (model, trials) = (Arc::clone(&model), Arc::clone(&trials));
        Box::pin(async move { explore(context, &model, &trials, exclusive).await })
    });
    case.takes(EXCHANGE_TIME * u32::try_from(count).unwrap_or(u32::MAX));
    if open {
        case.level(CaseLevel::Open);
    }
    if exclusive {
        case.exclusive();
    }
    if family == Family::Refusals {
        case.requires(&[Prerequisite::Service, Prerequisite::Origin, Prerequisite::PlainReasons]);
    }
}

/// Plays trials and reports each failure with the fewest values that still fail.
async fn explore(context: &mut CaseContext, model: &Model, trials: &[Trial], exclusive: bool) {
    let played = Player::new(model, context, exclusive).within(ANSWER_LIMIT).play_all(trials).await;
    let count = played.len();
    let mut causes: Vec<(Minimal, usize)> = Vec::new();
    let (mut failed, mut unexplained) = (0, 0);
    let mut observed = Vec::new();
    for (number, played) in played {
        let trial = &trials[number];
        if played.level == CaseLevel::Open {
            observed.push((model.point(trial), summary::answer(&played.marker, &played.sent.reply)));
        }
        if !played.failed() {
            continue;
        }
        failed += 1;
        let known = causes.iter_mut().find(|(known, _)| trial.includes(&known.trial, known.any_row));
        if let Some((_, exchanges)) = known {
            *exchanges += 1;
        } else if causes.len() < MAX_CAUSES {
            let player = Player::new(model, context, exclusive).within(REPLAY_LIMIT);
            let minimal = minimize(model, &player, trial, played).await;
            causes.push((minimal, 1));
        } else {
            unexplained += 1;
        }
    }
    for (point, observed) in observed {
        context.observe(&point, observed);
    }
    for (minimal, exchanges) in causes {
        if !trials.contains(&minimal.trial) && minimal.is_single_value() {
            let name = model.name(&minimal.trial);
            let seen =
                format!("{exchanges} exchanges fail because of {name}; the case of this dimension judges it");
            context.check(Check::new("exchanges", "as expected", seen, false).at(CaseLevel::Open));
            continue;
        }
        report(context, model, minimal, exchanges);
    }
    let other = if unexplained > 0 { format!(", {unexplained} of them not reduced") } else { String::new() };
    let expected = format!("{} exchanges as expected", trials.len());
    let actual =
        format!("{} as expected, {failed} not{other}, {} not played", count - failed, trials.len() - count);
    let ok = failed == 0 && count == trials.len();
    context.check(if ok {
        Check::new("exchanges", &expected, &expected, true)
    } else {
        // The failed exchanges have checks of their own.
        Check::new("exchanges", expected, actual, false).at(if count == trials.len() {
            CaseLevel::Open
        } else {
            CaseLevel::Must
        })
    });
}

/// Adds the failed checks of a minimal trial, each with its values.
fn report(context: &mut CaseContext, model: &Model, minimal: Minimal, exchanges: usize) {
    let Minimal { trial, played, any_row, repeats } = minimal;
    let name = model.name(&trial);
    let scope = match (trial.changes.as_slice(), repeats) {
        (_, false) => "these values failed once and passed when played again: the failure depends on what happened before"
            .to_owned(),
        ([], true) => "the exchange fails without any variation".to_owned(),
        ([_], true) if any_row => "this value alone suffices, with any row".to_owned(),
        ([_], true) => "this value alone suffices, with this row".to_owned(),
        ([..], true) => "these values together suffice; each alone passes".to_owned(),
    };
    let hint = format!("{scope}; it explains {exchanges} failed exchanges of this case");
    context.record(&played.draft, played.sent);
    for check in played.checks.into_iter().filter(|check| !check.ok && check.level != CaseLevel::Open) {
        let hint = check.hint.as_ref().map_or(hint.clone(), |own| format!("{own}; {hint}"));
        context.check(check.of(&name).hint(&hint));
    }
}
