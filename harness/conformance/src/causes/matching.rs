//! The smallest set of causes that explains the failures of a run: a greedy cover. Each step takes the fingerprint that
//! resembles most of the failures that are still open, less a penalty for each of its cases that passed.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::case_name::{area, family};
use super::fingerprint::{Failures, Fingerprints, IndexedFingerprint};
use super::symptom::Symptoms;

/// Penalty for a case that a mutant fails and the target passes.
const PASSED: f64 = 0.4;
/// The same where another case of its family fails in the same way: the target's mistake concerns other values.
const PASSED_IN_FAMILY: f64 = 0.05;
/// Least similarity at which a cause explains a failure.
const EXPLAINED: f64 = 0.3;
/// Least score of a cause.
const LEAST_SCORE: f64 = 0.2;
/// Similarity of a failure with other symptoms in the same case. Equal symptoms count 1.
const SAME_CASE: f64 = 0.3;
/// Similarity of equal symptoms in another case of the same family.
const SAME_FAMILY: f64 = 0.8;
/// Similarity of equal symptoms in another case of the same area.
const SAME_AREA: f64 = 0.6;
/// Similarity of equal symptoms in any other case.
const ELSEWHERE: f64 = 0.4;

/// A cause and the failures that it explains.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// Id of the cause.
    pub cause: String,
    /// Explained failures, the best example first.
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
        let mut open: BTreeSet<&str> = failures.keys().map(String::as_str).collect();
        let mut all: Vec<Explanation> = Vec::new();
        while let Some(best) = best(&candidates, &open) {
            let mut explained: Vec<(&str, f64)> =
                best.similar.iter().filter(|(case, _)| open.contains(case)).copied().collect();
            explained.sort_by(|(_, one), (_, other)| other.total_cmp(one));
            let cases: Vec<String> = explained.iter().map(|(case, _)| (*case).to_owned()).collect();
            for case in &cases {
                open.remove(case.as_str());
            }
            match all.iter_mut().find(|explanation| explanation.cause == best.fingerprint.cause) {
                Some(explanation) => explanation.cases.extend(cases),
                None => all.push(Explanation {
                    cause: best.fingerprint.cause.clone(),
                    cases,
                    passed: best.passed.iter().map(|case| (*case).to_owned()).collect(),
                }),
            }
        }
        all.sort_by_key(|explanation| Reverse(explanation.cases.len()));
        all
    }
}

/// The candidate with the highest score; of equal ones the one that stands for most mutants.
fn best<'c, 'f>(candidates: &'c [Candidate<'f>], open: &BTreeSet<&str>) -> Option<&'c Candidate<'f>> {
    let scored = candidates.iter().map(|candidate| (candidate.score(open), candidate));
    let scored = scored.filter(|(score, _)| *score >= LEAST_SCORE);
    let best = scored.max_by(|(one, left), (other, right)| {
        one.total_cmp(other).then(left.fingerprint.mutants.cmp(&right.fingerprint.mutants))
    });
    best.map(|(_, candidate)| candidate)
}

/// Failures of a run, compared with all known symptoms.
struct Seen<'f> {
    /// Each failure and the row of `overlaps` of its symptoms.
    failures: BTreeMap<&'f str, usize>,
    /// Share of common symptoms, for each distinct symptoms of the run and each known symptoms.
    overlaps: Vec<Vec<f64>>,
    /// Families and symptoms of the failures.
    families: BTreeSet<(&'f str, usize)>,
}

impl<'f> Seen<'f> {
    fn new(failures: &'f Failures, known: &[Symptoms]) -> Self {
        let mut rows: BTreeMap<&Symptoms, usize> = BTreeMap::new();
        let mut seen = Self { failures: BTreeMap::new(), overlaps: Vec::new(), families: BTreeSet::new() };
        for (case, symptoms) in failures {
            let row = *rows.entry(symptoms).or_insert_with(|| {
                seen.overlaps.push(known.iter().map(|other| overlap(symptoms, other)).collect());
                seen.overlaps.len() - 1
            });
            seen.failures.insert(case, row);
            let common = seen.overlaps[row].iter().enumerate().filter(|(_, share)| **share > 0.0);
            seen.families.extend(common.map(|(index, _)| (family(case), index)));
        }
        seen
    }
}

/// A fingerprint against the failures of a run.
struct Candidate<'f> {
    fingerprint: &'f IndexedFingerprint,
    /// The failures that it explains, and how much each resembles one of the mutant's, from 0 to 1.
    similar: Vec<(&'f str, f64)>,
    /// Failed cases of the mutant that passed here.
    passed: Vec<&'f str>,
    penalty: f64,
}

impl<'f> Candidate<'f> {
    /// None: it explains nothing.
    fn new(fingerprint: &'f IndexedFingerprint, seen: &Seen<'f>, ran: &BTreeSet<&str>) -> Option<Self> {
        let similar: Vec<_> = seen
            .failures
            .iter()
            .map(|(case, row)| (*case, similarity(fingerprint, case, &seen.overlaps[*row])))
            .filter(|(_, similarity)| *similarity >= EXPLAINED)
            .collect();
        if similar.is_empty() {
            return None;
        }
        let mut candidate = Self { fingerprint, similar, passed: Vec::new(), penalty: 0.0 };
        for (case, symptoms) in &fingerprint.cases {
            if ran.contains(case.as_str()) && !seen.failures.contains_key(case.as_str()) {
                let in_family = seen.families.contains(&(family(case), *symptoms));
                candidate.penalty += if in_family { PASSED_IN_FAMILY } else { PASSED };
                candidate.passed.push(case);
            }
        }
        Some(candidate)
    }

    fn score(&self, open: &BTreeSet<&str>) -> f64 {
        let explained = self.similar.iter().filter(|(case, _)| open.contains(case));
        explained.map(|(_, similarity)| similarity).sum::<f64>() - self.penalty
    }
}

/// How much a failure resembles one of the mutant's. `overlaps`: share of common symptoms for each known symptoms.
fn similarity(fingerprint: &IndexedFingerprint, case: &str, overlaps: &[f64]) -> f64 {
    let own =
        fingerprint.cases.get(case).map_or(0.0, |index| SAME_CASE + (1.0 - SAME_CASE) * overlaps[*index]);
    let others =
        fingerprint.places.iter().filter(|(index, _)| overlaps[**index] > 0.0).map(|(index, places)| {
            let weight = if places.families.contains(family(case)) {
                SAME_FAMILY
            } else if places.areas.contains(area(case)) {
                SAME_AREA
            } else {
                ELSEWHERE
            };
            weight * overlaps[*index]
        });
    others.fold(own, f64::max)
}

/// Share of common symptoms, from 0 to 1.
fn overlap(one: &Symptoms, other: &Symptoms) -> f64 {
    let common = one.intersection(other).count();
    let all = one.union(other).count();
    if all == 0 { 1.0 } else { common as f64 / all as f64 }
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
        "cors: cors.readable.a cors.readable.b; text: unreachable.b unreachable.a"
    )]
    #[case::strange("health.exists=purple", "")]
    fn smallest_set_of_causes_explains_the_failures(#[case] found: &str, #[case] expected: &str) {
        check(found, expected);
    }
}
