//! Deviations × cases: who notices what, and whether the proof has holes.

use std::collections::BTreeMap;
use std::time::Instant;

use edgeproof_reports::matrix::{
    Matrix, MatrixCase, MatrixMutant, MatrixSummary, MutantStatus, SCHEMA, Scope,
};
use edgeproof_reports::{CaseReport, Outcome};
use futures_util::{StreamExt, TryStreamExt, stream};

use super::all::Deviations;
use super::judged::{blank, conclude, exempt, judged, not_right};
use super::sockets::{Side, World, WorldError};
use super::trace::{Traces, traces};
use super::{Deviation, How};
use edgeproof::cases::{Case, Play};
use edgeproof_edge::EdgeFaultHooks;

/// Played on every deviation of their side, whatever its row: plain conversations of each kind.
pub const CANARIES: [&str; 9] = [
    "sanity.first",
    "accept.exact-body",
    "refusal.401.revoked",
    "refusal.unknown.html",
    "method.put",
    "relay.body.compact",
    "verdict.sanity.first",
    "verdict.unauthorized.missing",
    "verdict.available",
];

/// Which deviations, which cases, how many at the same time.
#[derive(Debug, Clone)]
pub struct MatrixOptions {
    /// Which cases.
    pub scope: Scope,
    /// Deviations at the same time.
    pub jobs: usize,
    /// Told after each deviation how many are done, and of how many.
    pub progress: fn(usize, usize),
}

/// How a case ended on a deviation, and what it observed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ended {
    pub(super) outcome: Outcome,
    pub(super) saw: Vec<String>,
}

/// What came of one deviation.
pub(super) struct Line {
    /// Of the cases that were played on it.
    pub(super) ended: BTreeMap<String, Ended>,
    /// One finding about the whole run told of it, and what it concerns was not played.
    pub(super) found: bool,
    /// What the cases of the row that is broken would have said all the same.
    pub(super) in_spite: BTreeMap<String, Ended>,
}

/// Plays the deviations and judges the cases by them.
pub async fn matrix(world: &World, options: &MatrixOptions) -> Result<Matrix, WorldError> {
    let began = Instant::now();
    let cases: Vec<(Side, Case)> = Side::ALL
        .into_iter()
        .flat_map(|side| world.cases(side).into_iter().map(move |case| (side, case)))
        .collect();
    let Deviations { all, equivalent, without_sample } = Deviations::of(&world.pure.spec);
    let mut right: BTreeMap<String, Ended> = BTreeMap::new();
    for side in Side::ALL {
        right.extend(ended(&world.play(side, &world.cases(side), None).await?.reports));
    }
    let traces = match options.scope {
        Scope::Gate => None,
        // A case by itself mostly waits.
        Scope::Full => Some(traces(world, &over_sockets(&cases), options.jobs * 2).await?),
    };
    let plays = all.iter().enumerate().map(|(place, deviation)| {
        let (cases, traces) = (&cases, traces.as_ref());
        async move { play(world, deviation, cases, traces).await.map(|line| (place, line)) }
    });
    let mut done = 0;
    // In the order in which they end: some wait for long.
    let played = stream::iter(plays).buffer_unordered(options.jobs).inspect(|_| {
        done += 1;
        (options.progress)(done, all.len());
    });
    let mut lines: Vec<(usize, Line)> = played.try_collect().await?;
    lines.sort_by_key(|(place, _)| *place);
    let cases: Vec<Case> = cases.into_iter().map(|(_, case)| case).collect();
    let mut matrix = empty(world, options.scope, &cases);
    matrix.problems.extend(
        without_sample
            .iter()
            .map(|row| format!("{row}: nothing brings its answer about, so no deviation could be derived")),
    );
    matrix.problems.extend(not_right(&right));
    matrix.mutants = lines.iter().map(|(place, line)| judged(&all[*place], line, &cases, &right)).collect();
    let equivalent = equivalent
        .iter()
        .map(|deviation| MatrixMutant { status: MutantStatus::Equivalent, ..blank(deviation) });
    matrix.mutants.extend(equivalent);
    matrix.summary.plays = lines.iter().map(|(_, line)| line.ended.len()).sum();
    conclude(&mut matrix);
    matrix.duration_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    Ok(matrix)
}

