use std::collections::BTreeMap;

use edgeproof::cases::CaseFacts;
use edgeproof::judge::Check;
use edgeproof_fixtures::spec::PartName;

use super::result::{CaseResult, CaseResults, MutantResult, case_results};
use crate::mutant::Mutant;
use crate::mutation::{Mutation, RowMutation};
use crate::play::{PureResult, TestBed, TestBedError, Traces};

/// Cases that run against every mutant of their part, whatever row it breaks: one plain case of each kind.
pub const CANARIES: [&str; 10] = [
    "sanity.first",
    "accept.exact-body",
    "refusal.401.revoked",
    "refusal.unknown.html",
    "method.put",
    "relay.body.compact",
    "cors.preflight",
    "verdict.sanity.first",
    "verdict.unauthorized.missing",
    "verdict.available",
];

/// Runs a mutant against the cases of its part: without sockets where that gives the same result. With traces all
/// cases run; without them (gate) the cases of the broken row and the canaries.
pub(super) async fn run(
    bed: &TestBed,
    mutant: &Mutant,
    cases: &[(PartName, CaseFacts)],
    traces: Option<&Traces>,
) -> Result<MutantResult, TestBedError> {
    let mut result = MutantResult::default();
    let pure = edge_row(mutant).map(|mutation| (mutation, bed.reads_reasons(mutation)));
    result.is_finding = pure.is_some_and(|(_, reads_reasons)| !reads_reasons);
    let mut over_sockets: BTreeMap<PartName, Vec<CaseFacts>> = BTreeMap::new();
    for (part, case) in cases {
        if !mutant.mutation.affects(*part) || !is_wanted(case, mutant, traces) {
            continue;
        }
        let played = pure.and_then(|(hooks, reads_reasons)| bed.play_pure(case, hooks, reads_reasons));
        if let Some(played) = played {
            result.cases.insert(case.id.clone(), case_result(played));
        } else if meets(case, mutant, traces) {
            over_sockets.entry(*part).or_default().push(case.clone());
        }
    }
    for (part, cases) in over_sockets {
        let run = bed.play(part, &cases, Some(mutant.faults())).await?;
        result.is_finding |= run.exit_code == 3 && !run.findings.is_empty();
        result.cases.extend(case_results(&run.reports));
    }
    if result.is_finding {
        let own = cases.iter().filter(|(_, case)| case.rows.contains(&mutant.row)).cloned().collect();
        result.despite_finding = run_anyway(bed, mutant, own).await?;
    }
    Ok(result)
}

/// Runs cases of a mutant that a run would skip after a finding.
pub(super) async fn run_anyway(
    bed: &TestBed,
    mutant: &Mutant,
    cases: Vec<(PartName, CaseFacts)>,
) -> Result<CaseResults, TestBedError> {
    let mut results = CaseResults::new();
    let mut over_sockets: BTreeMap<PartName, Vec<CaseFacts>> = BTreeMap::new();
    for (part, case) in cases.into_iter().filter(|(part, _)| mutant.mutation.affects(*part)) {
        match edge_row(mutant).and_then(|hooks| bed.play_pure(&case, hooks, true)) {
            Some(played) => _ = results.insert(case.id.clone(), case_result(played)),
            None => over_sockets.entry(part).or_default().push(case),
        }
    }
    for (part, cases) in over_sockets {
        let run = bed.play_without_probe(part, &cases, Some(mutant.faults())).await?;
        results.extend(case_results(&run.reports));
    }
    Ok(results)
}

/// The mutation, if cases can play it without sockets. Behaviours can depend on connections.
fn edge_row(mutant: &Mutant) -> Option<&RowMutation> {
    match &mutant.mutation {
        Mutation::Row(mutation) if mutation.is_of_edge() => Some(mutation.as_ref()),
        _ => None,
    }
}

fn case_result(played: PureResult) -> CaseResult {
    let PureResult { found, outcome } = played;
    let mismatches = found.checks.iter().filter_map(Check::mismatch).collect();
    let observations = found.observations.into_iter().map(|(point, observed)| format!("{point}: {observed}"));
    CaseResult { outcome, observations: observations.collect(), mismatches }
}

/// Whether the mutant runs against the case in a gate: the case is of its broken row, or a canary.
pub(super) fn is_of_gate(case: &CaseFacts, mutant: &Mutant) -> bool {
    is_wanted(case, mutant, None)
}

fn is_wanted(case: &CaseFacts, mutant: &Mutant, traces: Option<&Traces>) -> bool {
    match is_concerned(case, mutant) {
        // These cases play hundreds of exchanges, and the other cases of a row are as sharp for its other mutants.
        false if case.id.starts_with("vary.") || mutant.mutation.is_of_model() => false,
        concerned => concerned || traces.is_some() || CANARIES.contains(&case.id.as_str()),
    }
}

/// Whether the case is one of those that have to kill the mutant.
pub(crate) fn is_concerned(case: &CaseFacts, mutant: &Mutant) -> bool {
    match &mutant.mutation {
        Mutation::Variation(mutation) => mutation.concerns(&case.id),
        Mutation::Setting(mutation) => mutation.concerns(&case.id),
        Mutation::Row(_) | Mutation::Behaviour(_) | Mutation::Collector(_) => case.rows.contains(&mutant.row),
    }
}

/// Whether a case can meet the mutation: the mutated row is in its trace. Any case can meet a behaviour.
fn meets(case: &CaseFacts, mutant: &Mutant, traces: Option<&Traces>) -> bool {
    let Mutation::Row(mutation) = &mutant.mutation else { return true };
    traces.is_none_or(|traces| traces.get(&case.id).is_some_and(|rows| rows.contains(&mutation.row.id)))
}
