use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::model::{MatrixPoint, MatrixRow, MatrixRun, MatrixSection, RowOutcome, RunMatrix, SCHEMA};
use crate::comparison::ComparisonError;
use crate::model::{CaseReport, Outcome, Report, ReportedSpec, Summary, Titles, by_point, natural, titled};

/// Outcomes by weight. A row has the heaviest one of its cases.
const HEAVIEST: [Outcome; 7] = [
    Outcome::Fail,
    Outcome::Known,
    Outcome::Warn,
    Outcome::NotRun,
    Outcome::Pass,
    Outcome::Observed,
    Outcome::NotApplicable,
];

/// A report with its names.
#[derive(Debug, Clone, Copy)]
pub struct NamedRun<'a> {
    /// Name of the column.
    pub name: &'a str,
    /// Name of the report.
    pub file: &'a str,
    /// The report.
    pub report: &'a Report,
}

impl RunMatrix {
    /// Puts runs of one interface and one part side by side. `titles`: of the sections.
    pub fn new(runs: &[NamedRun<'_>], titles: &Titles) -> Result<Self, ComparisonError> {
        if let [first, others @ ..] = runs {
            others.iter().try_for_each(|other| check(first, other))?;
        }
        Ok(Self {
            schema: SCHEMA.to_owned(),
            runs: runs.iter().map(MatrixRun::of).collect(),
            sections: sections(runs, titles),
            observations: observations(runs),
        })
    }
}

impl MatrixRun {
    fn of(NamedRun { name, file, report }: &NamedRun<'_>) -> Self {
        Self {
            name: (*name).to_owned(),
            report: (*file).to_owned(),
            tool: report.tool.clone(),
            spec: report.spec.clone(),
            target: report.target.clone(),
            started: report.started.clone(),
            exit_code: report.exit_code,
            summary: report.summary,
        }
    }
}

fn check(first: &NamedRun<'_>, other: &NamedRun<'_>) -> Result<(), ComparisonError> {
    let [old, new] = [first, other].map(|run| run.file.to_owned());
    let [spec, other_spec] = [first, other].map(|run| &run.report.spec);
    if !spec.is_comparable(other_spec) {
        let [old_spec, new_spec] = [spec, other_spec].map(ReportedSpec::short);
        return Err(ComparisonError::OtherInterface { old, new, old_spec, new_spec });
    }
    let known: BTreeSet<&str> = first.report.cases.iter().map(|case| case.id.as_str()).collect();
    if !other.report.cases.iter().any(|case| known.contains(case.id.as_str())) {
        return Err(ComparisonError::NothingInCommon { old, new });
    }
    Ok(())
}

/// The rows that a run has a case of, by section, 2 before 7.2 before 7.10.
fn sections(runs: &[NamedRun<'_>], titles: &Titles) -> Vec<MatrixSection> {
    let played: Vec<HashMap<&str, Summary>> = runs.iter().map(|run| by_row(&run.report.cases)).collect();
    let mut sections: Vec<MatrixSection> = Vec::new();
    for (id, number) in rows(runs) {
        let outcome = |cases: &Summary| {
            let heaviest = HEAVIEST.into_iter().find(|outcome| cases.get(*outcome) > 0);
            RowOutcome { outcome: heaviest.unwrap_or_default(), cases: *cases }
        };
        let runs = played.iter().map(|run| run.get(id).map(outcome)).collect();
        let row = MatrixRow { id: id.to_owned(), runs };
        match sections.iter_mut().find(|section| section.number == number) {
            Some(section) => section.rows.push(row),
            None => sections.push(MatrixSection {
                number: number.to_owned(),
                heading: titled(number, titles),
                rows: vec![row],
            }),
        }
    }
    sections.sort_by(|a, b| natural(&a.number, &b.number));
    sections
}

/// Each row with its section, in the order of the cases. A case is in the section of its first row.
fn rows<'a>(runs: &[NamedRun<'a>]) -> Vec<(&'a str, &'a str)> {
    let cases = || runs.iter().flat_map(|run| &run.report.cases);
    let mut sections: HashMap<&str, &str> = HashMap::new();
    for case in cases() {
        if let Some(row) = case.rows.first() {
            sections.entry(row).or_insert(&case.section);
        }
    }
    let mut known = BTreeSet::new();
    let all = cases().flat_map(|case| case.rows.iter().map(move |row| (row.as_str(), case)));
    all.filter(|(row, _)| known.insert(*row))
        .map(|(row, case)| (row, sections.get(row).copied().unwrap_or(&case.section)))
        .collect()
}

/// Counts of the cases of each row.
fn by_row(cases: &[CaseReport]) -> HashMap<&str, Summary> {
    let mut rows: HashMap<&str, Summary> = HashMap::new();
    for case in cases {
        // A row that a case names twice counts once.
        for row in case.rows.iter().collect::<BTreeSet<_>>() {
            rows.entry(row).or_default().count(case.outcome);
        }
    }
    rows
}

/// The points that several runs observed, with different results. White space of JSON is no difference between edges.
fn observations(runs: &[NamedRun<'_>]) -> Vec<MatrixPoint> {
    let observed: Vec<BTreeMap<&str, BTreeSet<String>>> = runs
        .iter()
        .map(|run| {
            let points = by_point(&run.report.observations).into_iter();
            points.map(|(point, texts)| (point, texts.into_iter().map(compact).collect())).collect()
        })
        .collect();
    let points: BTreeSet<&str> = observed.iter().flat_map(|run| run.keys().copied()).collect();
    let of = |point: &str| {
        let runs = observed.iter().map(|run| run.get(point).into_iter().flatten());
        runs.map(|texts| texts.cloned().collect()).collect()
    };
    let differs = |point: &&str| {
        let values: BTreeSet<_> = observed.iter().filter_map(|run| run.get(*point)).collect();
        values.len() > 1
    };
    points
        .into_iter()
        .filter(differs)
        .map(|point| MatrixPoint { point: point.to_owned(), runs: of(point) })
        .collect()
}

/// The text without white space between the tokens of its JSON objects.
fn compact(text: &str) -> String {
    let (mut depth, mut in_string, mut is_escaped) = (0_usize, false, false);
    let is_kept = |sign: &char| {
        match sign {
            _ if is_escaped => is_escaped = false,
            '\\' if in_string => is_escaped = true,
            '"' if depth > 0 => in_string = !in_string,
            '{' if !in_string => depth += 1,
            '}' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
        in_string || depth == 0 || !sign.is_ascii_whitespace()
    };
    text.chars().filter(is_kept).collect()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::json(r#"200 {"ok": true, "a": [1, 2]}"#, r#"200 {"ok":true,"a":[1,2]}"#)]
    #[case::text(r#"400 a "b c" d"#, r#"400 a "b c" d"#)]
    #[case::strings(r#"{"a b": "c  } \" d", "e": {} } then text"#, r#"{"a b":"c  } \" d","e":{}} then text"#)]
    #[case::open_end(r#"{"a": "b c"#, r#"{"a":"b c"#)]
    fn only_white_space_between_tokens_is_left_out(#[case] text: &str, #[case] expected: &str) {
        assert_eq!(compact(text), expected);
    }
}
