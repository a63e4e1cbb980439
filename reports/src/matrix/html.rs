use std::fmt::Write as _;

use super::{Fate, Matrix, MatrixLine, Scope};
use crate::escape::{markup, one_line};

const STYLE: &str = include_str!("../html.css");
const OWN_STYLE: &str = "body { max-width: none; } table { border-collapse: collapse; } \
th, td { text-align: left; vertical-align: top; padding: .15rem .75rem .15rem 0; border-top: 1px solid var(--line); } \
td.cells { white-space: pre; font: 11px/1.4 ui-monospace, monospace; color: var(--soft); } td.cells b { color: var(--fail); } \
tr.survived td { color: var(--fail); } tr.equivalent td { color: var(--soft); }\n";

/// The page: counts, problems, deviations with their cells, cases with their numbers. No script, no network.
pub(super) fn render(matrix: &Matrix) -> String {
    let mut out = String::with_capacity(256 * 1024);
    let class = if matrix.problems.is_empty() { "pass" } else { "fail" };
    put(
        &mut out,
        format_args!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\"/>\n\
             <meta name=\"color-scheme\" content=\"light dark\"/>\n<title>edgeproof: deviations × cases</title>\n\
             <style>\n{STYLE}{OWN_STYLE}</style>\n</head>\n<body>\n<h1 class=\"{class}\">Deviations × cases</h1>\n\
             <p class=\"counts\">{}</p>\n<p class=\"facts\">{}, {} ms, interface {} {}, edgeproof {}</p>\n",
            text(&matrix.line()),
            match matrix.scope {
                Scope::Gate => "own rows and canaries",
                Scope::Full => "all cases",
            },
            matrix.duration_ms,
            text(&matrix.spec),
            text(&matrix.digest),
            text(&matrix.version),
        ),
    );
    if !matrix.problems.is_empty() {
        put(&mut out, format_args!("<h2>Problems</h2>\n<ul>\n"));
        for problem in &matrix.problems {
            put(&mut out, format_args!("<li>{}</li>\n", text(problem)));
        }
        put(&mut out, format_args!("</ul>\n"));
    }
    put(
        &mut out,
        format_args!(
            "<h2>Deviations</h2>\n<p class=\"facts\">A character for each case, in the order of the list below: X failed, of the \
             row that is broken; x failed; W w warned; O o observed something else; - could not be played; · as without the \
             deviation; blank not played.</p>\n<table>\n<tr><th>deviation</th><th>breaks</th><th>fate</th><th>killed by</th>\
             <th>cells</th></tr>\n"
        ),
    );
    for line in &matrix.deviations {
        row(&mut out, line);
    }
    put(&mut out, format_args!("</table>\n<h2>Cases</h2>\n<ol>\n"));
    for case in &matrix.cases {
        let note =
            case.exempt.as_ref().map_or(format!("{} killed", case.kills), |why| format!("kills none: {why}"));
        put(
            &mut out,
            format_args!(
                "<li><code>{}</code> <small>{}, {}; {}</small></li>\n",
                text(&case.id),
                case.level.name(),
                text(&case.rows.join(", ")),
                text(&note)
            ),
        );
    }
    put(&mut out, format_args!("</ol>\n</body>\n</html>\n"));
    out
}

fn row(out: &mut String, line: &MatrixLine) {
    let killers = match line.killers.as_slice() {
        [] => String::new(),
        [one] => text(one),
        [first, rest @ ..] => format!("{} and {} more", text(first), rest.len()),
    };
    let class = match line.fate {
        Fate::Survived => "survived",
        Fate::Equivalent => "equivalent",
        Fate::Killed | Fate::Noticed => "",
    };
    put(
        out,
        format_args!(
            "<tr class=\"{class}\"><td><code>{}</code><br/><small>{}</small></td><td>{} <small>{}</small></td><td>{}</td>\
             <td>{killers}</td><td class=\"cells\">{}</td></tr>\n",
            text(&line.id),
            text(&line.title),
            text(&line.row),
            line.level.name(),
            fate(line),
            cells(&line.cells),
        ),
    );
}

fn fate(line: &MatrixLine) -> String {
    let finding = if line.finding { ", a finding of the run" } else { "" };
    format!("{}{finding}", line.fate.name())
}

/// Cells with those of the broken row in bold.
fn cells(cells: &str) -> String {
    let mut out = String::with_capacity(cells.len() * 2);
    let mut bold = false;
    for cell in cells.trim_end().chars() {
        let own = matches!(cell, 'X' | 'W' | 'O');
        if own != bold {
            out.push_str(if own { "<b>" } else { "</b>" });
            bold = own;
        }
        out.push_str(&text(&cell.to_string()));
    }
    if bold {
        out.push_str("</b>");
    }
    out
}

fn text(text: &str) -> String {
    markup(&one_line(text))
}

fn put(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a String cannot fail.
    let _ = out.write_fmt(text);
}
