//! The smallest set of causes that explains the failures of a run: a greedy cover. A failed case can have symptoms of
//! several causes. Each step takes the fingerprint that explains most of the symptoms that are still open, less a penalty
//! for each of its cases that passed. If no mutant has these symptoms in these cases, a mutant that fails the same cases with
//! other symptoms explains them.

use std::collections::{BTreeMap, BTreeSet};

use super::candidate::{Alike, Candidate, Open, Seen};
use super::cover::Cover;
use super::fingerprint::{Failures, Fingerprints, IndexedFingerprint};

/// Least score of a cause.
const LEAST_SCORE: f64 = 0.2;
/// Difference of scores that says nothing.
const ALMOST: f64 = 0.05;
/// Least share of explained failures at which symptoms decide. Below it, the failures resemble those of other cases only, and
/// which cases fail decides.
const WELL_EXPLAINED: f64 = 0.55;

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
        let usable: Vec<&IndexedFingerprint> = self.all.iter().filter(|one| !is_left_out(one)).collect();
        let by_symptoms: Vec<_> =
            usable.iter().filter_map(|one| Candidate::new(one, &seen, ran, Alike::Symptoms)).collect();
        let cover = covered(&seen, &by_symptoms);
        if cover.explained() >= WELL_EXPLAINED {
            return cover.explanations();
        }
        let by_cases: Vec<_> =
            usable.iter().filter_map(|one| Candidate::new(one, &seen, ran, Alike::Cases)).collect();
        covered(&seen, &by_cases).explanations()
    }
}

/// The causes that explain these failures.
fn covered<'f, 'c>(seen: &'c Seen<'f>, candidates: &'c [Candidate<'f>]) -> Cover<'f, 'c> {
    let mut cover = Cover::new(seen, candidates);
    while let Some(best) = best(candidates, &cover.open) {
        cover.choose(best);
    }
    cover.drop_needless();
    cover.adopt();
    cover
}

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
    #[case::same_cases_in_another_way(
        "relay.once=changed monitor.arrivals=text",
        "doubled: monitor.arrivals relay.once"
    )]
    #[case::one_of_its_cases_in_another_way("relay.body.a=text", "")]
    #[case::same_cases_with_symptoms_of_no_mutant("relay.once=pinned monitor.arrivals=pinned", "")]
    #[case::strange("health.exists=purple", "")]
    fn smallest_set_of_causes_explains_the_failures(#[case] found: &str, #[case] expected: &str) {
        check(found, expected);
    }
}
