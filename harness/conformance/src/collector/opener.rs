use std::path::Path;
use std::time::Duration;

use edgeproof_launch::{CommandError, CommandLine, Filter, FilterOutput};
use serde_json::Value;

/// A program that opens collections of another format (`--open-with`).
#[derive(Debug)]
pub struct Opener {
    filter: Filter,
}

/// A collection that was opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenedCollection {
    /// The session reference.
    pub session_ref: String,
    /// Everything in it.
    pub text: Vec<u8>,
}

/// Timeout of the program (`docs/collectors.md`).
const LIMIT: Duration = Duration::from_secs(10);
/// Exit code for a collection that does not open.
const NOT_OPENED: i32 = 1;
/// Characters of an answer that an error shows.
const SHOWN: usize = 200;

impl Opener {
    /// The program of a command line, which runs in `folder` (default: the current folder).
    pub fn parse(line: &str, folder: Option<&Path>) -> Result<Self, CommandError> {
        Ok(Self { filter: Filter::new(&CommandLine::parse_in(line, folder)?) })
    }

    /// Opens a posted body. None: it does not open. The error says how the program failed.
    pub async fn open(&self, body: &[u8]) -> Result<Option<OpenedCollection>, String> {
        let output = self.run(body).await?;
        match output.status.code() {
            Some(0) => {
                let session_ref = session_ref(&output.stdout).ok_or_else(|| {
                    failed(&format!("it wrote {}; expected an object with sessionRef", shown(&output.stdout)))
                })?;
                Ok(Some(OpenedCollection { session_ref, text: output.stdout }))
            }
            Some(NOT_OPENED) => Ok(None),
            _ => Err(failed(&format!("it ended with {} and wrote {}", output.status, shown(&output.stderr)))),
        }
    }

    /// Opens a body that the collector did not post, and yields whatever the program writes. None: it does not open, even if
    /// the program crashes.
    pub async fn open_changed(&self, body: &[u8]) -> Result<Option<Vec<u8>>, String> {
        let output = self.run(body).await?;
        Ok(output.status.success().then_some(output.stdout))
    }

    async fn run(&self, body: &[u8]) -> Result<FilterOutput, String> {
        self.filter.run(body, LIMIT).await.map_err(|why| failed(&why.to_string()))
    }
}

/// The error of a command that is wrong.
fn failed(why: &str) -> String {
    format!(
        "the command of --open-with failed: {why}\nit gets a posted body on standard input, and exits with 0 after it wrote \
         {{\"sessionRef\":…}}, or with 1 if the body does not open, within {} s",
        LIMIT.as_secs()
    )
}

fn session_ref(text: &[u8]) -> Option<String> {
    let opened: Value = serde_json::from_slice(text).ok()?;
    opened.get("sessionRef")?.as_str().map(str::to_owned)
}

/// The beginning of an output.
fn shown(text: &[u8]) -> String {
    let text: String = String::from_utf8_lossy(text).trim().chars().take(SHOWN).collect();
    if text.is_empty() { "nothing".to_owned() } else { format!("{text:?}") }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::opens("cat", Ok(Some("a-1")))]
    #[case::does_not_open("sh -c 'exit 1'", Ok(None))]
    #[case::no_object("sh -c 'echo opened'", Err("it wrote \"opened\"; expected an object with sessionRef"))]
    #[case::silent("true", Err("it wrote nothing"))]
    #[case::crashes("sh -c 'echo no key >&2; exit 9'", Err("and wrote \"no key\""))]
    #[tokio::test]
    async fn exit_code_and_output_say_whether_it_opens(
        #[case] line: &str,
        #[case] expected: Result<Option<&str>, &str>,
    ) {
        let opened = Opener::parse(line, None).unwrap().open(br#"{"sessionRef":"a-1"}"#).await;
        match (opened, expected) {
            (Ok(opened), Ok(expected)) => {
                assert_eq!(opened.map(|opened| opened.session_ref).as_deref(), expected);
            }
            (Err(why), Err(expected)) => assert!(why.contains(expected), "{why}"),
            (opened, _) => panic!("{opened:?}"),
        }
    }
}
