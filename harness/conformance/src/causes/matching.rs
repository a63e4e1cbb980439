//! The smallest set of causes that explains the failures of a run: a greedy cover. A failed case can have symptoms of
//! several causes. Each step takes the fingerprint that explains most of the symptoms that are still open, less a penalty
//! for each of its cases that passed.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::case_name::{area, family};
use super::fingerprint::{Failures, Fingerprints, IndexedFingerprint};
use super::symptom::Symptoms;

/// Penalty for a case that a mutant fails and the target passes. A failed case counts 1.
const PASSED: f64 = 0.4;
/// The same where another case of its family fails in the same way: the target's mistake concerns other values.
const PASSED_IN_FAMILY: f64 = 0.05;
/// The same where another case of its area does.
const PASSED_IN_AREA: f64 = 0.1;
/// Penalty for a case that a mutant fails and that did not run: of a few cases the narrow mistakes are likelier.
const NOT_RUN: f64 = 0.004;
/// Least weight at which a cause explains a symptom.
const EXPLAINED: f64 = 0.25;
/// Least score of a cause.
const LEAST_SCORE: f64 = 0.2;
/// Difference of scores that says nothing.
const ALMOST: f64 = 0.05;
/// Weight of a symptom in another case of the same family. In the same case it is 1.
const SAME_FAMILY: f64 = 0.8;
/// Weight of a symptom in another case of the same area.
const SAME_AREA: f64 = 0.6;
/// Weight of a symptom in any other case.
const ELSEWHERE: f64 = 0.4;

/// A cause and the failures that it explains.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// Id of the cause.
    pub cause: String,
    /// Failures that it explains in part or in full, the best example first.
    pub cases: Vec<String>,
    /// Cases that this cause usually fails and that passed.
    pub passed: Vec<String>,
}

impl Fingerprints {
    /// Causes of the failures, the one that explains most first. Failures that resemble no fingerprint are in none.
    /// `ran`: ids of the cases with a result.
    pub fn explain(&self, failures: &Failures, ran: &BTreeSet<&str>) -> Vec<Explanation> {
        self.explain_without(failures, ran, None)
    }

    /// The same without one mutant with exactly this cause and these failures: leave one out.
    pub fn explain_without(
        &self,
        failures: &Failures,
        ran: &BTreeSet<&str>,
        left_out: Option<(&str, &Failures)>,
    ) -> Vec<Explanation> {
        let seen = Seen::new(failures, &self.symptoms);
        let is_left_out = |one: &IndexedFingerprint| {
            left_out.is_some_and(|(cause, cases)| {
                one.mutants == 1
                    && one.cause == cause
                    && one.cases.len() == cases.len()
                    && one.cases.iter().all(|(case, index)| cases.get(case) == Some(&self.symptoms[*index]))
            })
        };
        let usable = self.all.iter().filter(|one| !is_left_out(one));
        let candidates: Vec<Candidate<'_>> =
            usable.filter_map(|one| Candidate::new(one, &seen, ran)).collect();
        let mut cover = Cover::new(&seen, &candidates);
        while let Some(best) = best(&candidates, &cover.open) {
            cover.choose(best);
        }
        cover.drop_needless();
        cover.adopt();
        cover.explanations()
    }
}

/// Weights of a case's symptoms, in their order. 0: not explained.
type Weights = Vec<f64>;

/// The symptoms of each failed case that are open.
type Open<'f> = BTreeMap<&'f str, Vec<bool>>;

/// The candidate with the highest score. Candidates with almost the same score vote for their causes.
fn best<'c, 'f>(candidates: &'c [Candidate<'f>], open: &Open<'_>) -> Option<&'c Candidate<'f>> {
    let mut scored: Vec<(f64, &Candidate<'f>)> =
        candidates.iter().map(|candidate| (candidate.score(open), candidate)).collect();
    scored.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    let highest = scored.first().map(|(score, _)| *score).filter(|score| *score >= LEAST_SCORE)?;
    scored.retain(|(score, _)| *score >= highest - ALMOST);
    let mut votes: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, candidate) in &scored {
        *votes.entry(&candidate.fingerprint.cause).or_default() += candidate.fingerprint.mutants;
    }
    let (cause, _) = votes.into_iter().max_by_key(|(_, mutants)| *mutants)?;
    scored.iter().find(|(_, candidate)| candidate.fingerprint.cause == cause).map(|(_, candidate)| *candidate)
}

