use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use edgeproof::cases::{Case, Edge};
use edgeproof_fixtures::spec::{Row, Spec, Stimulus, Table, Version};
use edgeproof_reports::{CaseReport, Outcome};
use rstest::rstest;

use super::runs::{catalog, play};

/// Each row has a snapshot, named by its id, with one case for each stimulus of the row.
#[rstest]
#[case::current(Version::Current)]
#[case::pre_seal(Version::PreSeal)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_of_edge_and_relay_match_their_snapshots(#[case] version: Version) {
    let spec = Arc::new(Spec::builtin(version));
    let before = (version != Version::Current).then(|| Spec::builtin(Version::Current));
    let cases = catalog(&spec);
    let rows: Vec<&Row> = spec
        .table(Table::Edge)
        .chain(spec.table(Table::Relay))
        // Of an older version only the rows that differ from today's.
        .filter(|row| before.as_ref().is_none_or(|current| current.row(&row.id) != Some(*row)))
        .collect();
    let shown: Vec<(&Row, Vec<&Case<Edge>>)> = rows.iter().map(|row| (*row, chosen(row, &cases))).collect();
    for (row, cases) in &shown {
        assert!(!cases.is_empty(), "no case shows {}", row.id);
    }
    let ids: BTreeSet<&str> =
        shown.iter().flat_map(|(_, cases)| cases).map(|case| case.id.as_str()).collect();
    let wanted = cases.iter().filter(|case| ids.contains(case.id.as_str())).cloned().collect();
    let played = play(&spec, wanted).await;

    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    if version != Version::Current {
        settings.set_snapshot_suffix(version.name());
    }
    for (row, cases) in shown {
        let reports: Vec<&CaseReport> =
            cases.iter().map(|case| played.iter().find(|report| report.id == case.id).unwrap()).collect();
        settings.bind(|| insta::assert_snapshot!(row.id.as_str(), wire(row, &reports)));
    }
}

#[test]
fn every_snapshot_has_its_row() {
    let specs: Vec<Spec> = Version::ALL.iter().map(|version| Spec::builtin(*version)).collect();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/integration/wire/snapshots");
    for file in std::fs::read_dir(folder).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        let Some(name) = name.strip_suffix(".snap") else { continue };
        let (row, version) = name.split_once('@').unwrap_or((name, Version::Current.name()));
        let spec = specs.iter().find(|spec| spec.version() == version).unwrap();
        assert!(spec.row(row).is_some(), "{name}");
    }
}

/// The first case of each stimulus, in plan order. For a relay row also the case that scripts the row.
fn chosen<'c>(row: &Row, cases: &'c [Case<Edge>]) -> Vec<&'c Case<Edge>> {
    let proving = || cases.iter().filter(|case| case.rows.contains(&row.id) && case.id != "sanity.first");
    let by = |stimulus: Stimulus| proving().find(|case| case.stimuli.contains(&stimulus));
    let scripted = (row.table == Table::Relay).then_some(&Stimulus::Scripted);
    let mut chosen: Vec<&Case<Edge>> = Vec::new();
    for case in scripted.into_iter().chain(&row.stimuli).filter_map(|stimulus| by(*stimulus)) {
        if !chosen.iter().any(|other| other.id == case.id) {
            chosen.push(case);
        }
    }
    chosen
}

/// The row, then the distinct exchanges on both hops with their cases.
fn wire(row: &Row, reports: &[&CaseReport]) -> String {
    let mut shown: Vec<(String, Vec<&CaseReport>)> = Vec::new();
    for report in reports {
        assert_eq!(report.outcome, Outcome::Pass, "{} {}", report.id, report.because);
        let wire = exchanges(report);
        match shown.iter_mut().find(|(other, _)| *other == wire) {
            Some((_, reports)) => reports.push(report),
            None => shown.push((wire, vec![report])),
        }
    }
    let mut text = format!("{} · section {} · {}\n", row.id, row.section, row.level.name());
    for (wire, reports) in shown {
        text.push('\n');
        for report in reports {
            let _ = writeln!(text, "{}: {}", report.id, report.title);
        }
        text.push_str(&wire);
    }
    text
}

fn exchanges(report: &CaseReport) -> String {
    let mut text = String::new();
    for exchange in &report.exchanges {
        let _ = writeln!(text, "  {}", exchange.hop.name());
        prefixed(&mut text, "    > ", &exchange.request);
        prefixed(&mut text, "    < ", &exchange.response);
    }
    text
}

fn prefixed(text: &mut String, prefix: &str, message: &str) {
    for line in message.lines() {
        let _ = writeln!(text, "{}", format!("{prefix}{}", steady(line)).trim_end());
    }
}

/// The line without text that differs between runs, and shortened.
fn steady(line: &str) -> String {
    if line.starts_with("date: ") {
        return "date: DATE".to_owned();
    }
    if let Some((begin, _)) = line.char_indices().nth(160) {
        let end = line.rfind('…').unwrap_or(line.len());
        return format!("{} … {}", &line[..begin], &line[end..]);
    }
    let mut line = line.to_owned();
    for (before, length, shown) in
        [("127.0.0.1:", None, "PORT"), ("localhost:", None, "PORT"), ("q000", Some(4), "MARKER")]
    {
        while let Some(at) =
            line.find(before).filter(|at| !line[*at..].starts_with(&format!("{before}{shown}")))
        {
            let from = if length.is_some() { at } else { at + before.len() };
            let till = match length {
                Some(length) => at + before.len() + length,
                None => from + line[from..].bytes().take_while(u8::is_ascii_digit).count(),
            };
            line.replace_range(from..till, shown);
        }
    }
    // `[license valid 1a2b3c]`: the digits are a digest of this run's secret.
    match (line.find('['), line.find(']')) {
        (Some(open), Some(close))
            if ["[license ", "[read-token "].iter().any(|label| line[open..].starts_with(label)) =>
        {
            line.replace_range(close - 6..close, "DIGITS");
            line
        }
        _ => line,
    }
}
