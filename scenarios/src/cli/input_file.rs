use std::path::Path;

use edgeproof_cli::Failure;

/// Reads a file that the command names.
pub(super) fn read(path: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(path).map_err(|why| {
        Failure::usage(format!("cannot read {}: {why}", path.display()), "check the path and its permissions")
    })
}
