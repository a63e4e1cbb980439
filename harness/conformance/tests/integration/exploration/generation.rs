//! Generated sequences are the same for a seed, varied, and allowed by the model.

use std::collections::BTreeSet;
use std::path::Path;

use edgeproof::cases::explore::sequence::{
    ActionModel, ConnectionChoice, EdgeAction, EdgeModel, ServiceModel, Step, generate, parse, render,
};
use edgeproof_fixtures::spec::{Event, Family};
use proptest::prelude::*;

use super::fake_target::{edge_model, family};

fn is_the_same_for_a_seed<M: ActionModel>(model: &M) {
    for number in 0..50 {
        assert_eq!(generate(model, 7, number), generate(model, 7, number));
    }
    let texts: BTreeSet<String> =
        (0..50).map(|number| render(model, &generate(model, 7, number)).1).collect();
    let others: BTreeSet<String> =
        (0..50).map(|number| render(model, &generate(model, 8, number)).1).collect();
    assert!(texts.len() > 45 && others.len() > 45, "{} and {}", texts.len(), others.len());
    assert!(texts.intersection(&others).count() < 5);
}

#[test]
fn seed_determines_the_sequences_of_an_edge() {
    is_the_same_for_a_seed(&edge_model());
}

#[test]
fn seed_determines_the_sequences_of_a_service() {
    is_the_same_for_a_seed(&ServiceModel::all());
}

/// Parsing checks each row, value, combination and connection.
fn is_allowed_and_survives_a_file<M: ActionModel>(model: &M, seed: u64, number: u32) {
    let sequence = generate(model, seed, number);
    assert!((1..=12).contains(&sequence.steps.len()));
    assert_eq!(sequence.wrongly_together(|action| model.is_alone(action)), [] as [usize; 0]);
    // A file is refused if it cannot fail.
    if !sequence.steps.iter().any(|step| model.is_judged(&step.action)) {
        return;
    }
    let (_, text) = render(model, &sequence);
    let parsed = parse(Path::new("sequence.toml"), &text, model);
    assert_eq!(parsed.unwrap_or_else(|why| panic!("{why}\n{text}")), sequence);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn generated_sequence_is_allowed_and_survives_a_file(seed: u64) {
        let model = edge_model();
        for number in 0..30 {
            is_allowed_and_survives_a_file(&model, seed, number);
            is_allowed_and_survives_a_file(&ServiceModel::all(), seed, number);
        }
    }
}

#[test]
fn sequences_vary() {
    type Occurs = fn(&EdgeModel, &Step<EdgeAction>) -> bool;
    let kinds: [(&str, Occurs); 8] = [
        ("kept connections", |_, step| step.connection == ConnectionChoice::Kept(3)),
        ("fresh connections", |_, step| step.connection == ConnectionChoice::Fresh),
        ("concurrency", |_, step| step.together),
        ("pauses", |_, step| step.pause_ms > 0),
        ("aborts", |_, step| step.action == EdgeAction::Event(Event::ClientLeftInBody)),
        ("cases", |_, step| matches!(step.action, EdgeAction::Case(_))),
        (
            "several values",
            |_, step| matches!(&step.action, EdgeAction::Exchange(trial) if trial.changes.len() > 1),
        ),
        ("broken connections", |model, step| family(model, step) == Some(Family::Unreachable)),
    ];
    let model = edge_model();
    let sequences: Vec<_> = (0..100).map(|number| generate(&model, 1, number)).collect();
    for (kind, occurs) in kinds {
        let having =
            sequences.iter().filter(|sequence| sequence.steps.iter().any(|step| occurs(&model, step)));
        assert!(having.count() > 5, "{kind}");
    }
}
