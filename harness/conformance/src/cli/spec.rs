use std::collections::BTreeMap;
use std::fmt::Write as _;

use clap::{Args, Subcommand};
use edgeproof_cli::{Failure, write_stdout};
use edgeproof_fixtures::spec::{Fact, Row, Spec, SpecChoice, Version};
use edgeproof_mock::ReplyShape;

use super::explain::{all_cases, required};
use super::spec_diff::{self, DiffArgs};
use super::spec_snapshot::{self, SnapshotArgs};
use crate::cases::{self, CaseFacts, Catalog};
use crate::nearest::{nearest_ids, similar_text};

#[derive(Debug, Args)]
pub(super) struct SpecArgs {
    #[command(subcommand)]
    command: SpecCommand,
}

#[derive(Debug, Subcommand)]
enum SpecCommand {
    /// List all rows
    List {
        /// Print JSON, with the stimuli and cases of each row
        #[arg(long)]
        json: bool,
        /// The interface: current, pre-seal, a folder of tables, or an overlay file
        #[arg(long, value_name = "SPEC", default_value_t)]
        spec: SpecChoice,
    },
    /// Show a row, an open point of the reference profile, or a case with its rows
    Show {
        /// Id of the row, open point or case, such as relay.401.bad-signature
        id: String,
        /// The interface: current, pre-seal, a folder of tables, or an overlay file
        #[arg(long, value_name = "SPEC", default_value_t)]
        spec: SpecChoice,
    },
    /// Compare two versions of the interface, and play the old parts against the new rows
    Diff(DiffArgs),
    /// Write the wire answers of every row to a folder, or compare them with one
    Snapshot(SnapshotArgs),
}

/// `edgeproof spec`.
pub(super) fn main(args: &SpecArgs) -> Result<u8, Failure> {
    let text = match &args.command {
        SpecCommand::List { json, spec } => {
            let spec = spec.load()?;
            if *json { list_json(&spec)? } else { list(&spec) }
        }
        SpecCommand::Show { id, spec } => show(&spec.load()?, id)?,
        SpecCommand::Diff(args) => return spec_diff::main(args),
        SpecCommand::Snapshot(args) => return spec_snapshot::main(args),
    };
    write_stdout(text.as_bytes())?;
    Ok(0)
}

/// Ids of the cases for each row.
fn cases_by_row(spec: &Spec) -> BTreeMap<String, Vec<String>> {
    let shape = ReplyShape::from_profile(spec.profile());
    let mut by_row: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for case in cases::all(Catalog::new(spec, &shape, false)) {
        let CaseFacts { id, rows, .. } = case.facts();
        for row in rows {
            by_row.entry(row.clone()).or_default().push(id.clone());
        }
    }
    by_row
}

fn list_json(spec: &Spec) -> Result<String, Failure> {
    let by_row = cases_by_row(spec);
    let none = Vec::new();
    let rows: Vec<_> = spec.rows().iter().map(|row| row.view(by_row.get(&row.id).unwrap_or(&none))).collect();
    let json = serde_json::to_string_pretty(&rows);
    json.map(|json| json + "\n").map_err(|why| Failure::of(&why, "this is a bug in edgeproof: report it"))
}

fn list(spec: &Spec) -> String {
    let by_row = cases_by_row(spec);
    let width = spec.rows().iter().map(|row| row.id.len()).max().unwrap_or(0);
    let mut text = String::new();
    for row in spec.rows() {
        let proven = match (by_row.get(&row.id).map_or(0, Vec::len), &row.excluded) {
            (0, Some(why)) => format!("excluded: {why}"),
            (1, _) => "1 case".into(),
            (count, _) => format!("{count} cases"),
        };
        let section = format!("§{}", row.section);
        _ = writeln!(
            text,
            "{:width$}  {section:5}  {:6}  {:9}  {proven}",
            row.id,
            row.level.name(),
            row.basis.name()
        );
    }
    text
}

fn show(spec: &Spec, id: &str) -> Result<String, Failure> {
    if let Some(row) = spec.row(id) {
        return Ok(show_row(spec, row));
    }
    if let Some(point) = spec.profile().point(id) {
        return Ok(format!(
            "{}\n  open point of section {}\n  {}\n  mock: {}\n",
            point.id, point.section, point.note, point.value
        ));
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

fn show_row(spec: &Spec, row: &Row) -> String {
    let title = spec.section_title(&row.section).unwrap_or_default();
    let standard = row.standard.as_ref().map_or(String::new(), |standard| format!(", {standard}"));
    let mut text = format!(
        "{}\n  section {} {title}\n  {} ({}{standard})\n",
        row.id,
        row.section,
        row.level.name(),
        row.basis.name()
    );
    let mut line = |name: &str, value: String| _ = writeln!(text, "  {name}: {value}");
    if let Some(status) = row.status() {
        line("status", status.to_string());
    }
    if let Some(code) = row.code() {
        line("code", code.to_owned());
    }
    if let Some(body) = row.body() {
        line("body", body.to_string());
    }
    match &row.fact {
        Fact::Endpoint { methods, path, .. } => line("endpoint", format!("{} {path}", methods.join(", "))),
        Fact::Setting { name, values, .. } if values.is_empty() => line("setting", name.clone()),
        Fact::Setting { name, values, .. } => line("setting", format!("{name}: {}", values.join(", "))),
        Fact::Limit { value, unit } => {
            line("limit", value.map_or(unit.clone(), |value| format!("{value} {unit}")));
        }
        _ => {}
    }
    line("when", row.condition.clone());
    for stimulus in &row.stimuli {
        line("stimulus", format!("{} ({})", stimulus.name(), stimulus.meaning()));
    }
    if let Some(why) = &row.excluded {
        line("excluded", why.clone());
    }
    for case in cases_by_row(spec).get(&row.id).into_iter().flatten() {
        line("case", case.clone());
    }
    text
}
