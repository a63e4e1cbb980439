use std::fmt::Write as _;

use edgeproof_fixtures::spec::Row;
use edgeproof_reports::Exchange;

use super::placeholders::with_placeholders;

/// Beginning of each file.
pub(super) const HEADER: &str = "# edgeproof spec snapshot: ";

/// What causes a row, and the exchanges on all hops.
pub(super) struct Occurrence {
    pub(super) title: String,
    pub(super) exchanges: Vec<Exchange>,
}

/// The row, then its distinct exchanges, each with what causes them.
pub(super) fn row_text(row: &Row, occurrences: &[Occurrence]) -> String {
    let mut distinct: Vec<(String, Vec<&str>)> = Vec::new();
    for occurrence in occurrences {
        let wire = wire(&occurrence.exchanges);
        match distinct.iter_mut().find(|(other, _)| *other == wire) {
            Some((_, titles)) => titles.push(&occurrence.title),
            None => distinct.push((wire, vec![&occurrence.title])),
        }
    }
    let mut text = format!("{HEADER}{} · section {} · {}\n", row.id, row.section, row.level.name());
    for (wire, titles) in distinct {
        text.push('\n');
        for title in titles {
            _ = writeln!(text, "{title}");
        }
        text.push_str(&wire);
    }
    text
}

fn wire(exchanges: &[Exchange]) -> String {
    let mut text = String::new();
    for exchange in exchanges {
        _ = writeln!(text, "  {}", exchange.hop.name());
        push_lines(&mut text, "    > ", &exchange.request);
        push_lines(&mut text, "    < ", &exchange.response);
    }
    text
}

fn push_lines(text: &mut String, prefix: &str, message: &str) {
    for line in message.lines() {
        _ = writeln!(text, "{}", format!("{prefix}{}", with_placeholders(line)).trim_end());
    }
}
