use std::path::Path;

use edgeproof_cli::Failure;

/// Reads a manifest. `parse` yields its content, or what is wrong with it.
pub(super) fn manifest<T>(
    folder: &Path,
    name: &str,
    parse: impl FnOnce(&str) -> Result<T, String>,
) -> Result<T, Failure> {
    let text = std::fs::read_to_string(folder.join(name)).map_err(|why| why.to_string());
    text.and_then(|text| parse(&text)).map_err(|why| {
        let what = format!("cannot read {name}: {why}. Nothing was written");
        Failure::usage(what, "correct the file, or name the command with --launch")
    })
}
