use std::fmt::Write as _;

use edgeproof_fixtures::spec::PartName;
use edgeproof_reports::escape::one_line;
use strum::VariantArray;

use super::class::{Class, PartClass};
use super::comparison::{Comparison, RowComparison};
use super::duty::DutyOwner;

/// How a comparison is written as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextForm {
    /// For a terminal.
    Terminal,
    /// For a pull request.
    Markdown,
}

impl Comparison {
    /// The comparison as text: each changed row with its classes, then what the owner of each part has to do, then what else is
    /// touched.
    pub fn text(&self, form: TextForm) -> String {
        let mut out = String::new();
        let title =
            format!("{} {} → {} {}", self.old.version, self.old.digest, self.new.version, self.new.digest);
        heading(&mut out, form, 1, &title);
        if self.is_empty() {
            out += "no difference\n";
            return out;
        }
        for change in &self.changes {
            row(&mut out, form, change);
        }
        self.points(&mut out, form);
        self.duties(&mut out, form);
        self.other_changes(&mut out, form);
        out
    }

    fn points(&self, out: &mut String, form: TextForm) {
        if self.points.is_empty() {
            return;
        }
        heading(out, form, 2, "open points");
        for point in &self.points {
            item(out, form, &format!("{}: {} → {}", point.field, value(&point.old), value(&point.new)));
        }
        out.push('\n');
    }

    /// What the owner of each part has to do, and what an old counterpart notices.
    fn duties(&self, out: &mut String, form: TextForm) {
        for part in PartName::ALL {
            let of_part: Vec<(&RowComparison, &PartClass)> = self
                .changes
                .iter()
                .flat_map(|change| change.parts.iter().map(move |class| (change, class)))
                .filter(|(_, class)| class.part == *part)
                .collect();
            let breaking: Vec<_> =
                of_part.iter().filter(|(_, class)| class.class == Class::Breaking).collect();
            let noticed: Vec<_> = of_part.iter().filter(|(_, class)| !class.noticed.is_empty()).collect();
            if breaking.is_empty() && noticed.is_empty() {
                continue;
            }
            heading(out, form, 2, &format!("what the owner of {} does", part_words(*part)));
            for (change, class) in breaking {
                let Some(failed) = class.failed.first() else { continue };
                item(out, form, &format!("{}: {}", change.row, change.condition));
                let mut text = format!("expected {}, the old part: {}", failed.expected, failed.actual);
                if let Some(fix) = &failed.fix {
                    text += "; ";
                    text += fix;
                }
                item(out, form, &text);
            }
            for (change, class) in noticed {
                let cases: Vec<&str> =
                    class.noticed.iter().map(|failed| failed.case.as_str()).take(3).collect();
                let text = format!(
                    "{}: cases of the old version fail at the new part ({})",
                    change.row,
                    cases.join(", ")
                );
                item(out, form, &text);
            }
            out.push('\n');
        }
        for owner in DutyOwner::VARIANTS {
            let duties =
                self.changes.iter().flat_map(|change| change.duties.iter().map(move |duty| (change, duty)));
            let duties: Vec<_> = duties.filter(|(_, duty)| duty.owner == *owner).collect();
            if duties.is_empty() {
                continue;
            }
            heading(out, form, 2, &format!("what the owner of {owner} answers or expects"));
            for (change, duty) in duties {
                item(out, form, &format!("{}: {}", change.row, duty.text));
            }
            out.push('\n');
        }
    }

    fn other_changes(&self, out: &mut String, form: TextForm) {
        heading(out, form, 2, "what else changes");
        let list = |cases: &[String]| {
            let shown: Vec<&str> = cases.iter().take(5).map(String::as_str).collect();
            let more = cases.len().saturating_sub(shown.len());
            let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
            shown.join(", ") + &rest
        };
        let answers = self.changes.iter().filter(|change| change.old_wire != change.new_wire).count();
        if !self.added_cases.is_empty() {
            item(out, form, &format!("added cases: {}", list(&self.added_cases)));
        }
        if !self.removed_cases.is_empty() {
            item(out, form, &format!("removed cases: {}", list(&self.removed_cases)));
        }
        item(out, form, &format!("rows with another text on the wire: {answers}"));
    }
}

/// A changed row: its classes, the side of a target, its fields, and its answers on the wire.
fn row(out: &mut String, form: TextForm, change: &RowComparison) {
    let from = change.old_row.as_ref().map_or(String::new(), |old| format!(" (was {old})"));
    heading(out, form, 2, &format!("{} {}{from}", change.kind, change.row));
    for part in &change.parts {
        item(out, form, &format!("{}: {}", part.part.name(), class_text(part)));
    }
    if let Some(side) = change.target {
        item(out, form, side.words());
    }
    for field in &change.fields {
        let (old, new) = (value(&field.old), value(&field.new));
        item(out, form, &format!("{}: {old} → {new}", field.field));
    }
    if change.old_wire != change.new_wire {
        let indent = if form == TextForm::Markdown { "" } else { "  " };
        if form == TextForm::Markdown {
            out.push_str("\n```diff\n");
        }
        for line in &change.old_wire {
            _ = writeln!(out, "{indent}- {}", one_line(line));
        }
        for line in &change.new_wire {
            _ = writeln!(out, "{indent}+ {}", one_line(line));
        }
        if form == TextForm::Markdown {
            out.push_str("```\n");
        }
    }
    out.push('\n');
}

fn class_text(part: &PartClass) -> String {
    let name = part.class.name();
    if let Some(why) = &part.not_played {
        return format!("{name} ({why})");
    }
    let cases = |count: usize| if count == 1 { "1 case".to_owned() } else { format!("{count} cases") };
    match part.class {
        Class::Breaking => {
            let mut failed: Vec<&str> =
                part.failed.iter().take(3).map(|failed| failed.case.as_str()).collect();
            failed.extend((part.failed.len() > failed.len()).then_some("…"));
            format!(
                "{name} ({} of {}: {})",
                part.failed.len(),
                cases(part.failed.len() + part.passed.len()),
                failed.join(", ")
            )
        }
        Class::Compatible => format!("{name} ({} passed)", cases(part.passed.len())),
        Class::Untested if part.removed => format!("{name} (the new version has nothing to play)"),
        Class::Untested => format!("{name} (no case of the new version plays it)"),
    }
}

fn part_words(part: PartName) -> &'static str {
    match part {
        PartName::Edge => "an edge",
        PartName::Service => "the service",
        PartName::Keys => "the key set",
        PartName::Collector => "the collector",
    }
}

fn value(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::Null => "none".to_owned(),
        serde_json::Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn heading(out: &mut String, form: TextForm, depth: usize, text: &str) {
    let text = one_line(text);
    match form {
        TextForm::Terminal => _ = writeln!(out, "{text}"),
        TextForm::Markdown => _ = writeln!(out, "{} {text}\n", "#".repeat(depth)),
    }
}

fn item(out: &mut String, form: TextForm, text: &str) {
    let text = one_line(text);
    let sign = if form == TextForm::Markdown { "- " } else { "  " };
    _ = writeln!(out, "{sign}{text}");
}
