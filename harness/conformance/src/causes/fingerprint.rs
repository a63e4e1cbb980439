use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::json;

use super::case_name::{area, family};
use super::symptom::Symptoms;

/// Failed cases, and how each fails.
pub type Failures = BTreeMap<String, Symptoms>;

/// The cases that a mutant fails, and how. Mutants with one cause that fail alike share a fingerprint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fingerprint {
    /// Id of the cause.
    pub cause: String,
    /// Number of mutants that fail so.
    pub mutants: usize,
    /// The failed cases.
    pub cases: Failures,
}

/// The fingerprints of all mutants. `just fingerprints` generates them from the kill matrix.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fingerprints {
    pub(super) all: Vec<IndexedFingerprint>,
    /// Distinct symptoms of cases. Fingerprints refer to them by index.
    pub(super) symptoms: Vec<Symptoms>,
}

/// A fingerprint, prepared for comparisons.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct IndexedFingerprint {
    pub(super) cause: String,
    pub(super) mutants: usize,
    /// Failed cases, with the index of their symptoms.
    pub(super) cases: BTreeMap<String, usize>,
    /// Families and areas of the cases with the same symptoms.
    pub(super) places: BTreeMap<usize, Places>,
}

/// Where symptoms occur.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Places {
    pub(super) families: BTreeSet<String>,
    pub(super) areas: BTreeSet<String>,
}

/// The generated file. Fingerprints refer to the distinct symptoms by index.
#[derive(Deserialize)]
struct FingerprintFile {
    symptoms: Vec<Symptoms>,
    fingerprints: Vec<(String, usize, BTreeMap<String, usize>)>,
}

static BUILTIN: LazyLock<Fingerprints> = LazyLock::new(|| read(include_str!("fingerprints.json")));
static COLLECTOR: LazyLock<Fingerprints> =
    LazyLock::new(|| read(include_str!("collector_fingerprints.json")));

fn read(text: &str) -> Fingerprints {
    let file: FingerprintFile = serde_json::from_str(text).expect("a test reads the generated file");
    // The file is the JSON of merged fingerprints.
    let all = file
        .fingerprints
        .into_iter()
        .map(|(cause, mutants, cases)| IndexedFingerprint::new(cause, mutants, cases));
    Fingerprints { all: all.collect(), symptoms: file.symptoms }
}

impl IndexedFingerprint {
    fn new(cause: String, mutants: usize, cases: BTreeMap<String, usize>) -> Self {
        let mut places: BTreeMap<usize, Places> = BTreeMap::new();
        for (case, symptoms) in &cases {
            let place = places.entry(*symptoms).or_default();
            place.families.insert(family(case).to_owned());
            place.areas.insert(area(case).to_owned());
        }
        Self { cause, mutants, cases, places }
    }
}

impl Fingerprints {
    /// The fingerprints of edges, services and key sets.
    pub fn builtin() -> &'static Self {
        &BUILTIN
    }

    /// The fingerprints of collectors.
    pub fn of_collectors() -> &'static Self {
        &COLLECTOR
    }

    /// Ids of the causes whose mutants fail a case of any part, the most frequent first.
    pub fn known_causes_of_case(case: &str) -> Vec<&'static str> {
        let all = [Self::builtin(), Self::of_collectors()];
        all.into_iter().flat_map(|known| known.causes_of_case(case)).collect()
    }

    /// Ids of the cases of any part that mutants of a cause fail, those that most of them fail first.
    pub fn known_cases_of_cause(cause: &str) -> Vec<&'static str> {
        let all = [Self::builtin(), Self::of_collectors()];
        all.into_iter().flat_map(|known| known.cases_of_cause(cause)).collect()
    }

    /// Prepares fingerprints for comparisons. Those of the same cause with the same failures become one.
    pub fn new(all: impl IntoIterator<Item = Fingerprint>) -> Self {
        let mut merged: BTreeMap<(String, Failures), usize> = BTreeMap::new();
        for one in all {
            *merged.entry((one.cause, one.cases)).or_default() += one.mutants;
        }
        let mut index: BTreeMap<Symptoms, usize> = BTreeMap::new();
        let all = merged.into_iter().map(|((cause, failures), mutants)| {
            let indexed = failures.into_iter().map(|(case, symptoms)| {
                let next = index.len();
                (case, *index.entry(symptoms).or_insert(next))
            });
            IndexedFingerprint::new(cause, mutants, indexed.collect())
        });
        let all = all.collect();
        let mut symptoms: Vec<(usize, Symptoms)> =
            index.into_iter().map(|(one, index)| (index, one)).collect();
        symptoms.sort();
        Self { all, symptoms: symptoms.into_iter().map(|(_, one)| one).collect() }
    }

    /// The fingerprints, sorted by cause.
    pub fn iter(&self) -> impl Iterator<Item = Fingerprint> + '_ {
        self.all.iter().map(|one| Fingerprint {
            cause: one.cause.clone(),
            mutants: one.mutants,
            cases: one
                .cases
                .iter()
                .map(|(case, index)| (case.clone(), self.symptoms[*index].clone()))
                .collect(),
        })
    }

    /// The text of the generated file: JSON with a line for each entry, so that differences are readable.
    pub fn to_json(&self) -> String {
        let entry = |value: serde_json::Value| format!("    {value}");
        let symptoms = self.symptoms.iter().map(|one| entry(json!(one)));
        let all = self.all.iter().map(|one| entry(json!((&one.cause, one.mutants, &one.cases))));
        let lines = |lines: Vec<String>| lines.join(",\n");
        let (symptoms, all) = (lines(symptoms.collect()), lines(all.collect()));
        format!("{{\n  \"symptoms\": [\n{symptoms}\n  ],\n  \"fingerprints\": [\n{all}\n  ]\n}}\n")
    }

    /// Number of mutants of a cause that have a symptom in some case.
    pub fn frequency(&self, cause: &str, symptom: &str) -> usize {
        let of_cause = self.all.iter().filter(|one| one.cause == cause);
        let has = |one: &&IndexedFingerprint| {
            one.places.keys().any(|index| self.symptoms[*index].contains(symptom))
        };
        of_cause.filter(has).map(|one| one.mutants).sum()
    }

    /// Ids of the causes whose mutants fail a case, the most frequent first.
    pub fn causes_of_case(&self, case: &str) -> Vec<&str> {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for one in self.all.iter().filter(|one| one.cases.contains_key(case)) {
            *counts.entry(&one.cause).or_default() += one.mutants;
        }
        let mut causes: Vec<_> = counts.into_iter().collect();
        causes.sort_by_key(|(cause, count)| (std::cmp::Reverse(*count), *cause));
        causes.into_iter().map(|(cause, _)| cause).collect()
    }

    /// Ids of the cases that mutants of a cause fail, those that most of them fail first.
    pub fn cases_of_cause(&self, cause: &str) -> Vec<&str> {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for one in self.all.iter().filter(|one| one.cause == cause) {
            for case in one.cases.keys() {
                *counts.entry(case).or_default() += one.mutants;
            }
        }
        let mut cases: Vec<_> = counts.into_iter().collect();
        cases.sort_by_key(|(case, count)| (std::cmp::Reverse(*count), *case));
        cases.into_iter().map(|(case, _)| case).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_files_hold_merged_fingerprints() {
        for builtin in [Fingerprints::builtin(), Fingerprints::of_collectors()] {
            assert!(Fingerprints::new(builtin.iter()) == *builtin, "run `just fingerprints`");
        }
    }
}
