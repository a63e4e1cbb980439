use std::fmt::Write as _;

use edgeproof_fixtures::spec::{Fact, KnownCause, Row, Spec};
use edgeproof_reports::{CaseBasis, CaseLevel};

use crate::cases::{AnyCase, CaseFacts, basis, level};
use crate::causes::Fingerprints;

/// Causes that are shown for a case or a row.
const CAUSES_SHOWN: usize = 5;
/// Cases that are shown for a cause.
const CASES_SHOWN: usize = 10;

/// Explains a case: what is required and why, an example, typical mistakes and their fixes. `option`: what the commands need
/// to read the same interface, such as ` --spec next.toml`.
pub fn explain_case(spec: &Spec, case: &dyn AnyCase, option: &str) -> String {
    let mut text = required(spec, case.facts());
    push_section(&mut text, "exchange", &case.describe(spec));
    push_causes(&mut text, spec, &Fingerprints::known_causes_of_case(&case.facts().id));
    push_commands(&mut text, case, option);
    text
}

/// Explains a row: its requirement, and one of its cases as an example.
pub(super) fn of_row(spec: &Spec, row: &Row, cases: &[Box<dyn AnyCase>], option: &str) -> String {
    let mut text = format!("{}\n  {}\n", row.id, row.condition);
    let proofs: Vec<&dyn AnyCase> =
        cases.iter().map(|case| &**case).filter(|case| case.facts().rows.contains(&row.id)).collect();
    let mut required = of_one_row(spec, row);
    let since = proofs.iter().filter_map(|case| case.facts().since).min();
    required.extend(since.map(|since| format!("since edgeproof {since}")));
    push_section(&mut text, "required", &required);
    let example = proofs.iter().find(|case| case.is_data()).or(proofs.first());
    if let Some(example) = example {
        push_section(&mut text, "exchange", &example.describe(spec));
    }
    let mut causes: Vec<(usize, &str)> = Vec::new();
    for cause in proofs.iter().flat_map(|proof| Fingerprints::known_causes_of_case(&proof.facts().id)) {
        match causes.iter_mut().find(|(_, other)| *other == cause) {
            Some((count, _)) => *count += 1,
            None => causes.push((1, cause)),
        }
    }
    // The causes of most cases first; equal ones stay in the order of the first case.
    causes.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    push_causes(&mut text, spec, &causes.into_iter().map(|(_, cause)| cause).collect::<Vec<_>>());
    let lines: Vec<String> = proofs.iter().map(|case| line(*case)).collect();
    push_section(&mut text, "cases", &lines);
    if let Some(example) = example {
        push_commands(&mut text, *example, option);
    }
    text
}

/// Explains a cause.
pub(super) fn of_cause(cause: &KnownCause, cases: &[Box<dyn AnyCase>], option: &str) -> String {
    let mut text = format!("{}\n  {}\n", cause.id, cause.title);
    push_section(&mut text, "what happens", std::slice::from_ref(&cause.explanation));
    push_section(&mut text, "fix", &fixes(cause));
    let ids = Fingerprints::known_cases_of_cause(&cause.id);
    let failed: Vec<&dyn AnyCase> = ids
        .iter()
        .filter_map(|id| cases.iter().map(|case| &**case).find(|case| case.facts().id == *id))
        .collect();
    let mut lines: Vec<String> = failed.iter().take(CASES_SHOWN).map(|case| line(*case)).collect();
    if let more @ 1.. = failed.len().saturating_sub(CASES_SHOWN) {
        lines.push(format!("and {more} more"));
    }
    push_section(&mut text, "cases that it fails", &lines);
    if let Some(example) = failed.first() {
        push_commands(&mut text, *example, option);
    }
    text
}

