//! The causes that explain the failures of a run.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::candidate::{Candidate, Open, Seen, Weights};
use super::matching::Explanation;
use super::symptom::Symptoms;

/// The causes chosen so far, and what they leave open.
pub(super) struct Cover<'f, 'c> {
    seen: &'c Seen<'f>,
    candidates: &'c [Candidate<'f>],
    /// The symptoms that no chosen cause explains.
    pub(super) open: Open<'f>,
    chosen: Vec<Chosen<'f>>,
}

/// A chosen cause.
struct Chosen<'f> {
    cause: &'f str,
    /// Weights of the symptoms that it explains.
    cases: BTreeMap<&'f str, Weights>,
    passed: Vec<&'f str>,
}

impl<'f, 'c> Cover<'f, 'c> {
    pub(super) fn new(seen: &'c Seen<'f>, candidates: &'c [Candidate<'f>]) -> Self {
        let open = seen.failures.iter().map(|(case, symptoms)| (*case, vec![true; symptoms.len()])).collect();
        Self { seen, candidates, open, chosen: Vec::new() }
    }

    pub(super) fn choose(&mut self, best: &Candidate<'f>) {
        let cause = best.fingerprint.cause.as_str();
        let index = self.chosen.iter().position(|chosen| chosen.cause == cause).unwrap_or_else(|| {
            self.chosen.push(Chosen { cause, cases: BTreeMap::new(), passed: best.passed.clone() });
            self.chosen.len() - 1
        });
        for (case, weights) in &best.explained {
            let Some(open) = self.open.get_mut(case) else { continue };
            let taken: Weights = weights
                .iter()
                .zip(open.iter())
                .map(|(weight, open)| if *open { *weight } else { 0.0 })
                .collect();
            if taken.iter().all(|weight| *weight == 0.0) {
                continue;
            }
            for (open, weight) in open.iter_mut().zip(&taken) {
                *open &= *weight == 0.0;
            }
            let mine = self.chosen[index].cases.entry(case).or_insert_with(|| vec![0.0; taken.len()]);
            mine.iter_mut().zip(&taken).for_each(|(mine, weight)| *mine = mine.max(*weight));
        }
    }

    /// Share of the failures that the chosen causes explain, each by the weights of its symptoms. 1: none is left.
    pub(super) fn explained(&self) -> f64 {
        let weight = |case: &str, at: usize| {
            let of_causes = self.chosen.iter().filter_map(|chosen| chosen.cases.get(case)?.get(at).copied());
            of_causes.fold(0.0, f64::max)
        };
        let share = |(case, symptoms): (&&str, &&Symptoms)| {
            let sum: f64 = (0..symptoms.len()).map(|at| weight(case, at)).sum();
            sum / symptoms.len().max(1) as f64
        };
        let failures = &self.seen.failures;
        failures.iter().map(share).sum::<f64>() / failures.len().max(1) as f64
    }

    /// Drops a cause if the others explain all its symptoms as well, the smallest first.
    pub(super) fn drop_needless(&mut self) {
        self.chosen.sort_by_key(|chosen| Reverse(chosen.cases.len()));
        for index in (1..self.chosen.len()).rev() {
            let moved: Option<Vec<(usize, &'f str, Weights)>> = self.chosen[index]
                .cases
                .iter()
                .map(|(case, weights)| self.other_that_explains(index, case, weights))
                .collect();
            let Some(moved) = moved else { continue };
            for (to, case, weights) in moved {
                self.chosen[to].cases.insert(case, weights);
            }
            self.chosen.remove(index);
        }
    }

    /// The other chosen cause whose mutants explain these symptoms best, if one explains all of them.
    fn other_that_explains(
        &self,
        index: usize,
        case: &'f str,
        symptoms: &Weights,
    ) -> Option<(usize, &'f str, Weights)> {
        let others = (0..self.chosen.len()).filter(|other| *other != index);
        let all = others.map(|other| (other, case, self.weights(self.chosen[other].cause, case)));
        let explains = |weights: &Weights| {
            weights.iter().zip(symptoms).all(|(weight, symptom)| *symptom == 0.0 || *weight > 0.0)
        };
        let sum = |weights: &Weights| weights.iter().sum::<f64>();
        all.filter(|(_, _, weights)| !weights.is_empty() && explains(weights))
            .max_by(|one, other| sum(&one.2).total_cmp(&sum(&other.2)))
    }

    /// How well any mutant of a cause explains the symptoms of a failure.
    fn weights(&self, cause: &str, case: &str) -> Weights {
        let of_cause = self.candidates.iter().filter(|one| one.fingerprint.cause == cause);
        let all = of_cause.filter_map(|one| one.explained.get(case));
        all.fold(Vec::new(), |best: Weights, weights| {
            let best = if best.is_empty() { vec![0.0; weights.len()] } else { best };
            best.iter().zip(weights).map(|(one, other)| one.max(*other)).collect()
        })
    }

    /// Gives each failure that nothing explains to the cause whose failures in this run look most like it.
    pub(super) fn adopt(&mut self) {
        let is_explained = |case: &str| self.chosen.iter().any(|chosen| chosen.cases.contains_key(case));
        let open: Vec<&'f str> =
            self.seen.failures.keys().copied().filter(|case| !is_explained(case)).collect();
        for case in open {
            let symptoms = self.seen.failures[case];
            let resemblance = |chosen: &Chosen<'_>| {
                let explained = chosen.cases.iter().map(|(other, weights)| {
                    let of_cause = self.seen.failures[*other].iter().zip(weights);
                    let of_cause = of_cause.filter(|(_, weight)| **weight > 0.0);
                    of_cause.filter(|(symptom, _)| symptoms.contains(*symptom)).count()
                });
                explained.max().unwrap_or_default()
            };
            let scored = self.chosen.iter().map(resemblance).enumerate();
            if let Some((index, 1..)) = scored.max_by_key(|(_, common)| *common) {
                self.chosen[index].cases.insert(case, vec![0.0; symptoms.len()]);
            }
        }
    }

    /// The cause that explains most first, and the best example of each first.
    pub(super) fn explanations(mut self) -> Vec<Explanation> {
        self.chosen.sort_by_key(|chosen| Reverse(chosen.cases.len()));
        let explanation = |chosen: &Chosen<'_>| {
            let share = |weights: &Weights| weights.iter().sum::<f64>() / weights.len().max(1) as f64;
            let mut cases: Vec<_> =
                chosen.cases.iter().map(|(case, weights)| (*case, share(weights))).collect();
            cases.sort_by(|(_, one), (_, other)| other.total_cmp(one));
            Explanation {
                cause: chosen.cause.to_owned(),
                cases: cases.into_iter().map(|(case, _)| case.to_owned()).collect(),
                passed: chosen.passed.iter().map(|case| (*case).to_owned()).collect(),
            }
        };
        self.chosen.iter().map(explanation).collect()
    }
}
