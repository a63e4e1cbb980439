use std::collections::BTreeMap;

use edgeproof_fixtures::spec::Level;
use edgeproof_reports::Outcome;
use edgeproof_reports::matrix::{Fate, Matrix, MatrixLine, MatrixSummary};

use super::Deviation;
use super::matrix::{Ended, Line};
use edgeproof::cases::Case;

/// Why a case can kill nothing, if it cannot.
pub(super) fn exempt(case: &Case) -> Option<String> {
    (case.level == edgeproof_reports::Level::Open)
        .then(|| "it observes an open point and judges nothing".into())
}

/// What became of a deviation.
pub(super) fn judged(
    deviation: &Deviation,
    line: &Line,
    cases: &[Case],
    right: &BTreeMap<String, Ended>,
) -> MatrixLine {
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
    judged.fate = match deviation.level {
        _ if !judged.killers.is_empty() => Fate::Killed,
        Level::Open if noticed => Fate::Noticed,
        _ => Fate::Survived,
    };
    judged.finding = line.found;
    judged
}

/// The line of a deviation that nobody met.
pub(super) fn blank(deviation: &Deviation) -> MatrixLine {
    MatrixLine {
        id: deviation.id.clone(),
        title: deviation.title.clone(),
        row: deviation.row.clone(),
        level: match deviation.level {
            Level::Must => edgeproof_reports::Level::Must,
            Level::Should => edgeproof_reports::Level::Should,
            Level::Open => edgeproof_reports::Level::Open,
        },
        fate: Fate::Survived,
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
        .map(|(id, ended)| format!("{id}: {} without a deviation", ended.outcome.words()))
        .collect()
}

/// Counts, and finds the holes.
pub(super) fn conclude(matrix: &mut Matrix) {
    for case in &mut matrix.cases {
        case.kills = matrix.deviations.iter().filter(|line| line.killers.contains(&case.id)).count();
    }
    let count = |fate: Fate| matrix.deviations.iter().filter(|line| line.fate == fate).count();
    let must =
        |line: &&MatrixLine| line.level == edgeproof_reports::Level::Must && line.fate != Fate::Equivalent;
    let equivalent = count(Fate::Equivalent);
    matrix.summary = MatrixSummary {
        deviations: matrix.deviations.len() - equivalent,
        must: matrix.deviations.iter().filter(must).count(),
        killed: count(Fate::Killed),
        must_killed: matrix.deviations.iter().filter(must).filter(|line| line.fate == Fate::Killed).count(),
        found: matrix.deviations.iter().filter(|line| line.finding).count(),
        noticed: count(Fate::Noticed),
        survived: count(Fate::Survived),
        equivalent,
        cases: matrix.cases.len(),
        killers: matrix.cases.iter().filter(|case| case.kills > 0).count(),
        exempt: matrix.cases.iter().filter(|case| case.exempt.is_some()).count(),
        plays: matrix.summary.plays,
    };
    let survivors = matrix.deviations.iter().filter(|line| line.fate == Fate::Survived);
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
