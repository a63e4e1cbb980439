use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use edgeproof_cli::exit_code::BROKEN;
use edgeproof_cli::{Failure, runtime, signals, write_stdout};
use edgeproof_fixtures::spec::{Spec, SpecChoice};

use crate::snapshot::{Snapshot, SnapshotFolder};

#[derive(Debug, Args)]
pub(super) struct SnapshotArgs {
    /// Folder of the snapshot: a file for each row, and rows.txt with all rows
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Write nothing: compare with the folder, and exit 1 if anything differs
    #[arg(long)]
    check: bool,
    /// The interface: current, pre-seal, a folder of tables, or an overlay file
    #[arg(long, value_name = "SPEC", default_value_t)]
    spec: SpecChoice,
}

/// `edgeproof spec snapshot`.
pub(super) fn main(args: &SnapshotArgs) -> Result<u8, Failure> {
    let spec = Arc::new(args.spec.load()?);
    let folder = SnapshotFolder::open(&args.folder)?;
    if args.check { check(&spec, &folder) } else { write(&spec, folder) }
}

fn check(spec: &Arc<Spec>, folder: &SnapshotFolder) -> Result<u8, Failure> {
    folder.require_snapshot()?;
    let snapshot = play(spec)?;
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
    let snapshot = play(spec)?;
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

/// Plays the rows. A signal ends it, and the temporary files are deleted.
fn play(spec: &Arc<Spec>) -> Result<Snapshot, Failure> {
    let runtime = runtime()?;
    let interrupted = {
        let _context = runtime.enter();
        signals::catch()?
    };
    runtime.block_on(async {
        tokio::select! {
            played = Snapshot::play(spec) => played.map_err(|why| {
                Failure::of(&why, "`edgeproof conformance` with the same --spec shows more").incomplete()
            }),
            signal = interrupted => {
                let advice = "start it again; the folder is as before";
                Err(Failure::usage("the snapshot was interrupted", advice).ended_by(signal.exit_code()))
            }
        }
    })
}
