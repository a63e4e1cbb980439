use super::model::{Matrix, MatrixCase, MatrixMutant, MutantStatus, Scope};
use crate::text::escape::markup_line;
use crate::text::page::{STYLE, list, page};

const OWN_STYLE: &str = "body { max-width: none; } table { border-collapse: collapse; } \
th, td { text-align: left; vertical-align: top; padding: .15rem .75rem .15rem 0; border-top: 1px solid var(--line); } \
td.cells { white-space: pre; font: 11px/1.4 ui-monospace, monospace; color: var(--soft); } td.cells b { color: var(--fail); } \
tr.survived td { color: var(--fail); } tr.equivalent td { color: var(--soft); }\n";

const HEAD: &str = "<h2>Mutants</h2>\n<p class=\"facts\">Cells: one character for each case, in the order of the list below. \
X x failed; W w warned; O o observed different behaviour; upper case for cases of the broken row; - could not run; · same \
outcome as without the mutant; blank not run.</p>\n<table>\n<tr><th>mutant</th><th>breaks</th><th>status</th>\
<th>killed by</th><th>cells</th></tr>\n";

impl Matrix {
    /// HTML page: counts, problems, mutants with their cells, cases with their kills.
    pub fn to_html(&self) -> String {
        let mut body = String::with_capacity(256 * 1024);
        let class = if self.problems.is_empty() { "pass" } else { "fail" };
        let scope = match self.scope {
            Scope::Gate => "cases of the broken row and canaries",
            Scope::Full => "all cases",
        };
        put!(
            body,
            "<h1 class=\"{class}\">Mutants × cases</h1>\n<p class=\"counts\">{}</p>\n\
             <p class=\"facts\">{scope}, {} ms, interface {} {}, edgeproof {}</p>\n",
            markup_line(&self.line()),
            self.duration_ms,
            markup_line(&self.spec),
            markup_line(&self.digest),
            markup_line(&self.version),
        );
        body.push_str(&list("Problems", self.problems.iter().map(|problem| markup_line(problem))));
        body.push_str(HEAD);
        self.mutants.iter().for_each(|mutant| row(&mut body, mutant));
        body.push_str("</table>\n<h2>Cases</h2>\n<ol>\n");
        for MatrixCase { id, level, rows, kills, exempt } in &self.cases {
            let note = exempt.as_ref().map_or(format!("kills {kills}"), |why| format!("cannot kill: {why}"));
            put!(
                body,
                "<li><code>{}</code> <small>{}, {}; {}</small></li>\n",
                markup_line(id),
                level.name(),
                markup_line(&rows.join(", ")),
                markup_line(&note)
            );
        }
        body.push_str("</ol>\n");
        page("edgeproof: mutants × cases", &format!("{STYLE}{OWN_STYLE}"), &body)
    }
}

fn row(out: &mut String, mutant: &MatrixMutant) {
    let killers = match mutant.killers.as_slice() {
        [] => String::new(),
        [one] => markup_line(one),
        [first, rest @ ..] => format!("{} and {} more", markup_line(first), rest.len()),
    };
    let class = match mutant.status {
        MutantStatus::Survived | MutantStatus::Equivalent => mutant.status.name(),
        MutantStatus::Killed | MutantStatus::Noticed => "",
    };
    put!(
        out,
        "<tr class=\"{class}\"><td><code>{}</code><br/><small>{}</small></td><td>{} <small>{}</small></td>\
         <td>{}{}</td><td>{killers}</td><td class=\"cells\">{}</td></tr>\n",
        markup_line(&mutant.id),
        markup_line(&mutant.title),
        markup_line(&mutant.row),
        mutant.level.name(),
        mutant.status.name(),
        if mutant.finding { ", one finding" } else { "" },
        cells(&mutant.cells),
    );
}

/// Cells, with those of the broken row in bold.
fn cells(cells: &str) -> String {
    let mut out = String::with_capacity(cells.len() * 2);
    let mut bold = false;
    for cell in cells.trim_end().chars() {
        let own = matches!(cell, 'X' | 'W' | 'O');
        if own != bold {
            out.push_str(if own { "<b>" } else { "</b>" });
            bold = own;
        }
        out.push_str(&markup_line(&cell.to_string()));
    }
    if bold {
        out.push_str("</b>");
    }
    out
}
