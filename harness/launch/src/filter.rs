use std::io;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};
use tokio::time::timeout;

use super::CommandLine;

/// A program that reads an input to its end, writes an answer and exits.
#[derive(Debug, Clone)]
pub struct Filter {
    words: Vec<String>,
    folder: Option<PathBuf>,
}

/// What a [`Filter`] answered.
#[derive(Debug)]
pub struct FilterOutput {
    /// Its exit status.
    pub status: ExitStatus,
    /// Its standard output, up to 1 MiB.
    pub stdout: Vec<u8>,
    /// Its standard error, up to 1 MiB.
    pub stderr: Vec<u8>,
}

/// Why a [`Filter`] gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum FilterError {
    /// It does not start, or its pipes fail.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// It did not exit in time. It and its children were killed.
    #[error("it did not exit within {}", humantime::format_duration(*.0))]
    TimedOut(Duration),
}

/// Longest output that is kept (bytes).
const LONGEST: u64 = 1024 * 1024;

impl Filter {
    /// A filter that runs this command.
    pub fn new(command: &CommandLine) -> Self {
        Self { words: command.fill("", 0), folder: command.folder().map(Path::to_owned) }
    }

    /// Runs the program on this input. It and its children are killed when the time is over, or when the future is
    /// dropped.
    pub async fn run(&self, input: &[u8], limit: Duration) -> Result<FilterOutput, FilterError> {
        let mut command = Command::new(&self.words[0]);
        command.args(&self.words[1..]).process_group(0).kill_on_drop(true);
        if let Some(folder) = &self.folder {
            command.current_dir(folder);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = Group::of(command.spawn()?);
        let answer = timeout(limit, child.answer(input)).await;
        Ok(answer.map_err(|_| FilterError::TimedOut(limit))??)
    }
}

/// A child that leads a process group. Dropping it kills the group.
struct Group {
    child: Child,
    pid: Option<Pid>,
}

impl Group {
    fn of(child: Child) -> Self {
        let pid = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        Self { child, pid }
    }

    async fn answer(&mut self, input: &[u8]) -> io::Result<FilterOutput> {
        let (stdin, stdout, stderr) =
            (self.child.stdin.take(), self.child.stdout.take(), self.child.stderr.take());
        let write = async {
            if let Some(mut stdin) = stdin {
                // A program may exit without reading its input.
                let _ = stdin.write_all(input).await;
            }
        };
        let ((), stdout, stderr, status) = tokio::join!(write, read(stdout), read(stderr), self.child.wait());
        Ok(FilterOutput { status: status?, stdout: stdout?, stderr: stderr? })
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(pid) = self.pid {
            // An error means that the group has ended.
            let _ = kill_process_group(pid, Signal::KILL);
        }
    }
}

async fn read(pipe: Option<impl AsyncRead + Unpin>) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    if let Some(pipe) = pipe {
        pipe.take(LONGEST).read_to_end(&mut text).await?;
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn filter(line: &str) -> Filter {
        Filter::new(&CommandLine::parse(line).unwrap())
    }

    #[rstest]
    #[case("cat", 0, "text")]
    #[case("sh -c 'cat >&2; exit 3'", 3, "")]
    #[case("true", 0, "")]
    #[tokio::test]
    async fn input_leads_to_output_and_exit_code(
        #[case] line: &str,
        #[case] code: i32,
        #[case] stdout: &str,
    ) {
        let output = filter(line).run(b"text", Duration::from_secs(20)).await.unwrap();
        assert_eq!((output.status.code(), &output.stdout[..]), (Some(code), stdout.as_bytes()));
    }

    #[tokio::test]
    async fn program_that_hangs_is_killed_with_its_children() {
        let limit = Duration::from_millis(300);
        let result = filter("sh -c 'sleep 3600 & sleep 3600'").run(b"", limit).await;
        assert!(matches!(result, Err(FilterError::TimedOut(_))), "{result:?}");
    }
}
