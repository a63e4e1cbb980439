//! What runs the commands of the documents that `play.rs` does not run, and what compares the outputs without a command.

use std::fs;
use std::path::Path;

use super::shown::Block;

/// What proves a command or an output.
#[derive(Clone, Copy, Debug)]
pub(super) enum Proof {
    /// A test, a script or a snapshot runs it. The text in it is its name, or the command itself.
    By(&'static str, &'static str),
    /// A snapshot has each of its lines, up to `…`.
    Snapshot(&'static str),
    /// Nothing, for this reason.
    Nothing(&'static str),
}
use Proof::{By, Nothing, Snapshot};

/// Document, start of a command, and what runs it and those below it in its block.
const COMMANDS: &[(&str, &str, Proof)] = &[
    ("README.md", "cargo run -- conformance", By(".ci/bare", "README.md")),
    ("README.md", "npm install", By(".ci/packages/test.py", "\"npm\", \"install\"")),
    ("README.md", "cargo install", Nothing("compiles for minutes, and installs for the user")),
    ("README.md", "edgeproof init", By(INIT, "fn terminal_is_asked")),
    ("README.md", "edgeproof doctor", By(DOCTOR, "fn right_edge_has_no_problem")),
    ("README.md", "edgeproof mint edge-settings", By(ATTACHED, "fn edge_with_minted_settings_conforms")),
    ("README.md", "cargo run --features collector", By(OWN_COLLECTOR, "\"--module\"")),
    ("docs/ci.md", "just dist", Nothing("needs a container engine; .ci/image-test runs the image's folder")),
    ("docs/collector.md", "just conformance-collector", By(OWN_COLLECTOR, "\"--module\"")),
    ("docs/collector.md", "edgeproof conformance collector", By(OWN_FORMAT, "\"--open-with\"")),
    (
        "docs/hostile-peers.md",
        "just hostile",
        Nothing("plays the tests of hostile/ again; libFuzzer runs for minutes"),
    ),
    ("docs/interface-changes.md", "edgeproof spec diff HEAD~1", By(DIFF, "needs git")),
    (
        "docs/interface-changes.md",
        "just spec-change next.toml",
        By(WALKS, "fn spec_change_leads_through_a_change"),
    ),
    (
        "docs/interface-changes.md",
        "edgeproof spec snapshot snapshots",
        By("justfile", "spec snapshot \"$3\""),
    ),
    ("docs/mock.md", "edgeproof mock --listen 127.0.0.1:0", By(CURL, "fn session_of_the_guide_works")),
    ("docs/mock.md", "curl http://127.0.0.1:8484", By(CURL, "fn admin_commands_of_the_guide_work")),
    ("docs/mock.md", "docker compose", By(COMPOSE, "fn commands_of_the_file_run_as_processes")),
    ("docs/mock.md", "python3 -m pytest", By(EXAMPLES, "fn pytest_example_passes")),
    ("docs/mock.md", "node --test", By(EXAMPLES, "fn node_example_passes")),
    ("docs/mutants.md", "just mutants", By(".ci/run", "edgeproof-mutants --gate --quick")),
    ("docs/mutants.md", "just mutants-collector", By(".ci/run", "edgeproof-mutants --collector --quick")),
    ("docs/performance.md", "peers=", Nothing("installs other mocks, one of which needs Java")),
    ("docs/variation.md", "just conditions", By(".ci/run", "just conditions edge")),
];

/// Document, start of an output that stands without its command, and what compares it.
const OUTPUTS: &[(&str, &str, Proof)] = &[
    ("README.md", "   page ", Nothing("a drawing")),
    ("README.md", "conforms in the ", Snapshot("cli/snapshots/verdict_without_read_token.snap")),
    ("docs/configuration.md", "problem  LICENSE", Snapshot("cli/snapshots/doctor_settings.snap")),
    ("docs/exploration.md", "status of step 3", Nothing("the search finds this failure by its seed")),
    ("docs/hostile-peers.md", "a run against any", FIGURES),
    ("docs/load.md", "Response times (ms)", FIGURES),
    ("docs/mutants.md", "", FIGURES),
    ("docs/performance.md", "", FIGURES),
];

/// Inline commands that stand for all their forms: they need arguments.
const MENTIONS: [&str; 3] = ["edgeproof report diff", "edgeproof spec coverage", "edgeproof spec diff"];

const FIGURES: Proof = Nothing("figures of one machine, or of a run that takes minutes");
const INIT: &str = "harness/conformance/tests/integration/cli/init.rs";
const DOCTOR: &str = "harness/conformance/tests/integration/cli/doctor.rs";
const ATTACHED: &str = "harness/conformance/tests/integration/conformance/attached.rs";
const OWN_COLLECTOR: &str = "harness/conformance/tests/collector/program.rs";
const OWN_FORMAT: &str = "harness/conformance/tests/collector/own_format.rs";
const DIFF: &str = "harness/conformance/tests/integration/versions/diff.rs";
const WALKS: &str = "harness/conformance/tests/integration/versions/walks.rs";
const CURL: &str = "harness/conformance/tests/integration/needs/curl.rs";
const COMPOSE: &str = "harness/conformance/tests/integration/documented/compose.rs";
const EXAMPLES: &str = "harness/conformance/tests/integration/needs/examples.rs";
/// Its tests run each command of the load generator.
const LOAD: Proof = By("scenarios/tests/integration/program/documented.rs", "fn commands_of_the_documents");
const SNAPSHOTS: &str = "harness/conformance/tests/integration";

/// Commands of a block, each with its proof; without one, `play.rs` runs it.
pub(super) fn proven(document: &str, block: &Block) -> Vec<(String, Option<String>, Option<Proof>)> {
    let mut above = None;
    let commands = block.commands().into_iter().map(|command| {
        above = row(COMMANDS, document, &command.text).or(above);
        let is_load = command.text.starts_with("edgeproof-load ");
        (command.text, command.output, if is_load { Some(LOAD) } else { above })
    });
    commands.collect()
}

/// Whether an inline command is only named.
pub(super) fn is_mention(command: &str) -> bool {
    MENTIONS.contains(&command)
}

/// What compares an output without its command.
pub(super) fn output(document: &str, block: &Block) -> Option<Proof> {
    row(OUTPUTS, document, &block.text)
}

fn row(rows: &[(&str, &str, Proof)], document: &str, text: &str) -> Option<Proof> {
    let mut rows = rows.iter().filter(|(name, start, _)| *name == document && text.starts_with(start));
    rows.next_back().map(|(_, _, proof)| *proof)
}

/// Rows that no command and no output of these documents has.
pub(super) fn stale(documents: &[(String, Vec<Block>)]) -> Vec<String> {
    let blocks = |name: &str| {
        let found = documents.iter().filter(move |(document, _)| document == name);
        found.flat_map(|(_, blocks)| blocks).collect::<Vec<_>>()
    };
    let is_command = |(document, start, _): &&(&str, &str, Proof)| {
        let mut commands = blocks(document).into_iter().flat_map(Block::commands);
        commands.any(|command| command.text.starts_with(start))
    };
    let is_output = |(document, start, _): &&(&str, &str, Proof)| {
        blocks(document).iter().any(|block| block.language == "text" && block.text.starts_with(start))
    };
    let commands = COMMANDS.iter().filter(|row| !is_command(row));
    let outputs = OUTPUTS.iter().filter(|row| !is_output(row));
    commands.chain(outputs).map(|(document, start, _)| format!("{document}: no {start:?}")).collect()
}

/// Why a proof does not hold for a text.
pub(super) fn wrong(proof: Proof, text: &str) -> Option<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    match proof {
        By(file, part) => {
            let read = fs::read_to_string(root.join(file)).unwrap_or_default();
            (!read.contains(part)).then(|| format!("{file} does not have {part:?}"))
        }
        Snapshot(file) => {
            let read = fs::read_to_string(root.join(SNAPSHOTS).join(file)).unwrap_or_default();
            let line = text.lines().map(|line| line.split('…').next().unwrap_or(line));
            line.into_iter()
                .find(|line| !read.contains(line))
                .map(|line| format!("{file} does not have {line:?}"))
        }
        Nothing(reason) => reason.is_empty().then(|| "an exception needs a reason".to_owned()),
    }
}
