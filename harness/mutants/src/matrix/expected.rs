use edgeproof_fixtures::spec::Version;
use edgeproof_reports::matrix::{Matrix, MatrixMutant, MutantStatus};

use super::CANARIES;

/// A run reports these as one finding and exits 3. The cases detect them as well.
const FOUND: [&str; 10] = [
    "edge.refused/unknown",
    "verdict.404.pending/no-answer",
    "verdict.404.pending/other-row",
    "keys.200.published/no-answer",
    "edge/relays-nothing",
    "edge/refuses-all-requests",
    "edge/has-another-route",
    "edge/routes-no-post",
    "edge/redirects-collections",
    "service/refuses-all-requests",
];
/// Cases at open points only observe these.
const NOTICED: [&str; 3] =
    ["edge.400.read-failed/no-cors", "edge/strips-reason-suffix", "edge/passes-success-status"];
/// Derived from rows, but correct.
const EQUIVALENT: [&str; 3] =
    ["edge.refused.unknown/unknown", "edge.preflight/text-plain", "relay.401.unknown/unknown"];

/// Cases that can kill no mutant in a version, and why.
const NOT_EXPRESSIBLE: [(Version, &str, &str); 1] = [(
    Version::PreSeal,
    "vary.verdict.http2",
    "the mock service of this version serves backends without TLS, and so without HTTP/2",
)];

/// Why a case can kill no mutant in a version.
pub(super) fn not_expressible(version: &str, case: &str) -> Option<String> {
    let mut all = NOT_EXPRESSIBLE.iter();
    let (.., why) = all.find(|(of, id, _)| of.name() == version && *id == case)?;
    Some((*why).to_owned())
}

/// Problems where a matrix of all mutants differs from these lists, and canaries that are no case.
pub(super) fn differences(matrix: &Matrix) -> Vec<String> {
    let status = |status: MutantStatus| move |mutant: &MatrixMutant| mutant.status == status;
    let found = difference("a run reports as one finding", &FOUND, matrix, |mutant| mutant.finding);
    let noticed = difference("are noticed only", &NOTICED, matrix, status(MutantStatus::Noticed));
    let equivalent = difference("are equivalent", &EQUIVALENT, matrix, status(MutantStatus::Equivalent));
    let is_case = |id: &&&str| matrix.cases.iter().any(|case| case.id == **id);
    let unknown = CANARIES.iter().filter(|id| !is_case(id)).map(|id| format!("canary {id} is no case"));
    found.into_iter().chain(noticed).chain(equivalent).chain(unknown).collect()
}

fn difference(
    what: &str,
    expected: &[&str],
    matrix: &Matrix,
    is_it: impl Fn(&MatrixMutant) -> bool,
) -> Option<String> {
    let actual: Vec<&str> =
        matrix.mutants.iter().filter(|mutant| is_it(mutant)).map(|mutant| mutant.id.as_str()).collect();
    (actual != expected).then(|| {
        format!("the mutants that {what} are {}, expected: {}", actual.join(", "), expected.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use edgeproof_fixtures::spec::Spec;
    use edgeproof_reports::matrix::Scope;

    use super::*;
    use crate::matrix::empty_matrix;

    #[test]
    fn each_list_and_each_canary_is_missed_in_an_empty_matrix() {
        let matrix = empty_matrix(&Spec::builtin(Version::Current), Scope::Gate, &[]);
        assert_eq!(differences(&matrix).len(), 3 + CANARIES.len());
    }
}
