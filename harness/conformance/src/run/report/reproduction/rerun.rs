use edgeproof_reports::difference::DifferenceKind;
use edgeproof_reports::{CaseReport, Confirmation, Mismatch};
use shell_words::quote;

/// Command that runs cases of a run again, in the folder where the run was started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RerunCommand {
    words: Vec<String>,
    of_cases: Vec<(String, Vec<String>)>,
    /// What a command needs to read the same interface.
    spec_option: String,
    /// Words before and after the case's id that serve a case of an edge.
    served: Option<(Vec<String>, Vec<String>)>,
}

impl RerunCommand {
    /// A command from these words, which the shell reads as they are: program, command, target and options.
    pub fn new(words: Vec<String>) -> Self {
        Self { words, of_cases: Vec::new(), spec_option: String::new(), served: None }
    }

    /// Adds options, as the shell reads them, that only the case with this id needs.
    pub(crate) fn for_case(&mut self, case_id: &str, words: Vec<String>) {
        self.of_cases.push((case_id.to_owned(), words));
    }

    /// Sets what other commands need to read the same interface, such as ` --spec next.toml`.
    #[must_use]
    pub(crate) fn about(mut self, spec_option: String) -> Self {
        self.spec_option = spec_option;
        self
    }

    /// Sets the words of `serve`, as the shell reads them, before and after the id of a case.
    #[must_use]
    pub(crate) fn served(mut self, start: Vec<String>, options: Vec<String>) -> Self {
        self.served = Some((start, options));
        self
    }

    /// The command that starts the edge of a case, to play the case by hand. None: this run tests no edge, or the case needs
    /// options of its own.
    pub(crate) fn serve(&self, case_id: &str) -> Option<String> {
        let (start, options) = self.served.as_ref()?;
        let has_own = self.of_cases.iter().any(|(id, _)| id == case_id);
        let words = start.iter().cloned().chain([quote(case_id).into_owned()]).chain(options.iter().cloned());
        (!has_own).then(|| words.collect::<Vec<_>>().join(" "))
    }

    /// The command that explains a row.
    pub(crate) fn explain(&self, row: &str) -> String {
        format!("edgeproof explain {row}{}", self.spec_option)
    }

    /// The command for one case.
    pub fn of(&self, case_id: &str) -> String {
        self.of_all(&[case_id])
    }

    /// The command for a failed case. A monitor names the case that broke it: the command runs both. One that
    /// fails only after others runs after them. `all`: reports of
    /// the run.
    pub(crate) fn of_report(&self, report: &CaseReport, all: &[CaseReport]) -> String {
        if let Some(Confirmation::OnlyAfter(history)) = &report.confirmed {
            let ids: Vec<&str> = history.iter().chain([&report.id]).map(String::as_str).collect();
            return format!("{} --jobs 1", self.of_all(&ids));
        }
        let kinds = report.mismatches.iter().filter_map(Mismatch::kind);
        let mut named = kinds.flat_map(DifferenceKind::cases);
        // A monitor also names what is no case of the run, such as a probe.
        let breaks = named.find(|id| *id != report.id && all.iter().any(|other| other.id == *id));
        match breaks {
            Some(case) => self.of_all(&[&report.id, case]),
            None => self.of(&report.id),
        }
    }

    /// The command for several cases, such as a monitor and the case that breaks it.
    pub fn of_all(&self, case_ids: &[&str]) -> String {
        let mut words = self.words.clone();
        for (_, own) in self.of_cases.iter().filter(|(id, _)| case_ids.contains(&id.as_str())) {
            // Two cases can need the same option.
            if !words.ends_with(own) {
                words.extend(own.iter().cloned());
            }
        }
        for id in case_ids {
            words.extend(["--filter".to_owned(), quote(id).into_owned()]);
        }
        words.join(" ")
    }
}

impl Default for RerunCommand {
    /// The command for the embedded edge.
    fn default() -> Self {
        Self::new(vec!["edgeproof".into(), "conformance".into()])
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::one(&["method.get"], "edgeproof conformance --filter method.get")]
    #[case::two(
        &["monitor.credentials", "method.get"],
        "edgeproof conformance --filter monitor.credentials --filter method.get"
    )]
    #[case::own_options(&["relay.fuzz"], "edgeproof conformance --fuzz 9 --filter relay.fuzz")]
    #[case::glob_characters(&["replay.a*b"], "edgeproof conformance --filter 'replay.a*b'")]
    fn command_selects_its_cases(#[case] ids: &[&str], #[case] expected: &str) {
        let mut rerun = RerunCommand::new(vec!["edgeproof".into(), "conformance".into()]);
        rerun.for_case("relay.fuzz", vec!["--fuzz".into(), "9".into()]);
        assert_eq!(rerun.of_all(ids), expected);
    }
}
