//! `spec snapshot` writes the wire answers of all rows, and compares them.

use std::fs;
use std::path::Path;

use super::support::{Folder, check};
use crate::versions::ADDED;

/// The files of a folder, with their texts.
fn files(folder: &Path) -> Vec<(String, String)> {
    let file = |entry: fs::DirEntry| {
        let name = entry.file_name().into_string().unwrap();
        (name, fs::read_to_string(entry.path()).unwrap())
    };
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| file(entry.unwrap())).collect();
    files.sort();
    files
}

#[test]
fn two_snapshots_are_equal_and_a_check_shows_each_changed_file() {
    let folder = Folder::new();
    let path = folder.0.path().join("wire");
    let first = folder.run(&["spec", "snapshot", "wire"]);
    assert_eq!(first.status.code(), Some(0), "{first:?}");
    let committed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/snapshots/current");
    assert_eq!(files(&path), files(&committed), "`just wire` writes the snapshots again: read the diff");

    fs::write(path.join("notes.md"), "mine").unwrap();
    let row = path.join("relay.401.revoked.http");
    let text = fs::read_to_string(&row).unwrap().replace("  < 401\n", "  < 403\n");
    fs::write(&row, text).unwrap();
    fs::remove_file(path.join("keys.200.published.http")).unwrap();
    let stale = "# edgeproof spec snapshot: relay.401.gone · section 7.3 · must\n";
    fs::write(path.join("relay.401.gone.http"), stale).unwrap();
    let edited = files(&path);
    check("spec_snapshot_check", &folder.seen(&["spec", "snapshot", "wire", "--check"]));
    assert_eq!(files(&path), edited);

    check("spec_snapshot_again", &folder.seen(&["spec", "snapshot", "wire"]));
    check("spec_snapshot_equal", &folder.seen(&["spec", "snapshot", "wire", "--check"]));
    assert!(path.join("notes.md").exists());
}

#[test]
fn scripted_row_of_an_overlay_has_its_answer() {
    let folder = Folder::new().with("next.toml", ADDED);
    let output = folder.run(&["spec", "snapshot", "wire", "--spec", "next.toml"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    check("spec_snapshot_overlay", &folder.read("wire/relay.409.session-closed.http"));
    assert!(folder.read("wire/rows.txt").contains("relay.409.session-closed.http\n"));
}

#[test]
fn snapshot_follows_another_age_of_verdicts() {
    let folder = Folder::new().with("next.toml", "[[change]]\nid = \"limit.verdict-age\"\nvalue = 600\n");
    let output = folder.run(&["spec", "snapshot", "wire", "--spec", "next.toml"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(folder.read("wire/verdict.404.pending.http").contains("verdict-too-old: "));
}

#[test]
fn unusable_folder_of_a_snapshot_is_one_message() {
    let folder = Folder::new().with("file", "");
    fs::create_dir(folder.0.path().join("empty")).unwrap();
    fs::create_dir(folder.0.path().join("tables")).unwrap();
    fs::write(folder.0.path().join("tables/interface.toml"), "").unwrap();
    let commands: [&[&str]; 7] = [
        &["spec", "snapshot", "tables"],
        &["spec", "snapshot", "tables", "--check"],
        &["spec", "snapshot", "file"],
        &["spec", "snapshot", "file/below"],
        &["spec", "snapshot", "missing", "--check"],
        &["spec", "snapshot", "empty", "--check"],
        &["spec", "snapshot", "wire", "--spec", "missing.toml"],
    ];
    let text: Vec<_> = commands.iter().map(|args| folder.seen(args)).collect();
    check("spec_snapshot_unusable", &text.join("\n"));
    assert_eq!(folder.files(), ["empty", "file", "tables"]);
    assert_eq!(fs::read_dir(folder.0.path().join("tables")).unwrap().count(), 1);
}
