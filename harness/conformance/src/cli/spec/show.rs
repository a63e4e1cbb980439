use std::fmt::Write as _;

use edgeproof_cli::Failure;
use edgeproof_fixtures::spec::{Fact, Row, Spec, Version};

use super::super::explain::{all_cases, required};
use super::authority::authority;
use super::row_cases::RowCases;
use crate::nearest::{nearest_ids, similar_text};
use crate::row_facts::row_facts;

/// A row, an open point, or a case with its rows.
pub(super) fn text(spec: &Spec, id: &str) -> Result<String, Failure> {
    if let Some(row) = spec.row(id) {
        return Ok(of_row(spec, row));
    }
    if let Some(point) = spec.profile().point(id) {
        let decides = |row: &&Row| matches!(&row.fact, Fact::Rule { point, .. } if point == id);
        let what = match spec.rows().iter().find(decides) {
            Some(row) => format!("point of section {}, decided by {}", point.section, row.id),
            None => format!("open point of section {}", point.section),
        };
        return Ok(format!("{}\n  {what}\n  {}\n  mock: {}\n", point.id, point.note, point.value));
    }
    let cases = all_cases(spec);
    if let Some(case) = cases.iter().map(|case| case.facts()).find(|case| case.id == id) {
        return Ok(required(spec, case));
    }
    let other = Version::ALL.iter().find(|version| Spec::builtin(**version).row(id).is_some());
    let advice = if let Some(version) = other {
        format!("the id exists in interface version {version}: add --spec {version}")
    } else {
        let rows = spec.rows().iter().map(|row| row.id.as_str());
        let points = spec.profile().points().map(|point| point.id.as_str());
        let cases = cases.iter().map(|case| case.facts().id.as_str());
        let similar = nearest_ids(id, rows.chain(points).chain(cases));
        format!("`edgeproof spec list` lists all ids{}", similar_text(&similar))
    };
    Err(Failure::usage(format!("cannot show {id:?}: no row, open point or case has this id"), advice))
}

fn of_row(spec: &Spec, row: &Row) -> String {
    let title = spec.section_title(&row.section).unwrap_or_default();
    let mut text = format!(
        "{}\n  section {} {title}\n  {} ({})\n",
        row.id,
        row.section,
        row.level.name(),
        authority(row)
    );
    let mut line = |name: &str, value: &str| _ = writeln!(text, "  {name}: {value}");
    for (name, value) in row_facts(row) {
        line(name, &value);
    }
    line("when", &row.condition);
    for stimulus in &row.stimuli {
        line("stimulus", &format!("{} ({})", stimulus.name(), stimulus.meaning()));
    }
    if let Some(why) = &row.excluded {
        line("excluded", why);
    }
    let cases = RowCases::of(spec);
    if let Some(since) = cases.since(&row.id) {
        line("since", &format!("edgeproof {since}"));
    }
    for case in cases.get(&row.id) {
        line("case", case);
    }
    text
}
