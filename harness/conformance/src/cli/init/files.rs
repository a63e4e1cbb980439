use std::fs;
use std::path::Path;

use edgeproof_cli::Failure;
use edgeproof_reports::Destination;

use super::CONFIG;
use super::stack::Proposal;

/// Path of the workflow.
pub(super) const WORKFLOW: &str = ".github/workflows/edgeproof.yml";

/// Files to write, all checked to be writable.
pub(super) struct NewFiles {
    files: Vec<(Destination, String, String)>,
    kept: Vec<String>,
}

impl NewFiles {
    /// Checks that the files can be written. None: the file stays as it is.
    pub(super) fn check(config: Option<&Proposal>, workflow: Option<&str>) -> Result<Self, Failure> {
        let (mut files, mut kept) = (Vec::new(), Vec::new());
        match config {
            Some(proposal) => {
                let said =
                    format!("wrote {CONFIG}: launch = {} ({})", quoted(&proposal.launch), proposal.source);
                files.push((destination(Path::new(CONFIG))?, config_text(proposal, None), said));
            }
            None => kept.push(format!("kept {CONFIG}: it exists")),
        }
        let path = Path::new(WORKFLOW);
        match workflow {
            Some(text) => {
                let parent = path.parent().unwrap_or(path);
                fs::create_dir_all(parent).map_err(|why| failure(parent, &why))?;
                files.push((destination(path)?, text.to_owned(), format!("wrote {WORKFLOW}")));
            }
            None if path.symlink_metadata().is_ok() => kept.push(format!("kept {WORKFLOW}: it exists")),
            None => {}
        }
        Ok(Self { files, kept })
    }

    /// Writes the files. Yields what was done, in lines.
    pub(super) fn write(self) -> Result<Vec<String>, Failure> {
        let Self { files, mut kept } = self;
        let mut said = Vec::new();
        for (destination, text, line) in files {
            destination.write(&text).map_err(|why| failure(destination.path(), &why))?;
            said.push(line);
        }
        said.append(&mut kept);
        Ok(said)
    }
}

/// Writes a file that this command wrote before.
pub(super) fn replace(path: &Path, text: &str) -> Result<(), Failure> {
    destination(path)?.write(text).map_err(|why| failure(path, &why))
}

/// The text of `edgeproof.toml`.
pub(super) fn config_text(proposal: &Proposal, baseline: Option<&str>) -> String {
    let mut lines = vec![
        "# Options of `edgeproof conformance`; `edgeproof config` prints those in force.".to_owned(),
        "# edgeproof starts the edge with its settings and with PORT and HOST in the environment.".to_owned(),
        format!("launch = {}", quoted(&proposal.launch)),
    ];
    if let Some(timeout) = proposal.ready_timeout {
        lines.push("# The first start compiles. Faster: build before, and name the program.".to_owned());
        lines.push(format!("ready-timeout = {}", quoted(timeout)));
    }
    lines.extend(baseline.map(|baseline| format!("baseline = {}", quoted(baseline))));
    lines.join("\n") + "\n"
}

fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

fn destination(path: &Path) -> Result<Destination, Failure> {
    Destination::new(path).map_err(|why| failure(path, &why))
}

fn failure(path: &Path, why: &dyn std::error::Error) -> Failure {
    Failure::usage(
        format!("cannot write {}: {}", path.display(), edgeproof_cli::error_text(why)),
        "run the command in a folder that you may write to",
    )
}
