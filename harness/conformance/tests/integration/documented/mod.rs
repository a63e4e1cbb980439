//! Every command of README and docs is run by a test, and its output compared where it is shown.

mod compose;
mod output;
mod play;
mod rows;
pub(crate) mod shown;

use rstest::rstest;

use play::{Node, Place, document_needs_node};
use shown::{Block, blocks, documents};

fn all() -> Vec<(String, Vec<Block>)> {
    documents().into_iter().map(|(name, text)| (name, blocks(&text))).collect()
}

/// The runner runs what has no row.
#[test]
fn each_row_names_a_command_and_what_runs_it() {
    let documents = all();
    let mut wrong = rows::stale(&documents);
    for (name, blocks) in &documents {
        for block in blocks {
            for (command, _, proof) in rows::proven(name, block) {
                let why = proof.and_then(|proof| rows::wrong(proof, &command));
                wrong.extend(why.map(|why| format!("{name}:{}: {command}: {why}", block.line)));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn each_output_without_its_command_is_compared() {
    let mut wrong = Vec::new();
    for (name, blocks) in all() {
        for block in blocks.iter().filter(|block| block.language == "text") {
            let why = match rows::output(&name, block) {
                Some(proof) => rows::wrong(proof, &block.text),
                None => Some(
                    "nothing compares this output: show it below its command, in a block `console`"
                        .to_owned(),
                ),
            };
            wrong.extend(why.map(|why| format!("{name}:{}: {why}", block.line)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn each_document_is_played() {
    let played = ["README.md", "docs/"];
    for (name, blocks) in all() {
        assert!(played.iter().any(|known| name.starts_with(known)), "{name}");
        let languages = ["sh", "console", "yaml", "toml", "text", "js", "python"];
        for block in blocks {
            assert!(
                languages.contains(&&*block.language),
                "{name}:{}: language {:?}",
                block.line,
                block.language
            );
        }
    }
}

/// Documents are played by halves, beside each other.
#[rstest]
#[case::readme("R", "S")]
#[case::docs_a_to_h("docs/a", "docs/i")]
#[case::docs_i_to_z("docs/i", "docs/~")]
fn commands_run(#[case] from: &str, #[case] to: &str) {
    for (name, text) in documents() {
        if (from..to).contains(&&*name) && !document_needs_node(&name) {
            Place::new(Node::Edge).play(&name, &text, &blocks(&text));
        }
    }
}

#[test]
#[ignore = "needs Node: just test-browser"]
fn commands_of_the_edge_in_node_run() {
    for (name, text) in documents().into_iter().filter(|(name, _)| document_needs_node(name)) {
        Place::new(Node::Real).play(&name, &text, &blocks(&text));
    }
}
