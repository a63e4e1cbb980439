//! Shrinking ends at the fewest steps with the plainest values.

use edgeproof::cases::explore::sequence::{
    ActionModel, ConnectionChoice, EdgeAction, EdgeModel, Sequence, ServiceAction, ServiceModel,
    SessionChoice, Step, VerdictStep, generate,
};
use edgeproof_fixtures::spec::Event;
use proptest::prelude::*;

use super::fake_target::{edge_model, fails, is_refusal, shrink};

/// After an aborted body, a refusal on a connection that was used before fails.
fn after_abort(model: &EdgeModel, steps: &[Step<EdgeAction>]) -> bool {
    let Some((last, earlier)) = steps.split_last() else { return false };
    let kept = matches!(last.connection, ConnectionChoice::Kept(_));
    kept && is_refusal(model, last)
        && earlier.iter().any(|step| step.action == EdgeAction::Event(Event::ClientLeftInBody))
        && earlier.iter().any(|step| step.connection == last.connection)
}

/// The third refusal fails.
fn third_refusal(model: &EdgeModel, steps: &[Step<EdgeAction>]) -> bool {
    steps.last().is_some_and(|last| is_refusal(model, last))
        && steps.iter().filter(|step| is_refusal(model, step)).count() == 3
}

fn shrunk(
    seed: u64,
    broken: fn(&EdgeModel, &[Step<EdgeAction>]) -> bool,
) -> (EdgeModel, Sequence<EdgeAction>) {
    let model = edge_model();
    let failing = (0..10_000)
        .map(|number| generate(&model, seed, number))
        .find(|sequence| fails(&model, sequence, broken));
    let (smallest, candidates) = shrink(&model, failing.unwrap(), |sequence| fails(&model, sequence, broken));
    assert!(candidates < 400, "{candidates}");
    (model, smallest)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn abort_before_a_refusal_shrinks_to_three_steps(seed: u64) {
        let (model, smallest) = shrunk(seed, after_abort);
        prop_assert_eq!(smallest.steps.len(), 3, "{:?}", smallest);
        // No step can be left out, and each is as plain as it can be.
        for index in 0..3 {
            prop_assert!(!fails(&model, &smallest.without(&(index..index + 1)), after_abort));
        }
        let last = &smallest.steps[2];
        prop_assert_eq!(last.connection, ConnectionChoice::Kept(1));
        let EdgeAction::Exchange(trial) = &last.action else { panic!("{last:?}") };
        prop_assert_eq!((&trial.changes[..], Some(trial.row)),
            (&[][..], model.variation().plainest(edgeproof_fixtures::spec::Family::Refusals)));
        for step in &smallest.steps {
            prop_assert!(!step.together && step.pause_ms == 0, "{step:?}");
        }
    }

    #[test]
    fn count_of_refusals_shrinks_to_these_refusals(seed: u64) {
        let (model, smallest) = shrunk(seed, third_refusal);
        prop_assert_eq!(smallest.steps.len(), 3);
        for step in &smallest.steps {
            let same = smallest.steps[0].action == step.action;
            prop_assert!(same && model.plainer(&step.action).iter().all(|plainer| {
                !is_refusal(&model, &Step::plain(plainer.clone()))
            }), "{step:?}");
            prop_assert_eq!(step.connection, ConnectionChoice::Fresh);
        }
    }

    #[test]
    fn service_request_shrinks_to_the_part_that_matters(seed: u64) {
        let model = ServiceModel::all();
        let broken = |sequence: &Sequence<ServiceAction>| sequence.steps.iter().any(|step| {
            matches!(&step.action, ServiceAction::Verdict(step) if step.header.is_some_and(|(name, _)| name == "Range"))
        });
        let failing = (0..10_000).map(|number| generate(&model, seed, number)).find(|sequence| broken(sequence));
        let (smallest, _) = shrink(&model, failing.unwrap(), broken);
        let [step] = &smallest.steps[..] else { panic!("{smallest:?}") };
        let ServiceAction::Verdict(verdict) = &step.action else { panic!("{step:?}") };
        prop_assert_eq!(verdict, &VerdictStep { header: verdict.header, ..VerdictStep::PLAIN });
        prop_assert_eq!(verdict.session, SessionChoice::Unknown);
    }
}

/// Shrinking ends, whatever fails: each candidate is smaller or plainer.
#[test]
fn sequence_that_always_fails_shrinks_to_the_plainest_step() {
    let model = edge_model();
    for number in 0..40 {
        let (smallest, candidates) = shrink(&model, generate(&model, 3, number), |_| true);
        assert_eq!(smallest.steps, [Step::plain(smallest.steps[0].action.clone())]);
        assert!(model.plainer(&smallest.steps[0].action).is_empty(), "{smallest:?}");
        assert!(candidates < 40, "{candidates}");
    }
}