/// The causes chosen so far, and what they leave open.
struct Cover<'f, 'c> {
    seen: &'c Seen<'f>,
    candidates: &'c [Candidate<'f>],
    open: Open<'f>,
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
    fn new(seen: &'c Seen<'f>, candidates: &'c [Candidate<'f>]) -> Self {
        let open = seen.failures.iter().map(|(case, symptoms)| (*case, vec![true; symptoms.len()])).collect();
        Self { seen, candidates, open, chosen: Vec::new() }
    }

    fn choose(&mut self, best: &Candidate<'f>) {
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

    /// Drops a cause if the others explain all its symptoms as well, the smallest first.
    fn drop_needless(&mut self) {
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
    fn adopt(&mut self) {
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
    fn explanations(mut self) -> Vec<Explanation> {
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

/// Failures of a run, compared with all known symptoms.
struct Seen<'f> {
    failures: BTreeMap<&'f str, &'f Symptoms>,
    /// Number of the distinct symptoms of each failure.
    rows: BTreeMap<&'f str, usize>,
    /// For each distinct symptoms of the run and each known symptoms: which of the first are in the second.
    common: Vec<Vec<Common>>,
    /// Families and areas of the failures, and known symptoms that they share.
    places: BTreeSet<(&'f str, usize)>,
}

/// Common symptoms of a failure and a known failure.
struct Common {
    is_common: Vec<bool>,
    /// Share of the known symptoms that are common.
    share: f64,
}

impl<'f> Seen<'f> {
    fn new(failures: &'f Failures, known: &[Symptoms]) -> Self {
        let mut numbers: BTreeMap<&Symptoms, usize> = BTreeMap::new();
        let mut seen = Self {
            failures: BTreeMap::new(),
            rows: BTreeMap::new(),
            common: Vec::new(),
            places: BTreeSet::new(),
        };
        for (case, symptoms) in failures {
            let row = *numbers.entry(symptoms).or_insert_with(|| {
                seen.common.push(known.iter().map(|other| Common::new(symptoms, other)).collect());
                seen.common.len() - 1
            });
            seen.failures.insert(case, symptoms);
            seen.rows.insert(case, row);
            let shared = seen.common[row].iter().enumerate().filter(|(_, common)| common.share > 0.0);
            seen.places.extend(shared.flat_map(|(index, _)| [(family(case), index), (area(case), index)]));
        }
        seen
    }
}

impl Common {
    fn new(symptoms: &Symptoms, known: &Symptoms) -> Self {
        let is_common: Vec<bool> = symptoms.iter().map(|symptom| known.contains(symptom)).collect();
        let count = is_common.iter().filter(|is_common| **is_common).count();
        Self { is_common, share: count as f64 / known.len().max(1) as f64 }
    }
}

/// A fingerprint against the failures of a run.
struct Candidate<'f> {
    fingerprint: &'f IndexedFingerprint,
    /// The failures that it explains in part or in full.
    explained: BTreeMap<&'f str, Weights>,
    /// Failed cases of the mutant that passed here.
    passed: Vec<&'f str>,
    penalty: f64,
}

impl<'f> Candidate<'f> {
    /// None: it explains nothing, or its cases are of another part.
    fn new(fingerprint: &'f IndexedFingerprint, seen: &Seen<'f>, ran: &BTreeSet<&str>) -> Option<Self> {
        if !fingerprint.cases.keys().any(|case| ran.contains(case.as_str())) {
            return None;
        }
        let explained =
            seen.rows.iter().map(|(case, row)| (*case, weights(fingerprint, case, &seen.common[*row])));
        let explained: BTreeMap<_, _> =
            explained.filter(|(_, weights)| weights.iter().any(|weight| *weight > 0.0)).collect();
        if explained.is_empty() {
            return None;
        }
        let mut candidate = Self { fingerprint, explained, passed: Vec::new(), penalty: 0.0 };
        for (case, symptoms) in &fingerprint.cases {
            if !ran.contains(case.as_str()) {
                candidate.penalty += NOT_RUN;
            } else if !seen.failures.contains_key(case.as_str()) {
                candidate.penalty += if seen.places.contains(&(family(case), *symptoms)) {
                    PASSED_IN_FAMILY
                } else if seen.places.contains(&(area(case), *symptoms)) {
                    PASSED_IN_AREA
                } else {
                    PASSED
                };
                candidate.passed.push(case);
            }
        }
        Some(candidate)
    }

    /// Number of explained failures, each by the share and the weight of its open symptoms, less the penalty.
    fn score(&self, open: &Open<'_>) -> f64 {
        let explained = self.explained.iter().map(|(case, weights)| {
            let open = weights.iter().zip(&open[case]).filter(|(_, open)| **open);
            open.map(|(weight, _)| weight).sum::<f64>() / weights.len().max(1) as f64
        });
        explained.sum::<f64>() - self.penalty
    }
}

/// How well a fingerprint explains the symptoms of a case. `common`: what they share with the known symptoms.
fn weights(fingerprint: &IndexedFingerprint, case: &str, common: &[Common]) -> Weights {
    let mut weights = Weights::new();
    let own = fingerprint.cases.get(case);
    for (index, places) in &fingerprint.places {
        let Common { is_common, share } = &common[*index];
        let place = if own == Some(index) {
            1.0
        } else if places.families.contains(family(case)) {
            SAME_FAMILY
        } else if places.areas.contains(area(case)) {
            SAME_AREA
        } else {
            ELSEWHERE
        };
        if place * share < EXPLAINED {
            continue;
        }
        weights.resize(is_common.len(), 0.0);
        for (weight, is_common) in weights.iter_mut().zip(is_common) {
            if *is_common {
                *weight = weight.max(place * share);
            }
        }
    }
    weights
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::causes::Fingerprint;

    /// Failures from words such as `relay.body.a=changed`.
    fn failures(text: &str) -> Failures {
        let parse = |word: &str| {
            let (case, symptoms) = word.split_once('=').unwrap();
            (case.to_owned(), symptoms.split('+').map(str::to_owned).collect())
        };
        text.split_whitespace().map(parse).collect()
    }

    fn known() -> Fingerprints {
        let all = [
            ("parsed", "relay.body.a=changed relay.body.b=changed relay.type.text=empty"),
            ("doubled", "relay.once=twice monitor.arrivals=copies"),
            ("text", "unreachable.a=text unreachable.b=text+no-cors"),
            ("cors", "cors.readable.a=no-cors cors.readable.b=no-cors unreachable.b=no-cors"),
        ];
        Fingerprints::new(all.map(|(cause, cases)| Fingerprint {
            cause: cause.to_owned(),
            mutants: 1,
            cases: failures(cases),
        }))
    }

    /// `expected`: each cause with its cases, in order.
    fn check(found: &str, expected: &str) {
        let found = failures(found);
        let known = known();
        let mut ran: BTreeSet<String> = found.keys().cloned().collect();
        ran.extend(known.iter().flat_map(|one| one.cases.into_keys()));
        let named = known.explain(&found, &ran.iter().map(String::as_str).collect());
        let named = named.iter().map(|one| format!("{}: {}", one.cause, one.cases.join(" ")));
        assert_eq!(named.collect::<Vec<_>>().join("; "), expected);
    }

    #[rstest]
    #[case::nothing("", "")]
    #[case::same("relay.once=twice monitor.arrivals=copies", "doubled: monitor.arrivals relay.once")]
    #[case::other_case_of_the_family(
        "relay.body.c=changed relay.body.a=changed",
        "parsed: relay.body.a relay.body.c"
    )]
    #[case::two(
        "relay.once=twice monitor.arrivals=copies unreachable.a=text unreachable.c=text",
        "doubled: monitor.arrivals relay.once; text: unreachable.a unreachable.c"
    )]
    #[case::overlapping(
        "unreachable.a=text unreachable.b=text+no-cors cors.readable.a=no-cors cors.readable.b=no-cors",
        "cors: cors.readable.a cors.readable.b unreachable.b; text: unreachable.a unreachable.b"
    )]
    #[case::strange("health.exists=purple", "")]
    fn smallest_set_of_causes_explains_the_failures(#[case] found: &str, #[case] expected: &str) {
        check(found, expected);
    }
}
