use std::collections::BTreeMap;

use edgeproof_fixtures::spec::Level;
use edgeproof_reports::Outcome;
use edgeproof_reports::matrix::{Matrix, MatrixMutant, MatrixSummary, MutantStatus};

use super::Deviation;
use super::matrix::{Ended, Line};
use edgeproof::cases::Case;

/// Why a case can kill nothing, if it cannot.
pub(super) fn exempt(case: &Case) -> Option<String> {
    (case.level == edgeproof_reports::CaseLevel::Open)
        .then(|| "it observes an open point and judges nothing".into())
}

/// What became of a deviation.
pub(super) fn judged(
    deviation: &Deviation,
    line: &Line,
    cases: &[Case],
    right: &BTreeMap<String, Ended>,
) -> MatrixMutant {
    let mut judged = blank(deviation);
    let mut noticed = false;
    for case in cases {
        let own = case.rows.contains(&deviation.row);
        let (Some(ended), Some(right)) = (line.ended.get(&case.id), right.get(&case.id)) else {
            judged.cells.push(' ');
            continue;
        };
        let says = line.in_spite.get(&case.id).unwrap_or(ended);
        let kills = match says.outcome {
            Outcome::Fail => true,
            Outcome::Warn => deviation.level == Level::Should,
            _ => false,
        };
        if own && kills {
            judged.killers.push(case.id.clone());
        }
        let cell = match ended.outcome {
            Outcome::Fail => 'x',
            Outcome::Warn => 'w',
            Outcome::NotRun => '-',
            _ if ended.saw != right.saw => {
                noticed |= own;
                'o'
            }
            _ => '·',
        };
        judged.cells.push(if own { cell.to_ascii_uppercase() } else { cell });
    }
    judged.status = match deviation.level {
        _ if !judged.killers.is_empty() => MutantStatus::Killed,
        Level::Open if noticed => MutantStatus::Noticed,
        _ => MutantStatus::Survived,
    };
    judged.finding = line.found;
    judged
}

/// The line of a deviation that nobody met.
pub(super) fn blank(deviation: &Deviation) -> MatrixMutant {
    MatrixMutant {
        id: deviation.id.clone(),
        title: deviation.title.clone(),
        row: deviation.row.clone(),
        level: match deviation.level {
            Level::Must => edgeproof_reports::CaseLevel::Must,
            Level::Should => edgeproof_reports::CaseLevel::Should,
            Level::Open => edgeproof_reports::CaseLevel::Open,
        },
        status: MutantStatus::Survived,
        finding: false,
        killers: Vec::new(),
        cells: String::new(),
    }
}

/// Where nothing deviates, every case has to be right.
pub(super) fn not_right(right: &BTreeMap<String, Ended>) -> Vec<String> {
    let fine = [Outcome::Pass, Outcome::Observed];
    right
        .iter()
        .filter(|(_, ended)| !fine.contains(&ended.outcome))
        .map(|(id, ended)| format!("{id}: {} without a deviation", ended.outcome.label()))
        .collect()
}

/// Counts, and finds the holes.
pub(super) fn conclude(matrix: &mut Matrix) {
    for case in &mut matrix.cases {
        case.kills = matrix.mutants.iter().filter(|line| line.killers.contains(&case.id)).count();
    }
    let count = |status: MutantStatus| matrix.mutants.iter().filter(|line| line.status == status).count();
    let must = |line: &&MatrixMutant| {
        line.level == edgeproof_reports::CaseLevel::Must && line.status != MutantStatus::Equivalent
    };
    let equivalent = count(MutantStatus::Equivalent);
    matrix.summary = MatrixSummary {
        mutants: matrix.mutants.len() - equivalent,
        must: matrix.mutants.iter().filter(must).count(),
        killed: count(MutantStatus::Killed),
        must_killed: matrix
            .mutants
            .iter()
            .filter(must)
            .filter(|line| line.status == MutantStatus::Killed)
            .count(),
        found: matrix.mutants.iter().filter(|line| line.finding).count(),
        noticed: count(MutantStatus::Noticed),
        survived: count(MutantStatus::Survived),
        equivalent,
        cases: matrix.cases.len(),
        killers: matrix.cases.iter().filter(|case| case.kills > 0).count(),
        exempt: matrix.cases.iter().filter(|case| case.exempt.is_some()).count(),
        plays: matrix.summary.plays,
    };
    let survivors = matrix.mutants.iter().filter(|line| line.status == MutantStatus::Survived);
    let mut problems: Vec<String> =
        survivors.map(|line| format!("{}: no case of {} notices", line.id, line.row)).collect();
    for case in &matrix.cases {
        match &case.exempt {
            None if case.kills == 0 => {
                problems.push(format!("{}: no deviation of a row of its own makes it fail", case.id));
            }
            Some(_) if case.kills > 0 => {
                problems.push(format!("{}: it is taken for one that kills nothing, and kills", case.id));
            }
            _ => {}
        }
    }
    matrix.problems.extend(problems);
}