/// The requirements of a case: its title, level and basis, and each of its rows.
pub(in crate::cli) fn required(spec: &Spec, case: &CaseFacts) -> String {
    let mut text = format!("{}\n  {}\n", case.id, case.title);
    let section = spec.section_title(&case.section).unwrap_or_default();
    let standard = case.standard.as_ref().map_or(String::new(), |standard| format!(", {standard}"));
    let mut lines = vec![
        format!("section {} {section}", case.section),
        format!("{} ({}{standard}): {}", case.level.name(), case.basis.name(), severity(case.level)),
        why(case.basis).to_owned(),
    ];
    for row in case.rows.iter().filter_map(|id| spec.row(id)) {
        lines.push(format!("{}: {}", row.id, row.condition));
        lines.extend(rule(row));
    }
    lines.extend(case.since.map(|since| format!("since edgeproof {since}")));
    push_section(&mut text, "required", &lines);
    text
}

fn of_one_row(spec: &Spec, row: &Row) -> Vec<String> {
    let section = spec.section_title(&row.section).unwrap_or_default();
    let standard = row.standard.as_ref().map_or(String::new(), |standard| format!(", {standard}"));
    let mut lines = vec![
        format!("section {} {section}", row.section),
        format!("{} ({}{standard}): {}", row.level.name(), row.basis.name(), severity(level(row.level))),
        why(basis(row.basis)).to_owned(),
    ];
    if let Some(status) = row.status() {
        lines.push(format!("status: {status}"));
    }
    if let Some(code) = row.code() {
        lines.push(format!("code: {code}"));
    }
    if let Some(body) = row.body() {
        lines.push(format!("body: {body}"));
    }
    if let Fact::Endpoint { methods, path, .. } = &row.fact {
        lines.push(format!("endpoint: {} {path}", methods.join(", ")));
    }
    lines.extend(rule(row));
    lines.extend(row.stimuli.iter().map(|stimulus| format!("caused by: {}", stimulus.meaning())));
    lines
}

/// The open point that a row decides, with its value.
fn rule(row: &Row) -> Option<String> {
    let Fact::Rule { point, value } = &row.fact else { return None };
    Some(format!("rule: {point} is {value}"))
}

fn severity(level: CaseLevel) -> &'static str {
    match level {
        CaseLevel::Must => "a mismatch fails the run",
        CaseLevel::Should => "a mismatch is a warning",
        CaseLevel::Open => "observed, and not judged",
    }
}

fn why(basis: CaseBasis) -> &'static str {
    match basis {
        CaseBasis::Interface => "why: the interface states it, and pages, services and backends rely on it",
        CaseBasis::Standard => "why: a public standard states it, and clients or caches rely on it",
        CaseBasis::Security => "why: otherwise a credential or an end user is exposed",
    }
}

fn push_section(text: &mut String, title: &str, lines: &[String]) {
    if lines.is_empty() {
        return;
    }
    _ = writeln!(text, "\n{title}");
    for line in lines {
        text.push_str(format!("  {line}").trim_end());
        text.push('\n');
    }
}

fn push_commands(text: &mut String, case: &dyn AnyCase, option: &str) {
    let commands: Vec<String> = case.commands().into_iter().map(|command| command + option).collect();
    push_section(text, "play it", &commands);
}

fn push_causes(text: &mut String, spec: &Spec, causes: &[&str]) {
    let mut lines = Vec::new();
    for cause in causes.iter().filter_map(|id| spec.cause(id)).take(CAUSES_SHOWN) {
        lines.push(format!("{}: {}", cause.id, cause.title));
        lines.extend(fixes(cause).into_iter().map(|line| format!("  {line}")));
    }
    push_section(text, "typical mistakes", &lines);
}

fn fixes(cause: &KnownCause) -> Vec<String> {
    let mut lines = vec![cause.fix.clone()];
    lines.extend(cause.frameworks.iter().map(|framework| format!("{}: {}", framework.name, framework.fix)));
    lines
}

fn line(case: &dyn AnyCase) -> String {
    let CaseFacts { id, title, .. } = case.facts();
    format!("{id}: {title}")
}
