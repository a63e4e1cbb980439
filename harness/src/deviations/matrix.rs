//! Deviations × cases: who notices what, and whether the proof has holes.

use std::collections::BTreeMap;
use std::time::Instant;

use fixtures::spec::Level;
use futures_util::{StreamExt, TryStreamExt, stream};
use reports::matrix::{Fate, Matrix, MatrixCase, MatrixLine, MatrixSummary, SCHEMA, Scope};
use reports::{CaseReport, Outcome};

use super::all::Deviations;
use super::exempt::{exempt, stale};
use super::sockets::{World, WorldError};
use super::trace::{Traces, traces};
use super::{Deviation, How};
use crate::cases::{Case, Play};
use crate::mock::edge::Quirk;

/// Played on every deviation, whatever its row: plain conversations of each kind.
pub const CANARIES: [&str; 6] = [
    "sanity.first",
    "accept.exact-body",
    "refusal.401.revoked",
    "refusal.unknown.html",
    "method.put",
    "relay.body.compact",
];

/// Which deviations, which cases, how many at the same time.
#[derive(Debug, Clone)]
pub struct MatrixOptions {
    /// Which cases.
    pub scope: Scope,
    /// Deviations at the same time.
    pub jobs: usize,
}

/// How a case ended on a deviation, and what it observed.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Ended {
    outcome: Outcome,
    saw: Vec<String>,
}

/// What came of one deviation.
struct Line {
    ended: BTreeMap<String, Ended>,
    found: bool,
}

/// Plays the deviations and judges the cases by them.
pub async fn matrix(world: &World, options: &MatrixOptions) -> Result<Matrix, WorldError> {
    let began = Instant::now();
    let cases = world.cases();
    let Deviations { all, equivalent, without_sample } = Deviations::of(&world.pure.spec);
    let right: BTreeMap<String, Ended> = ended(&world.play(&cases, None).await?.reports).collect();
    let steps: Vec<Case> = cases.iter().filter(|case| matches!(case.play, Play::Steps(_))).cloned().collect();
    let traces = match options.scope {
        Scope::Gate => None,
        // A case by itself mostly waits.
        Scope::Full => Some(traces(world, &steps, options.jobs * 2).await?),
    };
    let plays = all.iter().map(|deviation| {
        let (cases, traces) = (&cases, traces.as_ref());
        async move { play(world, deviation, cases, traces).await.map(|line| (deviation, line)) }
    });
    let lines: Vec<(&Deviation, Line)> = stream::iter(plays).buffered(options.jobs).try_collect().await?;
    let mut matrix = Matrix {
        schema: SCHEMA.into(),
        version: env!("CARGO_PKG_VERSION").into(),
        spec: world.pure.spec.version().to_string(),
        digest: world.pure.spec.digest().into(),
        scope: options.scope,
        duration_ms: 0,
        summary: MatrixSummary::default(),
        problems: without_sample
            .iter()
            .map(|row| format!("{row}: nothing brings its answer about, so no deviation could be derived"))
            .collect(),
        cases: cases
            .iter()
            .map(|case| MatrixCase {
                id: case.id.clone(),
                level: case.level,
                rows: case.rows.clone(),
                kills: 0,
                exempt: exempt(case),
            })
            .collect(),
        deviations: lines.iter().map(|(deviation, line)| judged(deviation, line, &cases, &right)).collect(),
    };
    matrix.summary.plays = lines.iter().map(|(_, line)| line.ended.len()).sum();
    matrix
        .deviations
        .extend(equivalent.iter().map(|deviation| MatrixLine { fate: Fate::Equivalent, ..blank(deviation) }));
    matrix.problems.extend(not_right(&right));
    conclude(&mut matrix, &cases);
    matrix.duration_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    Ok(matrix)
}

