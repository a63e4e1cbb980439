use std::process::Output;

use edgeproof_fixtures::collector::MODULE;
use edgeproof_reports::{Outcome, Report};

use crate::support::Folder;

/// A folder with a collector of a third party: `collector.mjs`, and the library that it imports.
pub(crate) fn folder_with(module: &str) -> Folder {
    Folder::new().with("collector.mjs", module).with("library.js", MODULE)
}

/// A run of the program on `collector.mjs`.
pub(crate) struct Run {
    pub(crate) output: Output,
    pub(crate) report: Report,
}

impl Run {
    /// Tests the module in these cases.
    pub(crate) fn of(module: &str, filters: &[&str], more: &[&str]) -> Self {
        Self::in_folder(&folder_with(module), filters, more)
    }

    /// Tests `collector.mjs` of a folder in these cases.
    pub(crate) fn in_folder(folder: &Folder, filters: &[&str], more: &[&str]) -> Self {
        let filters = filters.iter().flat_map(|filter| ["--filter", filter]);
        let args = ["conformance", "collector", "--module", "collector.mjs", "--report", "json=r.json"];
        let args: Vec<&str> = args.into_iter().chain(filters).chain(more.iter().copied()).collect();
        let output = folder.run(&args);
        Self { output, report: folder.report("r.json") }
    }

    pub(crate) fn exit(&self) -> i32 {
        self.output.status.code().unwrap()
    }

    /// Ids of the cases with this outcome.
    pub(crate) fn ended(&self, outcome: Outcome) -> Vec<&str> {
        let cases = self.report.cases.iter().filter(|case| case.outcome == outcome);
        cases.map(|case| case.id.as_str()).collect()
    }

    /// Reasons of the cases that did not pass.
    pub(crate) fn because(&self) -> String {
        let cases = self.report.cases.iter().filter(|case| case.outcome != Outcome::Pass);
        cases.map(|case| format!("{}: {}", case.id, case.because)).collect::<Vec<_>>().join("\n")
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.output.stdout).into_owned()
    }
}
