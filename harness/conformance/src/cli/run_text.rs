//! What the text of a run needs besides its report.

use std::io::IsTerminal;
use std::os::fd::AsFd;

use edgeproof_fixtures::spec::Spec;
use edgeproof_reports::{TerminalOptions, Titles};

/// Columns of an output.
pub(super) fn width(out: &(impl AsFd + IsTerminal)) -> usize {
    if !out.is_terminal() {
        return TerminalOptions::default().width;
    }
    let columns = rustix::termios::tcgetwinsize(out).map_or(0, |size| usize::from(size.ws_col));
    // A terminal that does not know its size reports 0.
    if columns == 0 { 100 } else { columns.clamp(60, 160) }
}

/// Titles of the interface's sections.
pub(super) fn titles(spec: &Spec) -> Titles {
    let sections = spec.rows().iter().map(|row| row.section.as_str());
    sections
        .filter_map(|section| Some((section.to_owned(), spec.section_title(section)?.to_owned())))
        .collect()
}
