use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use super::action_model::ActionModel;
use super::steps::{ConnectionChoice, KEPT_CONNECTIONS, Sequence, Step};

/// Most steps of a generated sequence.
const MOST_STEPS: usize = 12;

/// Sequence `number` of a seed. The same numbers give the same sequence.
pub fn generate<M: ActionModel>(model: &M, seed: u64, number: u32) -> Sequence<M::Action> {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    bytes[8..12].copy_from_slice(&number.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let tree = vec(step(model), 1..=MOST_STEPS).new_tree(&mut runner);
    let steps = tree.expect("the strategy rejects no value").current();
    model.allowed(Sequence::new(steps))
}

fn step<M: ActionModel>(model: &M) -> impl Strategy<Value = Step<M::Action>> {
    let connection = prop_oneof![
        2 => Just(ConnectionChoice::Fresh),
        5 => (1..=KEPT_CONNECTIONS).prop_map(ConnectionChoice::Kept),
    ];
    let pause = prop_oneof![6 => Just(0), 1 => 1_u16..40];
    (model.strategy(), connection, proptest::bool::weighted(0.25), pause)
        .prop_map(|(action, connection, together, pause_ms)| Step { action, connection, together, pause_ms })
}