async fn play(
    world: &World,
    deviation: &Deviation,
    cases: &[Case],
    traces: Option<&Traces>,
) -> Result<Line, WorldError> {
    let wanted = |case: &&Case| {
        traces.is_some() || case.rows.contains(&deviation.row) || CANARIES.contains(&case.id.as_str())
    };
    let reads_reasons = match &deviation.how {
        How::AtRow(at) => world.pure.reads_reasons(at.as_ref()),
        // Found out over sockets.
        How::Behaviour(_) => true,
    };
    let mut line = Line { ended: BTreeMap::new(), found: !reads_reasons };
    let mut over_sockets = Vec::new();
    for case in cases.iter().filter(wanted) {
        let How::AtRow(at) = &deviation.how else {
            over_sockets.push(case.clone());
            continue;
        };
        let quirk: &dyn Quirk = at.as_ref();
        if let Some(played) = world.pure.play(case, quirk, reads_reasons) {
            let saw = played.found.observations.into_iter().map(|(point, saw)| format!("{point}: {saw}"));
            line.ended.insert(case.id.clone(), Ended { outcome: played.outcome, saw: saw.collect() });
        } else if traces
            .is_none_or(|traces| traces.get(&case.id).is_some_and(|rows| rows.contains(&at.row.id)))
        {
            // All others never meet the answer that deviates.
            over_sockets.push(case.clone());
        }
    }
    if !over_sockets.is_empty() {
        let ran = world.play(&over_sockets, Some(&deviation.twist())).await?;
        line.found |= ran.exit_code == 3 && !ran.findings.is_empty();
        line.ended.extend(ended(&ran.reports));
    }
    Ok(line)
}

fn ended(reports: &[CaseReport]) -> impl Iterator<Item = (String, Ended)> {
    reports.iter().map(|report| {
        let saw = report.observations.iter().map(|seen| format!("{}: {}", seen.point, seen.saw)).collect();
        (report.id.clone(), Ended { outcome: report.outcome, saw })
    })
}

/// What became of a deviation.
fn judged(deviation: &Deviation, line: &Line, cases: &[Case], right: &BTreeMap<String, Ended>) -> MatrixLine {
    let mut judged = blank(deviation);
    let mut noticed = false;
    for case in cases {
        let own = case.rows.contains(&deviation.row);
        let (Some(ended), Some(right)) = (line.ended.get(&case.id), right.get(&case.id)) else {
            judged.cells.push(' ');
            continue;
        };
        let kills = match ended.outcome {
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
        _ if line.found => Fate::Found,
        _ => Fate::Survived,
    };
    judged
}

fn blank(deviation: &Deviation) -> MatrixLine {
    MatrixLine {
        id: deviation.id.clone(),
        title: deviation.title.clone(),
        row: deviation.row.clone(),
        level: match deviation.level {
            Level::Must => reports::Level::Must,
            Level::Should => reports::Level::Should,
            Level::Open => reports::Level::Open,
        },
        fate: Fate::Survived,
        killers: Vec::new(),
        cells: String::new(),
    }
}

/// On the right edge, every case has to be right.
fn not_right(right: &BTreeMap<String, Ended>) -> Vec<String> {
    let fine = [Outcome::Pass, Outcome::Observed];
    right
        .iter()
        .filter(|(_, ended)| !fine.contains(&ended.outcome))
        .map(|(id, ended)| format!("{id}: {} on the edge without a deviation", ended.outcome.words()))
        .collect()
}

/// Counts, and finds the holes.
fn conclude(matrix: &mut Matrix, cases: &[Case]) {
    for case in &mut matrix.cases {
        case.kills = matrix.deviations.iter().filter(|line| line.killers.contains(&case.id)).count();
    }
    let count = |fate: Fate| matrix.deviations.iter().filter(|line| line.fate == fate).count();
    let must = |line: &&MatrixLine| line.level == reports::Level::Must && line.fate != Fate::Equivalent;
    let equivalent = count(Fate::Equivalent);
    matrix.summary = MatrixSummary {
        deviations: matrix.deviations.len() - equivalent,
        must: matrix.deviations.iter().filter(must).count(),
        killed: count(Fate::Killed),
        must_killed: matrix.deviations.iter().filter(must).filter(|line| line.fate == Fate::Killed).count(),
        found: count(Fate::Found),
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
                problems.push(format!("{}: it is listed as one that kills nothing, and does", case.id));
            }
            _ => {}
        }
    }
    problems
        .extend(stale(cases).iter().map(|id| format!("{id}: listed as one that kills nothing, and no case")));
    matrix.problems.extend(problems);
}
