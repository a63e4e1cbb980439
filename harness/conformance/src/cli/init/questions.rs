use std::io::{BufRead, BufReader, Write, stderr, stdin};

use edgeproof_cli::Failure;

use super::stack::Proposal;

/// Questions to the user, who may not be there.
pub(super) struct Questions(Option<Terminal>);

struct Terminal {
    input: Box<dyn BufRead>,
    output: Box<dyn Write>,
}

impl Questions {
    /// Asks nothing: each answer is the default.
    pub(super) fn none() -> Self {
        Self(None)
    }

    /// Asks on standard error, and reads standard input. Standard output is for the result.
    pub(super) fn on_the_terminal() -> Self {
        Self::with(BufReader::new(stdin()), stderr())
    }

    fn with(input: impl BufRead + 'static, output: impl Write + 'static) -> Self {
        Self(Some(Terminal { input: Box::new(input), output: Box::new(output) }))
    }

    /// Whether somebody answers.
    pub(super) fn can_ask(&self) -> bool {
        self.0.is_some()
    }

    /// A question with yes or no.
    pub(super) fn agree(&mut self, question: &str, default: bool) -> Result<bool, Failure> {
        let Some(terminal) = &mut self.0 else { return Ok(default) };
        let choice = if default { "Y/n" } else { "y/N" };
        loop {
            match terminal.ask(&format!("{question} [{choice}] "))?.to_lowercase().as_str() {
                "" => return Ok(default),
                "y" | "yes" => return Ok(true),
                "n" | "no" => return Ok(false),
                _ => {}
            }
        }
    }

    /// The launch command: the proposed one, or another one that the user types. None: there is neither.
    pub(super) fn launch(&mut self, proposed: Option<Proposal>) -> Result<Option<Proposal>, Failure> {
        let Some(terminal) = &mut self.0 else { return Ok(proposed) };
        let question = match &proposed {
            Some(proposal) => {
                format!("Launch command ({}) [{}] ", proposal.source, proposal.launch)
            }
            None => "Command that starts the edge: ".to_owned(),
        };
        let answer = terminal.ask(&question)?;
        Ok(if answer.is_empty() { proposed } else { Some(Proposal::given(&answer)) })
    }
}

impl Terminal {
    fn ask(&mut self, question: &str) -> Result<String, Failure> {
        let mut line = String::new();
        let asked = write!(self.output, "{question}").and_then(|()| self.output.flush());
        let read = asked.and_then(|()| self.input.read_line(&mut line));
        match read {
            Ok(length) if length > 0 => Ok(line.trim().to_owned()),
            _ => Err(Failure::usage("cannot read an answer: the input ended", "answer, or add --yes")),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::sink;

    use rstest::rstest;

    use super::*;

    fn questions(input: &'static str) -> Questions {
        Questions::with(input.as_bytes(), sink())
    }

    #[rstest]
    #[case::enter("\n", Some(false))]
    #[case::yes("y\n", Some(true))]
    #[case::no("No\n", Some(false))]
    #[case::asked_again("perhaps\nYES\n", Some(true))]
    #[case::end("", None)]
    fn answer_is_yes_no_or_the_default(#[case] input: &'static str, #[case] expected: Option<bool>) {
        assert_eq!(questions(input).agree("Replace it?", false).ok(), expected);
        assert!(!Questions::none().agree("Replace it?", false).unwrap());
    }

    #[rstest]
    #[case::enter("\n", Some("node a.js"))]
    #[case::other("node b.js\n", Some("node b.js"))]
    fn typed_command_replaces_the_proposed_one(#[case] input: &'static str, #[case] expected: Option<&str>) {
        let chosen = questions(input).launch(Some(Proposal::given("node a.js"))).unwrap();
        assert_eq!(chosen.as_ref().map(|proposal| proposal.launch.as_str()), expected);
        assert!(questions("\n").launch(None).unwrap().is_none());
    }
}
