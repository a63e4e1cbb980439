//! The commands of the load generator in README and docs, each as a short run. The reference edge stands for the reader's own.

use std::path::Path;

use super::targets::reference_edge;
use crate::shown::{blocks, documents};
use crate::support::{MACHINE, ProgramCall};

/// What a short run has in place of the documents' loads and limits.
const SHORTER: [(&str, &str); 6] = [
    (" --rate 200", ""),
    (" --rate 50", ""),
    (" --duration 10s", ""),
    (" --duration 20s", ""),
    (" --stages '10s:100,30s:500,10s:0'", ""),
    ("'p99<", "'p99<1000000"),
];

#[test]
fn commands_of_the_documents_are_valid_and_run() {
    let _shared = MACHINE.blocking_read();
    let (mut run, mut parsed) = (0, 0);
    for (name, text) in documents() {
        let folder = tempfile::tempdir().unwrap();
        for command in blocks(&text).iter().flat_map(crate::shown::Block::commands) {
            let Some(line) = command.text.strip_prefix("edgeproof-load ") else { continue };
            let line = line.split(" #").next().unwrap_or(line).trim();
            let is_foreign = line.contains(".example") || line.starts_with("gather ");
            // A target of somebody else, or a run of several machines, which other tests play. clap reads all arguments before `--help`, and rejects an unknown one.
            let line = if is_foreign { format!("{line} --help") } else { shortened(line, folder.path()) };
            let output = ProgramCall::new(&line).output();
            assert_eq!(output.code, Some(0), "{name}: {line}\n{output}");
            *(if is_foreign { &mut parsed } else { &mut run }) += 1;
        }
    }
    assert!(run > 5 && parsed == 3, "{run} run, {parsed} parsed");
}

/// The command as a run of less than a second, whose files are in this folder.
fn shortened(line: &str, folder: &Path) -> String {
    let shorter = SHORTER.iter().fold(line.to_owned(), |line, (from, to)| line.replace(from, to));
    let edge = shell_words::quote(&reference_edge()).into_owned();
    let own = ["\"node edge.mjs\"", "\"node my-edge.mjs\""];
    let mut shorter = own.iter().fold(shorter, |line, own| line.replace(own, &edge));
    for file in ["load.json", "load.xml", "load.html"] {
        shorter = shorter.replace(file, &folder.join(file).display().to_string());
    }
    let rate = if line.starts_with("mixed") { "" } else { " --rate 50" };
    format!("{shorter}{rate} --duration 300ms --warm-up 100ms --unchecked")
}
