//! The commands of the load generator in README and docs, each as a short run. The documents' service is a mock that answers.

use crate::shown::{blocks, documents};
use crate::support::{MACHINE, ProgramCall};

/// What a short run has in place of the documents' loads.
const SHORTER: [(&str, &str); 5] = [
    (" --rate 200", ""),
    (" --rate 50", ""),
    (" --duration 10s", ""),
    (" --duration 20s", ""),
    (" --stages '10s:100,30s:500,10s:0'", ""),
];

#[test]
fn commands_of_the_documents_are_valid_and_run() {
    let _shared = MACHINE.blocking_read();
    let mut played = 0;
    for (name, text) in documents() {
        for block in blocks(&text) {
            for command in block.commands() {
                let Some(line) = command.text.strip_prefix("edgeproof-load ") else { continue };
                play(&name, line.split(" #").next().unwrap_or(line));
                played += 1;
            }
        }
    }
    assert!(played > 5, "{played} commands");
}

fn play(document: &str, line: &str) {
    let folder = tempfile::tempdir().unwrap();
    let written = format!("={}/", folder.path().display());
    let mut line = SHORTER.iter().fold(line.trim().to_owned(), |line, (from, to)| line.replace(from, to));
    for format in ["html", "junit", "json"] {
        line = line.replace(&format!("{format}="), &format!("{format}{written}"));
    }
    let is_foreign = line.contains(".example") || line.contains("node ") || line.contains("--compare");
    if is_foreign {
        // The target is the reader's own. `--help` makes clap read all arguments before it, and reject an unknown one.
        let run = ProgramCall::new(&format!("{line} --help")).output();
        assert_eq!(run.code, Some(0), "{document}: {line}\n{run}");
        return;
    }
    line.push_str(" --rate 50 --duration 300ms --warm-up 100ms --unchecked");
    if line.starts_with("mixed") {
        line = line.replace(" --rate 50", "");
    }
    let run = ProgramCall::new(&line).output();
    assert_eq!(run.code, Some(0), "{document}: {line}\n{run}");
}
