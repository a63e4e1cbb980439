use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use edgeproof_cli::exit_code::BROKEN;
use edgeproof_cli::{Failure, write_stdout};
use edgeproof_fixtures::spec::Spec;

use super::play::play;
use super::revision::ComparedSpec;
use crate::snapshot::{Snapshot, SnapshotFolder};

#[derive(Debug, Args)]
pub(super) struct SnapshotArgs {
    /// Folder of the snapshot: a file for each row, and rows.txt with all rows
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Write nothing: compare with the folder, and exit 1 if anything differs
    #[arg(long)]
    check: bool,
    /// The interface: current, pre-seal, a folder of tables, an overlay file, or REV:FOLDER of a git repository
    #[arg(long, value_name = "SPEC", default_value = "current")]
    spec: ComparedSpec,
}

/// `edgeproof spec snapshot`.
pub(super) fn main(args: &SnapshotArgs) -> Result<u8, Failure> {
    let spec = Arc::new(args.spec.load()?);
    let folder = SnapshotFolder::open(&args.folder)?;
    if args.check { check(&spec, &folder) } else { write(&spec, folder) }
}

fn check(spec: &Arc<Spec>, folder: &SnapshotFolder) -> Result<u8, Failure> {
    folder.require_snapshot()?;
    let snapshot = played(spec)?;
    let differences = folder.differences(&snapshot);
    if differences.is_empty() {
        write_stdout(b"no difference\n")?;
        return Ok(0);
    }
    let mut text = String::new();
    for difference in &differences {
        _ = writeln!(text, "{difference}");
    }
    _ = writeln!(text, "{} of {} files differ", differences.len(), snapshot.files().len());
    write_stdout(text.as_bytes())?;
    Ok(BROKEN)
}

fn write(spec: &Arc<Spec>, folder: SnapshotFolder) -> Result<u8, Failure> {
    // Before the rows are played: an unusable folder is an error at once.
    let writer = folder.writer()?;
    let snapshot = played(spec)?;
    let written = writer.write(&snapshot)?;
    let text = format!(
        "{} files: {} new, {} changed, {} removed\n",
        snapshot.files().len(),
        written.new,
        written.changed,
        written.removed
    );
    write_stdout(text.as_bytes())?;
    Ok(0)
}

/// Plays the rows.
fn played(spec: &Arc<Spec>) -> Result<Snapshot, Failure> {
    play(async {
        let advice = "`edgeproof conformance` with the same --spec shows more";
        Snapshot::play(spec).await.map_err(|why| Failure::of(&why, advice).incomplete())
    })
}
