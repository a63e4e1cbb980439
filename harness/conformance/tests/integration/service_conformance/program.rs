//! Runs the program as a user does.

use std::process::{Command, Output};

use serde_json::Value;

use crate::limited;
use crate::tested_program;

/// A finished run with its JSON report.
pub(crate) struct Run {
    pub(crate) exit: i32,
    pub(crate) out: String,
    pub(crate) err: String,
    pub(crate) report: Value,
}

/// Runs `edgeproof conformance` with these arguments and a JSON report. The read token is in the environment.
pub(crate) fn conformance(arguments: &[&str], read_token: Option<&str>) -> Run {
    let environment: Vec<_> = read_token.map(|token| ("READ_TOKEN", token)).into_iter().collect();
    conformance_with(arguments, &environment)
}

/// The same, with these variables.
pub(crate) fn conformance_with(arguments: &[&str], environment: &[(&str, &str)]) -> Run {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.json");
    let mut command = program();
    command.arg("conformance").args(arguments).arg(format!("--report=json={}", path.display()));
    command.envs(environment.iter().copied()).current_dir(folder.path());
    let output = limited::output(&mut command);
    let report = std::fs::read(&path).map_or(Value::Null, |text| serde_json::from_slice(&text).unwrap());
    let Output { stdout, stderr, status } = output;
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Run { exit: status.code().unwrap(), out: text(stdout), err: text(stderr), report }
}

pub(crate) fn program() -> Command {
    let mut command = tested_program::edgeproof();
    for name in
        ["READ_TOKEN", "READ_TOKEN_OTHER", "READ_TOKEN_REVOKED", "READ_TOKEN_EXPIRED", "GITHUB_STEP_SUMMARY"]
    {
        command.env_remove(name);
    }
    command.env("NO_COLOR", "1");
    command
}

impl Run {
    /// Ids of the cases with this outcome.
    pub(crate) fn ended(&self, outcome: &str) -> Vec<String> {
        let cases = self.report["cases"].as_array().unwrap().iter();
        let these = cases.filter(|case| case["outcome"] == outcome);
        these.map(|case| case["id"].as_str().unwrap().to_owned()).collect()
    }

    /// One case of the report.
    pub(crate) fn case(&self, id: &str) -> &Value {
        let cases =
            self.report["cases"].as_array().unwrap_or_else(|| panic!("no report: {}{}", self.out, self.err));
        cases.iter().find(|case| case["id"] == id).unwrap_or_else(|| panic!("no case {id}"))
    }

    /// The mismatches of a case with their hints, one per line.
    pub(crate) fn mismatches(&self, id: &str) -> String {
        let mismatches = self.case(id)["mismatches"].as_array().unwrap().iter();
        let lines = mismatches.map(|mismatch| {
            let text = |name: &str| mismatch[name].as_str().unwrap_or_default();
            format!("{}: {} → {} ({})", text("what"), text("expected"), text("actual"), text("hint"))
        });
        lines.collect::<Vec<_>>().join("\n")
    }
}
