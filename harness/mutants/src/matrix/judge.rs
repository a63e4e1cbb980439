use edgeproof::cases::CaseFacts;
use edgeproof_fixtures::spec::{Level, Spec};
use edgeproof_reports::matrix::{
    Matrix, MatrixCase, MatrixMutant, MatrixSummary, MutantStatus, SCHEMA, Scope,
};
use edgeproof_reports::{CaseLevel, Outcome};

use super::expected;
use super::result::{CaseResult, CaseResults, MutantResult};
use crate::mutant::Mutant;

/// Matrix without mutants.
pub(crate) fn empty_matrix(spec: &Spec, scope: Scope, cases: &[CaseFacts]) -> Matrix {
    Matrix {
        schema: SCHEMA.into(),
        version: env!("CARGO_PKG_VERSION").into(),
        spec: spec.version().to_string(),
        digest: spec.digest().into(),
        scope,
        duration_ms: 0,
        summary: MatrixSummary::default(),
        problems: Vec::new(),
        accuracy: Vec::new(),
        cases: cases
            .iter()
            .map(|case| MatrixCase {
                id: case.id.clone(),
                level: case.level,
                rows: case.rows.clone(),
                kills: 0,
                exempt: exemption(case).or_else(|| expected::not_expressible(spec.version(), &case.id)),
            })
            .collect(),
        mutants: Vec::new(),
    }
}

/// Reason why a case cannot kill a mutant, if there is one.
fn exemption(case: &CaseFacts) -> Option<String> {
    (case.level == CaseLevel::Open).then(|| "observes an open point and judges nothing".into())
}

/// Judges a mutant. `reference`: results of the cases without a mutation; without one, no observation differs.
pub(crate) fn mutant(
    mutant: &Mutant,
    result: &MutantResult,
    cases: &[CaseFacts],
    reference: &CaseResults,
) -> MatrixMutant {
    let mut judged = MatrixMutant { finding: result.is_finding, ..unplayed(mutant) };
    let mut is_noticed = false;
    for case in cases {
        let Some(played) = result.cases.get(&case.id) else {
            judged.cells.push(' ');
            continue;
        };
        let right = reference.get(&case.id);
        let own = case.rows.contains(&mutant.row);
        if own && kills(mutant, result.despite_finding.get(&case.id).unwrap_or(played)) {
            judged.killers.push(case.id.clone());
        }
        let cell = match played.outcome {
            Outcome::Fail => 'x',
            Outcome::Warn => 'w',
            Outcome::NotRun => '-',
            _ if right.is_some_and(|right| played.observations != right.observations) => {
                is_noticed |= own;
                'o'
            }
            _ => '·',
        };
        judged.cells.push(if own { cell.to_ascii_uppercase() } else { cell });
    }
    judged.status = match mutant.level {
        _ if !judged.killers.is_empty() => MutantStatus::Killed,
        Level::Open if is_noticed => MutantStatus::Noticed,
        _ => MutantStatus::Survived,
    };
    judged
}

fn kills(mutant: &Mutant, result: &CaseResult) -> bool {
    match result.outcome {
        Outcome::Fail => true,
        Outcome::Warn => mutant.level == Level::Should,
        _ => false,
    }
}

/// Entry of a mutant that no case ran against.
pub(crate) fn unplayed(mutant: &Mutant) -> MatrixMutant {
    MatrixMutant {
        id: mutant.id.clone(),
        title: mutant.title.clone(),
        row: mutant.row.clone(),
        level: match mutant.level {
            Level::Must => CaseLevel::Must,
            Level::Should => CaseLevel::Should,
            Level::Open => CaseLevel::Open,
        },
        status: MutantStatus::Survived,
        finding: false,
        killers: Vec::new(),
        cells: String::new(),
    }
}

/// Problems of cases that do not pass without a mutation. One that is exempt need not apply.
pub(crate) fn reference_failures(reference: &CaseResults, cases: &[MatrixCase]) -> Vec<String> {
    let is_exempt = |id: &String| cases.iter().any(|case| case.id == *id && case.exempt.is_some());
    reference
        .iter()
        .filter(|(_, result)| !matches!(result.outcome, Outcome::Pass | Outcome::Observed))
        .filter(|(id, result)| result.outcome != Outcome::NotApplicable || !is_exempt(id))
        .map(|(id, result)| format!("{id}: {} without a mutation", result.outcome.label()))
        .collect()
}

/// Counts, and lists surviving mutants and cases that kill nothing.
pub(crate) fn conclude(matrix: &mut Matrix) {
    for case in &mut matrix.cases {
        case.kills = matrix.mutants.iter().filter(|mutant| mutant.killers.contains(&case.id)).count();
    }
    let Matrix { mutants, cases, .. } = &*matrix;
    let count = |is: &dyn Fn(&MatrixMutant) -> bool| mutants.iter().filter(|mutant| is(mutant)).count();
    let status = |status: MutantStatus| count(&|mutant| mutant.status == status);
    let is_must =
        |mutant: &MatrixMutant| mutant.level == CaseLevel::Must && mutant.status != MutantStatus::Equivalent;
    let equivalent = status(MutantStatus::Equivalent);
    let summary = MatrixSummary {
        mutants: mutants.len() - equivalent,
        must: count(&is_must),
        killed: status(MutantStatus::Killed),
        must_killed: count(&|mutant| is_must(mutant) && mutant.status == MutantStatus::Killed),
        found: count(&|mutant| mutant.finding),
        noticed: status(MutantStatus::Noticed),
        survived: status(MutantStatus::Survived),
        equivalent,
        cases: cases.len(),
        killers: cases.iter().filter(|case| case.kills > 0).count(),
        exempt: cases.iter().filter(|case| case.exempt.is_some()).count(),
        plays: matrix.summary.plays,
    };
    let survivors = mutants.iter().filter(|mutant| mutant.status == MutantStatus::Survived);
    let mut problems: Vec<String> = survivors
        .map(|mutant| format!("mutant {} survived: no case of {} detects it", mutant.id, mutant.row))
        .collect();
    for case in cases {
        match &case.exempt {
            None if case.kills == 0 => {
                problems.push(format!("case {} kills no mutant of its own rows", case.id));
            }
            Some(why) if case.kills > 0 => {
                problems.push(format!("case {} kills a mutant, although it is exempt: {why}", case.id));
            }
            _ => {}
        }
    }
    matrix.summary = summary;
    matrix.problems.extend(problems);
}
