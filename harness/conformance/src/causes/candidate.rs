//! A fingerprint against the failures of a run.

use std::collections::{BTreeMap, BTreeSet};

use super::case_name::{area, family};
use super::fingerprint::{Failures, IndexedFingerprint};
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
/// Weight of a symptom in another case of the same family. In the same case it is 1.
const SAME_FAMILY: f64 = 0.8;
/// Weight of a symptom in another case of the same area.
const SAME_AREA: f64 = 0.6;
/// Weight of a symptom in any other case.
const ELSEWHERE: f64 = 0.4;

/// Weight of a symptom that a mutant of the same cases does not have.
const SAME_CASE: f64 = 0.5;
/// Least share of common cases, of those that fail in the run or for the mutant, at which both fail the same cases.
const SAME_CASES: f64 = 0.5;

/// How a run is compared with a mutant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Alike {
    /// Cases fail in the same way.
    Symptoms,
    /// The same cases fail, in any way.
    Cases,
}

/// Weights of a case's symptoms, in their order. 0: not explained.
pub(super) type Weights = Vec<f64>;

/// The symptoms of each failed case that are open.
pub(super) type Open<'f> = BTreeMap<&'f str, Vec<bool>>;

/// Failures of a run, compared with all known symptoms.
pub(super) struct Seen<'f> {
    pub(super) failures: BTreeMap<&'f str, &'f Symptoms>,
    /// Number of the distinct symptoms of each failure.
    rows: BTreeMap<&'f str, usize>,
    /// For each distinct symptoms of the run and each known symptoms: which of the first are in the second.
    common: Vec<Vec<Common>>,
    /// For each distinct symptoms of the run: which of them some mutant has. A changed pin is no symptom of a mistake.
    is_known: Vec<Vec<bool>>,
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
    pub(super) fn new(failures: &'f Failures, known: &[Symptoms]) -> Self {
        let mut numbers: BTreeMap<&Symptoms, usize> = BTreeMap::new();
        let mut seen = Self {
            failures: BTreeMap::new(),
            rows: BTreeMap::new(),
            common: Vec::new(),
            is_known: Vec::new(),
            places: BTreeSet::new(),
        };
        for (case, symptoms) in failures {
            let row = *numbers.entry(symptoms).or_insert_with(|| {
                let is_known = |symptom: &String| known.iter().any(|other| other.contains(symptom));
                seen.common.push(known.iter().map(|other| Common::new(symptoms, other)).collect());
                seen.is_known.push(symptoms.iter().map(is_known).collect());
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
pub(super) struct Candidate<'f> {
    pub(super) fingerprint: &'f IndexedFingerprint,
    /// The failures that it explains in part or in full.
    pub(super) explained: BTreeMap<&'f str, Weights>,
    /// Failed cases of the mutant that passed here.
    pub(super) passed: Vec<&'f str>,
    penalty: f64,
}

impl<'f> Candidate<'f> {
    /// None: it explains nothing, or its cases are of another part.
    pub(super) fn new(
        fingerprint: &'f IndexedFingerprint,
        seen: &Seen<'f>,
        ran: &BTreeSet<&str>,
        alike: Alike,
    ) -> Option<Self> {
        if !fingerprint.cases.keys().any(|case| ran.contains(case.as_str())) {
            return None;
        }
        let in_any_way = alike == Alike::Cases && has_same_cases(fingerprint, seen);
        let of_case = |case: &str, row: usize| {
            let mut weights = weights(fingerprint, case, &seen.common[row]);
            if in_any_way && fingerprint.cases.contains_key(case) {
                weights.resize(seen.is_known[row].len(), 0.0);
                for (weight, _) in weights.iter_mut().zip(&seen.is_known[row]).filter(|(_, known)| **known) {
                    *weight = weight.max(SAME_CASE);
                }
            }
            weights
        };
        let explained = seen.rows.iter().map(|(case, row)| (*case, of_case(case, *row)));
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
    pub(super) fn score(&self, open: &Open<'_>) -> f64 {
        let explained = self.explained.iter().map(|(case, weights)| {
            let open = weights.iter().zip(&open[case]).filter(|(_, open)| **open);
            open.map(|(weight, _)| weight).sum::<f64>() / weights.len().max(1) as f64
        });
        explained.sum::<f64>() - self.penalty
    }
}

/// Whether the run and a mutant fail the same cases, except for a few. A run of few cases does not show that.
fn has_same_cases(fingerprint: &IndexedFingerprint, seen: &Seen<'_>) -> bool {
    let common = seen.failures.keys().filter(|case| fingerprint.cases.contains_key(**case)).count();
    common as f64 >= SAME_CASES * (fingerprint.cases.len() + seen.failures.len() - common) as f64
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
