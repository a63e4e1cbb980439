use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use edgeproof_fixtures::spec::{Row, Spec, Table};
use edgeproof_mock::ReplyShape;
use edgeproof_reports::{CaseReport, Outcome};

use super::error::SnapshotError;
use super::row_text::Occurrence;
use crate::cases::{self, Case, Catalog, Edge};
use crate::run::{RunOptions, run_embedded};

/// Timeout of a case. A busy machine must not change a snapshot.
const CASE_TIMEOUT: Duration = Duration::from_secs(30);

/// The occurrences of each row of the edge's table: one case for each stimulus, on the reference edge.
pub(super) async fn play(spec: &Arc<Spec>) -> Result<BTreeMap<String, Vec<Occurrence>>, SnapshotError> {
    let shape = ReplyShape::from_profile(spec.profile());
    let cases = cases::edge(Catalog::new(spec, &shape, false));
    let rows: Vec<(&Row, Vec<String>)> =
        spec.table(Table::Edge).map(|row| (row, chosen(row, &cases))).collect();
    let ids: BTreeSet<&String> = rows.iter().flat_map(|(_, ids)| ids).collect();
    let wanted: Vec<_> = cases.iter().filter(|case| ids.contains(&case.id)).cloned().collect();
    if wanted.is_empty() {
        return Ok(BTreeMap::new());
    }
    let options = RunOptions { case_timeout: CASE_TIMEOUT, ..RunOptions::default() };
    let played = run_embedded(spec, wanted, options).await?.cases;
    let scenes_of = |row: &Row, ids: &[String]| -> Result<Vec<Occurrence>, SnapshotError> {
        played
            .iter()
            .filter(|report| ids.contains(&report.id))
            .map(|report| occurrence(row, report))
            .collect()
    };
    rows.iter().map(|(row, ids)| Ok((row.id.clone(), scenes_of(row, ids)?))).collect()
}

/// The first case of each stimulus, in plan order.
fn chosen(row: &Row, cases: &[Case<Edge>]) -> Vec<String> {
    let proving = || cases.iter().filter(|case| case.rows.contains(&row.id));
    let first = |stimulus| proving().find(|case| case.stimuli.contains(stimulus)).map(|case| case.id.clone());
    row.stimuli.iter().filter_map(first).collect()
}

fn occurrence(row: &Row, report: &CaseReport) -> Result<Occurrence, SnapshotError> {
    if report.outcome != Outcome::Pass {
        let (row, case, because) = (row.id.clone(), report.id.clone(), report.because.clone());
        return Err(SnapshotError::Failed { row, case, because });
    }
    Ok(Occurrence { title: format!("{}: {}", report.id, report.title), exchanges: report.exchanges.clone() })
}
