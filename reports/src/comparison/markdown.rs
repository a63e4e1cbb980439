//! A comparison for a pull request. Text from outside stands in code, so that it is never Markdown.

use super::model::{ComparedCase, ComparedRun, RunComparison};
use crate::text::escape::one_line;
use crate::text::markdown::code;

/// Cases of one change that the document shows: a GitHub comment takes 65,536 characters.
const SHOWN: usize = 30;
/// Characters of a reason.
const REASON: usize = 160;

impl RunComparison {
    /// Markdown: the counts, both runs, and a table for each change.
    pub fn to_markdown(&self) -> String {
        let mark = match self.new.exit_code {
            _ if self.is_worse() => "❌",
            0 => "✅",
            _ => "⚠️",
        };
        let mut out = format!("### {mark} edgeproof: {}\n\n| | old | new |\n|---|---|---|\n", self.line());
        self.row(&mut out, "Report", |run| run.report.clone());
        self.row(&mut out, "edgeproof", |run| run.tool.version.clone());
        self.row(&mut out, "Target", |run| run.target.to_string());
        self.row(&mut out, "Started", |run| run.started.clone());
        self.row(&mut out, "Cases", |run| run.planned.to_string());
        self.row(&mut out, "Exit code", |run| run.exit_code.to_string());
        if let Some(text) = self.other_tables() {
            put!(out, "\n{}\n", code(&text));
        }
        for (heading, cases) in self.lists(&code(&self.old.report), &code(&self.old.tool.version)) {
            put!(out, "\n#### {heading}\n\n| | Case | Since | Cause | Reason |\n|---|---|---|---|---|\n");
            for case in cases.iter().take(SHOWN) {
                let since = case.since.map_or(String::new(), |since| since.to_string());
                let cause = case.cause.as_deref().map_or(String::new(), code);
                put!(
                    out,
                    "| {} | {} | {since} | {cause} | {} |\n",
                    case.outcomes(),
                    code(&case.id),
                    reason(case)
                );
            }
            if let more @ 1.. = cases.len().saturating_sub(SHOWN) {
                put!(out, "\n… and {more} more; `--format json` has all\n");
            }
        }
        if !self.observations.is_empty() {
            out.push_str("\n#### changed observations\n\n| Open point | old | new |\n|---|---|---|\n");
        }
        for changed in &self.observations {
            let [old, new] = [&changed.old, &changed.new].map(|seen| code(&seen.join(" or ")));
            put!(out, "| {} | {old} | {new} |\n", code(&changed.point));
        }
        out
    }

    fn row(&self, out: &mut String, name: &str, value: impl Fn(&ComparedRun) -> String) {
        put!(out, "| {name} | {} | {} |\n", code(&value(&self.old)), code(&value(&self.new)));
    }
}

fn reason(case: &ComparedCase) -> String {
    let text = one_line(&case.because);
    match text.char_indices().nth(REASON) {
        _ if text.is_empty() => String::new(),
        Some((end, _)) => code(&format!("{}…", &text[..end])),
        None => code(&text),
    }
}
