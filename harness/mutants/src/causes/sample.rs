use edgeproof_fixtures::spec::PartName;
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use rand::seq::{IndexedRandom, SliceRandom};

use crate::mutant::Mutant;

/// Seed of the samples.
const SEED: u64 = 12;

/// Pairs of mutants in one part with different causes.
pub(super) fn pairs<'m>(mutants: &[&'m Mutant], count: usize) -> Vec<[&'m Mutant; 2]> {
    let mut random = ChaCha8Rng::seed_from_u64(SEED);
    let mut pairs = Vec::new();
    while pairs.len() < count {
        let [Some(one), Some(other)] = [mutants.choose(&mut random), mutants.choose(&mut random)] else {
            break;
        };
        if one.cause != other.cause && part(one) == part(other) {
            pairs.push([*one, *other]);
        }
    }
    pairs
}

/// Some mutants of the edge.
pub(super) fn of_edge<'m>(mutants: &[&'m Mutant], count: usize) -> Vec<&'m Mutant> {
    let mut all: Vec<_> = mutants.iter().copied().filter(|mutant| part(mutant) == PartName::Edge).collect();
    all.shuffle(&mut ChaCha8Rng::seed_from_u64(SEED));
    all.truncate(count);
    all
}

/// The part with the mutation. Service and key set are one program.
pub(super) fn part(mutant: &Mutant) -> PartName {
    if mutant.mutation.affects(PartName::Edge) { PartName::Edge } else { PartName::Service }
}
