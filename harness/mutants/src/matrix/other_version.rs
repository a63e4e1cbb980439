//! Gate of another version than the current one: what differs, and a sample of the rest.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Instant;

use edgeproof::cases::{self, CaseFacts, Catalog};
use edgeproof::causes::Fingerprints;
use edgeproof_fixtures::spec::{PartName, Spec};
use edgeproof_mock::ReplyShape;
use edgeproof_reports::matrix::{MatrixMutant, MutantStatus, Scope};

use super::judge::{self, empty_matrix};
use super::result::MutantResult;
use super::runs::{all_cases, reference_results, run_all};
use super::{KillMatrix, MatrixOptions, mutant_run, sample};
use crate::causes::{MutantFailures, first_causes};
use crate::mutant::Mutant;
use crate::mutant_set::MutantSet;
use crate::mutation::Mutation;
use crate::play::{TestBed, TestBedError};

/// Runs the mutants that the differences to the current version concern. Of the others, it runs as few as it takes to make
/// each remaining case kill one: the gate of the current version runs them all.
pub(super) async fn gate(bed: &TestBed, options: &MatrixOptions) -> Result<KillMatrix, TestBedError> {
    let began = Instant::now();
    let cases = all_cases(bed);
    let (concerned, others): (Vec<Mutant>, Vec<Mutant>) = split(&bed.spec, &cases);
    let reference = reference_results(bed).await?;
    let run = |at: usize| mutant_run::run(bed, &concerned[at], &cases, None);
    let results = run_all(concerned.len(), options.jobs, options.progress, run).await?;
    let facts: Vec<CaseFacts> = cases.iter().map(|(_, case)| case.clone()).collect();
    let judge =
        |(mutant, result): (&Mutant, &MutantResult)| judge::mutant(mutant, result, &facts, &reference);
    let mut matrix = empty_matrix(&bed.spec, Scope::Gate, &facts);
    matrix.mutants = concerned.iter().zip(&results).map(judge).collect();

    let open = sample::without_kill(&matrix.cases, &matrix.mutants);
    let sampled = sample::play(bed, options.jobs, &others, &cases, open).await?;
    let all = sampled.iter().map(|(at, result)| sample::judged(&others[*at], result, &facts));
    // It ran against the cases that needed it only.
    let killed: Vec<MatrixMutant> = all.filter(|mutant| mutant.status == MutantStatus::Killed).collect();
    matrix.mutants.extend(killed);
    matrix.summary.plays = results.iter().chain(sampled.values()).map(|result| result.cases.len()).sum();
    matrix.problems = judge::reference_failures(&reference, &matrix.cases);
    let failures: Vec<MutantFailures> = concerned
        .iter()
        .zip(&results)
        .map(|(Mutant { id, cause, .. }, result)| MutantFailures::new(id, cause, &result.cases))
        .collect();
    let accuracy = first_causes(Fingerprints::builtin(), &failures);
    matrix.problems.extend(accuracy.problems());
    judge::conclude(&mut matrix);
    matrix.duration_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    matrix.accuracy = accuracy.shares();
    Ok(KillMatrix { matrix, fingerprints: None, accuracy })
}

/// The mutants that the differences to the current version concern, and the others. They concern a mutant that the current
/// version lacks or makes otherwise, and one of a row that differs or has other cases.
fn split(spec: &Spec, cases: &[(PartName, CaseFacts)]) -> (Vec<Mutant>, Vec<Mutant>) {
    let current = Spec::current();
    let shape = ReplyShape::from_profile(current.profile());
    let current_cases = cases::all(Catalog::new(current, &shape, false).explore(true));
    let parts: BTreeSet<&str> = cases.iter().map(|(part, _)| part.name()).collect();
    let played = current_cases.iter().filter(|case| parts.contains(case.part()));
    let before = by_row(played.map(|case| case.facts()));
    let now = by_row(cases.iter().map(|(_, case)| case));
    let known = MutantSet::new(current).mutants;
    let known: HashMap<&str, &Mutant> = known.iter().map(|mutant| (mutant.id.as_str(), mutant)).collect();
    let is_same = |mutant: &Mutant| {
        let row = mutant.row.as_str();
        spec.row(row) == current.row(row)
            && now.get(row) == before.get(row)
            && known.get(mutant.id.as_str()).is_some_and(|known| is_equal(&known.mutation, &mutant.mutation))
    };
    MutantSet::new(spec).mutants.into_iter().partition(|mutant| !is_same(mutant))
}

/// Whether mutations with one id are equal. Only those of rows depend on the tables.
fn is_equal(one: &Mutation, other: &Mutation) -> bool {
    match (one, other) {
        (Mutation::Row(one), Mutation::Row(other)) => one == other,
        _ => true,
    }
}

/// Ids of the cases of each row.
fn by_row<'c>(cases: impl Iterator<Item = &'c CaseFacts>) -> BTreeMap<&'c str, BTreeSet<&'c str>> {
    let mut rows: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for case in cases {
        for row in &case.rows {
            rows.entry(row).or_default().insert(&case.id);
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use edgeproof_fixtures::spec::Version;

    use super::*;

    /// Ids of the mutants that the differences of a version concern, and of the others.
    fn ids(version: Version) -> [Vec<String>; 2] {
        let spec = Spec::builtin(version);
        let shape = ReplyShape::from_profile(spec.profile());
        let catalog = Catalog::new(&spec, &shape, false).explore(true);
        let mut all = Vec::new();
        all.extend(cases::edge(catalog).into_iter().map(|case| (PartName::Edge, case.facts)));
        all.extend(cases::service(catalog).into_iter().map(|case| (PartName::Service, case.facts)));
        all.extend(cases::keys(catalog).into_iter().map(|case| (PartName::Keys, case.facts)));
        let (concerned, others) = split(&spec, &all);
        [concerned, others].map(|mutants| mutants.into_iter().map(|mutant| mutant.id).collect())
    }

    #[test]
    fn differences_concern_mutants_of_changed_rows_and_of_rows_with_other_cases() {
        let [concerned, others] = ids(Version::PreSeal);
        let is_concerned = |id: &str| {
            assert!(concerned.iter().chain(&others).any(|other| other == id), "there is no {id}");
            concerned.iter().any(|other| other == id)
        };
        // Its row has another condition there.
        assert!(is_concerned("edge.502.service-unreachable/other-status"));
        assert!(is_concerned("relay.400.missing-fields/upper-case-reason"));
        // The row is the same, and some of its cases are gone.
        assert!(is_concerned("edge.refused/missing-reason"));
        assert!(!is_concerned("verdict.401.revoked/other-status"));
        assert!(concerned.len() < others.len() / 5, "{}", concerned.len());
    }

    #[test]
    fn current_version_differs_in_nothing() {
        let [concerned, others] = ids(Version::Current);
        assert_eq!(concerned, Vec::<String>::new());
        assert_eq!(others.len(), MutantSet::new(Spec::current()).mutants.len());
    }
}
