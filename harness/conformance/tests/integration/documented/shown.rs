//! Commands and outputs that the documents show. The tests of the load generator read them with this file too.

use std::fs;
use std::path::Path;

/// A fenced block of a document.
#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) language: String,
    /// Line of the fence, from 1.
    pub(crate) line: usize,
    pub(crate) text: String,
}

/// A command, and the output below it.
#[derive(Debug)]
pub(crate) struct Command {
    pub(crate) text: String,
    pub(crate) output: Option<String>,
}

/// The documents for users: their names, seen from the root, and their texts.
pub(crate) fn documents() -> Vec<(String, String)> {
    let mut root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().skip(1);
    let root = root.find(|folder| folder.join("docs").is_dir()).expect("the repository has docs");
    let docs = fs::read_dir(root.join("docs")).expect("docs can be read");
    let docs = docs.map(|entry| format!("docs/{}", entry.expect("it exists").file_name().to_string_lossy()));
    let mut names: Vec<_> =
        docs.filter(|name| Path::new(name).extension().is_some_and(|ending| ending == "md")).collect();
    names.push("README.md".to_owned());
    names.sort();
    let read = |name: String| {
        let text = fs::read_to_string(root.join(&name)).expect("documents are text");
        (name, text)
    };
    names.into_iter().map(read).collect()
}

/// The fenced blocks, also those in lists.
pub(crate) fn blocks(document: &str) -> Vec<Block> {
    let (mut blocks, mut open) = (Vec::new(), None::<Block>);
    for (at, line) in document.lines().enumerate() {
        match (line.trim_start().strip_prefix("```"), &mut open) {
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some(language), None) => {
                open = Some(Block { language: language.to_owned(), line: at + 1, text: String::new() });
            }
            (None, Some(block)) => {
                block.text.push_str(line);
                block.text.push('\n');
            }
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a block has no end: {open:?}");
    blocks
}

impl Block {
    /// Its commands: the lines of shell, those behind `$`, the steps of a workflow.
    pub(crate) fn commands(&self) -> Vec<Command> {
        let plain = |text: &str| Command { text: text.to_owned(), output: None };
        let lines = self.text.lines();
        match self.language.as_str() {
            "sh" => lines.filter(|line| !line.is_empty() && !line.starts_with('#')).map(plain).collect(),
            "console" => prompted(&self.text),
            "yaml" => lines.filter_map(step).map(plain).collect(),
            _ => Vec::new(),
        }
    }
}

/// Commands behind `$`, with the lines below.
fn prompted(text: &str) -> Vec<Command> {
    let sections = format!("\n{text}");
    let sections = sections.split("\n$ ").skip(1);
    sections
        .map(|section| {
            let (command, output) = section.split_once('\n').unwrap_or((section, ""));
            Command { text: command.to_owned(), output: Some(output.trim_end().to_owned()) }
        })
        .collect()
}

/// The command of a step in YAML: `- run: COMMAND`, or an entry of a list that is a command.
fn step(line: &str) -> Option<&str> {
    let item = line.trim_start().strip_prefix("- ")?;
    let command = item.strip_prefix("run: ").unwrap_or(item);
    let is_entry = command.split(' ').next().is_some_and(|word| word.ends_with(':'));
    (!is_entry && command.contains(' ')).then_some(command)
}

/// Inline commands of a program that are complete: three words or more, and no placeholder.
pub(crate) fn inline_commands(document: &str, program: &str) -> Vec<String> {
    let (mut outside, mut fenced) = (String::new(), false);
    for line in document.lines() {
        let is_fence = line.trim_start().starts_with("```");
        fenced ^= is_fence;
        if !fenced && !is_fence {
            outside.push_str(line);
            outside.push('\n');
        }
    }
    let codes = outside.split('`').skip(1).step_by(2).map(|code| code.replace('\n', " "));
    let begins = format!("{program} ");
    let is_complete = |code: &String| {
        let is_placeholder = |word: &str| {
            let name = word.rsplit(['=', ':']).next().unwrap_or(word);
            name.len() > 1 && name.bytes().all(|byte| byte.is_ascii_uppercase()) || word == "A" || word == "B"
        };
        code.starts_with(&begins)
            && code.split_whitespace().count() > 2
            && !code.contains(['…', '|'])
            && !code.split_whitespace().any(is_placeholder)
    };
    let mut found: Vec<_> = codes.filter(is_complete).collect();
    found.sort();
    found.dedup();
    found
}
