use super::diff::{ChangedRow, SpecDiff, WireLine};
use crate::text::escape::one_line;

/// How a comparison is written as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextForm {
    /// For a terminal.
    Terminal,
    /// For a pull request.
    Markdown,
}

impl SpecDiff {
    /// The comparison as text: each changed row with its classes, then what each owner does, then what else is touched.
    pub fn to_text(&self, form: TextForm) -> String {
        let mut out = String::new();
        heading(&mut out, form, 1, &self.title());
        if self.is_empty() {
            out += "no difference\n";
        } else {
            for change in &self.changes {
                row(&mut out, form, change);
            }
            let values =
                |value: &super::ChangedValue| format!("{}: {} → {}", value.name, value.old, value.new);
            section(&mut out, form, "open points", &self.points.iter().map(values).collect::<Vec<_>>());
            for owner in &self.owners {
                section(&mut out, form, &owner.heading, &owner.items);
            }
            section(&mut out, form, "not run at the target", &self.not_run);
            heading(&mut out, form, 2, "what else changes");
            for text in &self.touched {
                item(&mut out, form, text);
            }
        }
        for note in &self.notes {
            put!(out, "{}\n", one_line(note));
        }
        out
    }
}

/// A changed row: its classes, the side of a target, its fields, and its answers on the wire.
fn row(out: &mut String, form: TextForm, change: &ChangedRow) {
    let from = change.was.as_ref().map_or(String::new(), |old| format!(" (was {old})"));
    heading(out, form, 2, &format!("{} {}{from}", change.kind, change.id));
    for part in &change.parts {
        item(out, form, &format!("{}: {} ({})", part.part, part.class.name(), part.because));
    }
    if let Some(side) = change.target {
        item(out, form, side);
    }
    for field in &change.fields {
        item(out, form, &format!("{}: {} → {}", field.name, field.old, field.new));
    }
    if !change.wire.is_empty() {
        let (indent, before, after) = match form {
            TextForm::Terminal => ("  ", "", ""),
            TextForm::Markdown => ("", "\n```diff\n", "```\n"),
        };
        out.push_str(before);
        for line in &change.wire {
            let (sign, text) = match line {
                WireLine::Old(text) => ('-', text),
                WireLine::New(text) => ('+', text),
            };
            put!(out, "{indent}{sign} {}\n", one_line(text));
        }
        out.push_str(after);
    }
    out.push('\n');
}

/// A heading with items; nothing without items.
fn section(out: &mut String, form: TextForm, title: &str, items: &[String]) {
    if items.is_empty() {
        return;
    }
    heading(out, form, 2, title);
    for text in items {
        item(out, form, text);
    }
    out.push('\n');
}

fn heading(out: &mut String, form: TextForm, depth: usize, text: &str) {
    let text = one_line(text);
    match form {
        TextForm::Terminal => put!(out, "{text}\n"),
        TextForm::Markdown => put!(out, "{} {text}\n\n", "#".repeat(depth)),
    }
}

fn item(out: &mut String, form: TextForm, text: &str) {
    let sign = if form == TextForm::Markdown { "- " } else { "  " };
    put!(out, "{sign}{}\n", one_line(text));
}
