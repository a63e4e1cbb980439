//! The one place where tests start the program.

use std::fs;
use std::path::Path;
use std::process::Command;

/// The program, in a folder without `edgeproof.toml`. A test with files chooses a folder of its own.
pub(crate) fn edgeproof() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_edgeproof"));
    command.current_dir("/");
    command
}

#[test]
fn no_other_file_starts_the_program() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let (mut folders, mut found) = (vec![tests], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let starts =
                    fs::read_to_string(&path).unwrap().contains("Command::new(env!(\"CARGO_BIN_EXE_");
                found.extend(starts.then(|| path.file_name().unwrap().to_owned()));
            }
        }
    }
    assert_eq!(found, ["tested_program.rs"]);
}