/// One that knows its cases, and no deviation.
fn empty(world: &World, scope: Scope, cases: &[Case]) -> Matrix {
    Matrix {
        schema: SCHEMA.into(),
        version: env!("CARGO_PKG_VERSION").into(),
        spec: world.pure.spec.version().to_string(),
        digest: world.pure.spec.digest().into(),
        scope,
        duration_ms: 0,
        summary: MatrixSummary::default(),
        problems: Vec::new(),
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
        mutants: Vec::new(),
    }
}

/// Those that no decision alone can play.
fn over_sockets(cases: &[(Side, Case)]) -> Vec<(Side, Case)> {
    let steps = |(_, case): &&(Side, Case)| matches!(case.play, Play::EdgeSteps(_) | Play::ServiceSteps(_));
    cases.iter().filter(steps).cloned().collect()
}

/// Plays one deviation: without sockets where that comes to the same, and over sockets what is left.
async fn play(
    world: &World,
    deviation: &Deviation,
    cases: &[(Side, Case)],
    traces: Option<&Traces>,
) -> Result<Line, WorldError> {
    let pure = match &deviation.how {
        How::AtRow(at) => Some((at.as_ref() as &dyn EdgeFaultHooks, world.pure.reads_reasons(at.as_ref()))),
        // What does not deviate in an answer alone is found out over sockets.
        _ => None,
    };
    let reads_reasons = pure.is_none_or(|(_, reads)| reads);
    let mut line = Line { ended: BTreeMap::new(), found: !reads_reasons, in_spite: BTreeMap::new() };
    let mut left: BTreeMap<Side, Vec<Case>> = BTreeMap::new();
    for (side, case) in cases {
        if !deviation.is_of(*side) || !is_wanted(case, deviation, traces) {
            continue;
        }
        let played = pure.and_then(|(hooks, reads)| world.pure.play(case, hooks, reads));
        if let Some(played) = played {
            let saw = played.found.observations.into_iter().map(|(point, saw)| format!("{point}: {saw}"));
            line.ended.insert(case.id.clone(), Ended { outcome: played.outcome, saw: saw.collect() });
        } else if meets(case, deviation, traces) {
            left.entry(*side).or_default().push(case.clone());
        }
    }
    for (side, cases) in left {
        let ran = world.play(side, &cases, Some(&deviation.faults())).await?;
        line.found |= ran.exit_code == 3 && !ran.findings.is_empty();
        line.ended.extend(ended(&ran.reports));
    }
    if line.found {
        line.in_spite = play_in_spite(world, deviation, cases).await?;
    }
    Ok(line)
}

/// Plays the cases of the row that is broken where a run would not: what they say is what counts.
async fn play_in_spite(
    world: &World,
    deviation: &Deviation,
    cases: &[(Side, Case)],
) -> Result<BTreeMap<String, Ended>, WorldError> {
    let mut said = BTreeMap::new();
    for side in Side::ALL.into_iter().filter(|side| deviation.is_of(*side)) {
        let own = |(of, case): &&(Side, Case)| *of == side && case.rows.contains(&deviation.row);
        let own: Vec<Case> = cases.iter().filter(own).map(|(_, case)| case.clone()).collect();
        if !own.is_empty() {
            let ran = world.play_in_spite(side, &own, &deviation.faults()).await?;
            said.extend(ended(&ran.reports));
        }
    }
    Ok(said)
}

/// In the full matrix all cases, in the gate those of the row that is broken, and the canaries.
fn is_wanted(case: &Case, deviation: &Deviation, traces: Option<&Traces>) -> bool {
    traces.is_some() || case.rows.contains(&deviation.row) || CANARIES.contains(&case.id.as_str())
}

/// Whether the answer that deviates is among those that a case brings about. A behaviour may be met by any.
fn meets(case: &Case, deviation: &Deviation, traces: Option<&Traces>) -> bool {
    let row = match &deviation.how {
        How::AtRow(at) => &at.row.id,
        How::AtServiceRow(at) => &at.row.id,
        How::Behaviour(_) | How::ServiceBehaviour(_) => return true,
    };
    traces.is_none_or(|traces| traces.get(&case.id).is_some_and(|rows| rows.contains(row)))
}

fn ended(reports: &[CaseReport]) -> impl Iterator<Item = (String, Ended)> {
    reports.iter().map(|report| {
        let saw = report.observations.iter().map(|seen| format!("{}: {}", seen.point, seen.saw)).collect();
        (report.id.clone(), Ended { outcome: report.outcome, saw })
    })
}
