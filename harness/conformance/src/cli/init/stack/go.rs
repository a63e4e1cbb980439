use std::fs;
use std::path::Path;

use super::proposal::Proposal;

/// Go, and the compiled packages, so that the edge starts fast.
pub(super) const STEPS: &str = "      - uses: actions/setup-go@v5\n        with:\n          go-version-file: go.mod\n      - run: go build ./...\n";
/// The first start compiles.
const READY_TIMEOUT: &str = "60s";

/// The package main of the folder, or else the only one in cmd.
pub(super) fn proposal(folder: &Path) -> Option<Proposal> {
    let package =
        if is_program(folder) { ".".to_owned() } else { format!("./cmd/{}", only_command(folder)?) };
    let launch = format!("go run {}", shell_words::quote(&package));
    Some(Proposal { ready_timeout: Some(READY_TIMEOUT), ..Proposal::new(launch, "go.mod") })
}

/// The folder in cmd, if there is one program.
fn only_command(folder: &Path) -> Option<String> {
    let entries = fs::read_dir(folder.join("cmd")).ok()?.filter_map(Result::ok);
    let mut programs = entries.filter(|entry| is_program(&entry.path()));
    let name = programs.next()?.file_name().into_string().ok();
    name.filter(|_| programs.next().is_none())
}

/// Whether a folder has a file of package main that a build takes.
fn is_program(folder: &Path) -> bool {
    let files = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok).map(|entry| entry.path());
    let mut files = files.filter(|file| file.extension().is_some_and(|end| end == "go"));
    files.any(|file| {
        let is_test = file.to_string_lossy().ends_with("_test.go");
        let text = fs::read_to_string(file).unwrap_or_default();
        let has = |line: &str| text.lines().any(|other| other.trim_end() == line);
        !is_test && has("package main") && !has("//go:build ignore")
    })
}
