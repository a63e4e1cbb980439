use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::{Command, Error};

use super::Failure;

/// Option whose value is a whole command.
const LAUNCH: &str = "--launch";

/// The advice for `--launch python3 -m edge`: without quotes, the words after the first one are taken for arguments of this
/// program. None: the error has another reason.
pub(super) fn unquoted_launch(error: &Error, parser: &Command, words: &[OsString]) -> Option<Failure> {
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    let words: Vec<&str> = words.iter().map(|word| word.to_str()).collect::<Option<_>>()?;
    let (what, advice) = advice(parser.find_subcommand(words.get(1)?)?, &words)?;
    Some(Failure::usage(what, advice))
}

/// What is wrong with `--launch` in these words, and what to write.
fn advice(own: &Command, words: &[&str]) -> Option<(String, String)> {
    let (first, rest) = words.split_at(words.iter().position(|word| *word == LAUNCH)? + 1).1.split_first()?;
    let end = rest.iter().position(|word| is_option(own, word)).unwrap_or(rest.len());
    // A command with a space is quoted.
    if end == 0 || first.contains(' ') {
        return None;
    }
    let command = [&[*first], &rest[..end]].concat().join(" ").replace('\'', r"'\''");
    let condition = if rest[0].starts_with('-') { "if it belongs to the command, " } else { "" };
    Some((
        format!("cannot use {:?} beside {LAUNCH} {first}", rest[0]),
        format!("{condition}quote the whole command: {LAUNCH} '{command}'"),
    ))
}

/// Whether a word is an option of this command.
fn is_option(command: &Command, word: &str) -> bool {
    let name = word.split('=').next().unwrap_or_default();
    command.get_opts().any(|option| {
        let is_long = option.get_long().is_some_and(|long| name.strip_prefix("--") == Some(long));
        is_long || option.get_short().is_some_and(|short| word == format!("-{short}"))
    })
}

#[cfg(test)]
mod tests {
    use clap::{Arg, ArgAction};
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::module(
        "run --launch python3 -m edge",
        Some("if it belongs to the command, quote the whole command: --launch 'python3 -m edge'")
    )]
    #[case::words("run --launch go run . --quiet", Some("quote the whole command: --launch 'go run .'"))]
    #[case::option_before(
        "run -q --launch node edge.mjs --port 3000",
        Some("quote the whole command: --launch 'node edge.mjs --port 3000'")
    )]
    #[case::quote("run --launch echo it's", Some(r"quote the whole command: --launch 'echo it'\''s'"))]
    #[case::no_launch("run --quite", None)]
    #[case::right("run --launch node -q", None)]
    fn words_of_a_command_are_quoted(#[case] line: &str, #[case] expected: Option<&str>) {
        let words: Vec<&str> = ["program"].into_iter().chain(line.split(' ')).collect();
        let quiet = Arg::new("quiet").long("quiet").short('q').action(ArgAction::SetTrue);
        let own = Command::new("run").args([Arg::new("launch").long("launch"), quiet]);
        assert_eq!(advice(&own, &words).map(|(_, advice)| advice).as_deref(), expected);
    }

    #[test]
    fn quoted_command_has_no_advice() {
        let own = Command::new("run").arg(Arg::new("launch").long("launch"));
        assert_eq!(advice(&own, &["program", "run", "--launch", "node edge.mjs", "--quite"]), None);
    }
}
