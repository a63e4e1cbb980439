//! One HTML page without network or script. It is well-formed XML.

use std::fmt::Write as _;

use edgeproof_reports::counted;
use edgeproof_reports::escape::markup;
use edgeproof_reports::interface::RowState;
use edgeproof_reports::page::{STYLE, page};

use super::document::{Document, DocumentRow};

/// What the page has besides the style of reports.
const OWN_STYLE: &str = include_str!("page.css");

/// The document.
pub(super) fn render(document: &Document<'_>) -> String {
    let title = markup(&document.title);
    let rows: usize = document.sections.iter().map(|section| section.rows.len()).sum();
    let mut body = format!("<header>\n<h1>{title}</h1>\n");
    _ = writeln!(
        body,
        "<p class=\"facts\">{} · digest <code>{}</code></p>",
        counted(rows, "row"),
        markup(document.digest)
    );
    if document.reports > 0 {
        _ = write!(body, "<p class=\"counts\">{}:", counted(document.reports, "report"));
        for (state, count) in &document.counts {
            _ = write!(body, " <span class=\"{}\"><b>{count}</b> {}</span>", class(*state), state.name());
        }
        body.push_str("</p>\n");
    }
    body.push_str("<nav class=\"links\">\n");
    for section in &document.sections {
        let (number, heading) = (markup(section.number), markup(&section.heading));
        _ = writeln!(body, "<a href=\"#section-{number}\">{heading}</a>");
    }
    body.push_str("</nav>\n</header>\n");
    for section in &document.sections {
        let (number, heading) = (markup(section.number), markup(&section.heading));
        _ = writeln!(body, "<section>\n<h2 id=\"section-{number}\">{heading}</h2>");
        section.rows.iter().for_each(|row| entry(&mut body, row));
        body.push_str("</section>\n");
    }
    page(&document.title, &format!("{STYLE}{OWN_STYLE}"), &body)
}

fn entry(out: &mut String, row: &DocumentRow<'_>) {
    let id = markup(row.id);
    let class = row.result.as_ref().map_or("row", |result| class(result.state));
    _ = writeln!(out, "<article id=\"{id}\" class=\"{class}\">");
    _ = write!(out, "<h3><a href=\"#{id}\"><code>{id}</code></a>");
    if let Some(result) = &row.result {
        _ = write!(out, " <b class=\"state\">{}</b>", result.state.name());
    }
    _ = writeln!(out, "</h3>\n<p>{}</p>", markup(row.condition));
    _ = writeln!(out, "<p class=\"facts\">{} · {}</p>", row.level, markup(&row.authority));
    let reasons = row.result.iter().filter(|_| row.excluded.is_none()).flat_map(|result| &result.why);
    let facts = row.facts.iter().map(|(name, value)| (*name, format!("<code>{}</code>", markup(value))));
    let excluded = row.excluded.map(|why| ("excluded", markup(why)));
    let reasons = reasons.map(|why| ("because", markup(why)));
    let mutants = row.mutants().map(|mutants| ("mutants", mutants));
    let facts: Vec<_> = facts.chain(excluded).chain(reasons).chain(mutants).collect();
    if !facts.is_empty() {
        out.push_str("<dl>\n");
        for (name, value) in facts {
            _ = writeln!(out, "<dt>{name}</dt><dd>{value}</dd>");
        }
        out.push_str("</dl>\n");
    }
    cases(out, row);
    out.push_str("</article>\n");
}

fn cases(out: &mut String, row: &DocumentRow<'_>) {
    if row.cases.is_empty() {
        return;
    }
    _ = writeln!(out, "<details><summary>{}</summary>\n<ul>", counted(row.cases.len(), "case"));
    for (id, outcomes) in row.cases() {
        _ = writeln!(out, "<li><code>{}</code> {outcomes}</li>", markup(id));
    }
    out.push_str("</ul>\n</details>\n");
}

/// Class in the style of reports.
fn class(state: RowState) -> &'static str {
    match state {
        RowState::Proven => "pass",
        RowState::Failed => "fail",
        RowState::Warned => "warn",
        RowState::Observed => "observed",
        RowState::Excluded => "excluded",
        RowState::Untested => "not-run",
    }
}
