use std::path::Path;

use edgeproof_cli::{Failure, error_text};
use edgeproof_reports::{Destination, Report, WriteError, counted};

use super::args::ConformanceArgs;
use crate::run::Baseline;

/// The file of `--write-baseline`: checked before the run, written after it.
pub(super) struct NewBaseline {
    destination: Destination,
    strict: bool,
}

impl NewBaseline {
    /// Checks that the file can be written and does not exist.
    pub(super) fn of(args: &ConformanceArgs) -> Result<Option<Self>, Failure> {
        args.write_baseline.as_deref().map(|path| Self::new(path, args.strict)).transpose()
    }

    /// The same for this file. `strict`: warnings count as failures.
    pub(super) fn new(path: &Path, strict: bool) -> Result<Self, Failure> {
        check_new(path)?;
        let destination = Destination::new(path).map_err(|why| failure(path, why))?;
        Ok(Self { destination, strict })
    }

    /// Writes the failures of a run, if there are any. Yields what was done.
    pub(super) fn write(&self, report: &Report) -> Result<String, Failure> {
        let path = self.destination.path();
        let (text, count) = Baseline::lines_of(report, self.strict);
        if count == 0 {
            return Ok(format!("no baseline {} written: nothing failed", path.display()));
        }
        // Another program may have made it during the run.
        check_new(path)?;
        self.destination.write(&text).map_err(|why| failure(path, why))?;
        let failures = counted(count, "failure");
        Ok(format!("baseline {} written with {failures}: complete the reason of each line", path.display()))
    }
}

fn check_new(path: &Path) -> Result<(), Failure> {
    let name = path.display();
    if path == Path::new("-") {
        let what = "cannot write the baseline to standard output: the result of the run goes there";
        return Err(Failure::usage(what, "name a file"));
    }
    if path.symlink_metadata().is_ok() {
        return Err(Failure::usage(
            format!("cannot write the baseline {name}: it exists, and its reasons would be lost"),
            format!(
                "to add new failures to it, use --baseline {name} and --write-baseline with another file, whose lines you \
                 append; to start again, remove it first"
            ),
        ));
    }
    Ok(())
}

fn failure(path: &Path, why: WriteError) -> Failure {
    let problem = match why {
        WriteError::NotWritable { problem, .. } => problem,
        WriteError::Io { source, .. } => error_text(&source),
    };
    let what = format!("cannot write the baseline {}: {problem}", path.display());
    Failure::usage(what, "name a file in a writable folder")
}
