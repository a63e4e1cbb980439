//! Causes at the top of the page, with links to their cases.

use super::values;
use crate::model::{CaseReport, CauseGroup, Outcome, Report, headline};
use crate::text::cause::labels;
use crate::text::escape::markup_line;
use crate::text::units::counted;

/// Most links of a cause that are shown without a click.
const LINKS: usize = 12;

/// A heading and an article for each cause. `groups`: those with this outcome.
pub(super) fn section(out: &mut String, groups: &[&CauseGroup<'_>], outcome: Outcome, report: &Report) {
    if groups.is_empty() {
        return;
    }
    put!(out, "<section class=\"causes\">\n<h2>{}</h2>\n", headline(groups, outcome));
    for group in groups {
        article(out, group, report);
    }
    out.push_str("</section>\n");
}

/// Anchor of the article of a case: its position in the plan.
pub(super) fn anchor(case: &CaseReport, cases: &[CaseReport]) -> String {
    let position = cases.iter().position(|other| std::ptr::eq(other, case)).unwrap_or(cases.len());
    format!("case-{position}")
}

fn article(out: &mut String, group: &CauseGroup<'_>, report: &Report) {
    let cause = &group.cause;
    put!(
        out,
        "<article class=\"{}\">\n<h3>{} <small>{}, <code>{}</code></small></h3>\n",
        group.outcome.name(),
        markup_line(&cause.title),
        counted(group.cases.len(), "case"),
        markup_line(&cause.row)
    );
    if group.is_explained() {
        put!(out, "<p>{}</p>\n", prose(&cause.explanation));
        put!(out, "<p class=\"facts\">explains {}</p>\n", group.explains(&report.summary));
    }
    example(out, group, report);
    if !cause.fix.is_empty() {
        put!(out, "<p class=\"hint\">{}</p>\n", prose(&cause.fix));
    }
    if !cause.frameworks.is_empty() {
        out.push_str("<dl>\n");
        for framework in &cause.frameworks {
            put!(out, "<dt>{}</dt><dd>{}</dd>\n", markup_line(&framework.name), prose(&framework.fix));
        }
        out.push_str("</dl>\n");
    }
    if !cause.rerun.is_empty() {
        put!(out, "<pre class=\"curl\">{}</pre>\n", markup_line(&cause.rerun));
    }
    links(out, group, report);
    out.push_str("</article>\n");
}

fn example(out: &mut String, group: &CauseGroup<'_>, report: &Report) {
    let case = group.example();
    let (what, expected, actual) = match group.mismatch() {
        Some(found) => (found.what.as_str(), &found.expected, &found.actual),
        None => (case.because.as_str(), &case.expected, &case.actual),
    };
    put!(out, "<h4>{} <small>in {}</small></h4>\n", markup_line(what), link(case, report));
    if !(expected.is_empty() && actual.is_empty()) {
        values(out, labels(group.mismatch()), expected, actual);
    }
}

fn links(out: &mut String, group: &CauseGroup<'_>, report: &Report) {
    let links =
        |cases: &[&CaseReport]| cases.iter().map(|case| link(case, report)).collect::<Vec<_>>().join(" ");
    let (shown, folded) = group.cases.split_at(group.cases.len().min(LINKS));
    put!(out, "<p class=\"links\">{}</p>\n", links(shown));
    if !folded.is_empty() {
        put!(
            out,
            "<details><summary>{} more</summary>\n<p class=\"links\">{}</p>\n</details>\n",
            folded.len(),
            links(folded)
        );
    }
    if !group.cause.passed.is_empty() {
        let heading =
            format!("{} passed that this mistake usually fails", counted(group.cause.passed.len(), "case"));
        let ids: Vec<String> =
            group.cause.passed.iter().map(|id| format!("<code>{}</code>", markup_line(id))).collect();
        put!(
            out,
            "<details><summary>{heading}</summary>\n<p class=\"links\">{}</p>\n</details>\n",
            ids.join(" ")
        );
    }
}

fn link(case: &CaseReport, report: &Report) -> String {
    format!("<a href=\"#{}\"><code>{}</code></a>", anchor(case, &report.cases), markup_line(&case.id))
}

/// Text with code in backticks.
fn prose(text: &str) -> String {
    let escaped = markup_line(text);
    let mut pieces = escaped.split('`');
    let mut html = pieces.next().unwrap_or_default().to_owned();
    while let Some(code) = pieces.next() {
        if let Some(text) = pieces.next() {
            put!(html, "<code>{code}</code>{text}");
        } else {
            put!(html, "`{code}");
        }
    }
    html
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paired_backticks_become_code() {
        assert_eq!(prose("send `a < b` or `c`."), "send <code>a &lt; b</code> or <code>c</code>.");
        assert_eq!(prose("`a` and ` alone"), "<code>a</code> and ` alone");
    }
}
