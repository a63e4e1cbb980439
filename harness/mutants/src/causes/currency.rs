use std::collections::BTreeMap;

use edgeproof::causes::{Fingerprint, Fingerprints};

use super::mutant_failures::{MutantFailures, fingerprints};

/// Most mutants whose run may differ from the file, in percent. Failures that depend on time differ from run to run.
const MAX_DIFFERING: usize = 5;

/// Problems of fingerprints that do not match the mutants and the cases that ran. `recipe`: makes them again.
pub(crate) fn outdated(known: &Fingerprints, all: &[MutantFailures], recipe: &str) -> Vec<String> {
    let differing: Vec<&str> = differing(known, all).map(|at| all[at].mutant.as_str()).collect();
    let tolerated = all.len() * MAX_DIFFERING / 100;
    let count: usize = known.iter().map(|one| one.mutants).sum();
    let mut problems = Vec::new();
    if differing.len() > tolerated {
        problems.push(format!(
            "the fingerprints are out of date: {} mutants fail otherwise, such as {}; run `{recipe}`",
            differing.len(),
            differing.iter().take(5).copied().collect::<Vec<_>>().join(", "),
        ));
    }
    let failing = all.iter().filter(|one| !one.failures.is_empty()).count();
    if failing.abs_diff(count) > tolerated {
        problems.push(format!(
            "the fingerprints are out of date: they are of {count} mutants, {failing} fail; run `{recipe}`"
        ));
    }
    problems
}

/// Positions of the mutants that fail otherwise than the fingerprints of their cause say.
pub(crate) fn differing(known: &Fingerprints, all: &[MutantFailures]) -> impl Iterator<Item = usize> {
    let by_cause = by_cause(known);
    let is_known = move |one: &MutantFailures| {
        by_cause.get(&one.cause).is_some_and(|known| known.iter().any(|other| agrees(one, other)))
    };
    (0..all.len()).filter(move |at| !all[*at].failures.is_empty() && !is_known(&all[*at]))
}

/// The fingerprints like which mutants still fail, and those of the mutants that fail otherwise. `again`: how these fail all
/// cases.
pub(crate) fn renewed(
    known: &Fingerprints,
    all: &[MutantFailures],
    again: &[MutantFailures],
) -> Fingerprints {
    let mut left: Vec<(Fingerprint, usize)> = known.iter().map(|one| (one, 0)).collect();
    let failing = all.iter().filter(|mutant| !mutant.failures.is_empty());
    let mut fitting: Vec<Vec<usize>> = failing
        .map(|mutant| {
            let fits = |at: &usize| left[*at].0.cause == mutant.cause && agrees(mutant, &left[*at].0);
            (0..left.len()).filter(fits).collect()
        })
        .collect();
    // A mutant that ran few cases can agree with several fingerprints: those with one choice take theirs first.
    fitting.sort_by_key(Vec::len);
    for fitting in fitting {
        if let Some(at) = fitting.into_iter().find(|at| left[*at].1 < left[*at].0.mutants) {
            left[at].1 += 1;
        }
    }
    let left = left.into_iter().filter(|(_, mutants)| *mutants > 0);
    Fingerprints::new(
        left.map(|(one, mutants)| Fingerprint { mutants, ..one }).chain(fingerprints(again).iter()),
    )
}

fn by_cause(known: &Fingerprints) -> BTreeMap<String, Vec<Fingerprint>> {
    let mut by_cause: BTreeMap<String, Vec<Fingerprint>> = BTreeMap::new();
    for one in known.iter() {
        by_cause.entry(one.cause.clone()).or_default().push(one);
    }
    by_cause
}

/// Whether a mutant fails like a fingerprint in the cases that it ran: the same cases, with a common symptom in each.
fn agrees(one: &MutantFailures, known: &Fingerprint) -> bool {
    let mut expected = known.cases.iter().filter(|(case, _)| one.ran.contains(*case));
    let alike = expected.by_ref().zip(&one.failures).take_while(|((case, known), (failed, symptoms))| {
        case == failed && (known.is_empty() || known.intersection(symptoms).next().is_some())
    });
    alike.count() == one.failures.len() && expected.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A mutant with one cause that fails these cases, and ran them and `c`.
    fn mutant(name: &str, failed: &[&str]) -> MutantFailures {
        let symptoms = || ["status: 500".to_owned()].into();
        MutantFailures {
            mutant: name.into(),
            cause: "crashes".into(),
            failures: failed.iter().map(|case| ((*case).to_owned(), symptoms())).collect(),
            ran: ["a", "b", "c"].map(str::to_owned).into(),
        }
    }

    #[test]
    fn only_fingerprints_of_mutants_that_fail_otherwise_are_replaced() {
        let before = [mutant("one", &["a"]), mutant("two", &["a"]), mutant("three", &["b"])];
        let known = fingerprints(&before);
        let now = [mutant("one", &["a"]), mutant("two", &["a"]), mutant("three", &["b", "c"])];
        assert_eq!(differing(&known, &now).collect::<Vec<_>>(), [2]);
        assert_eq!(renewed(&known, &now, &now[2..]), fingerprints(&now));
    }
}
