//! Circles of files that import each other.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use super::imports::{Imports, of_folder, of_sources};

/// The largest circle that is still easy to read (files).
const LARGEST: usize = 3;

#[test]
fn no_circle_has_more_than_three_files() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let harness = fs::read_dir(root.join("harness")).unwrap().map(|entry| entry.unwrap().path());
    let crates = harness.chain(["fixtures", "reports", "scenarios"].map(|name| root.join(name)));
    let mut found = String::new();
    for folder in crates.map(|path| path.join("src")).filter(|path| path.is_dir()) {
        for circle in large_circles(&of_folder(&folder)) {
            _ = writeln!(found, "{}: {} files\n{}", folder.display(), circle.len(), circle.join("\n"));
        }
    }
    assert!(found.is_empty(), "{found}");
}

/// Names that `mod.rs` hands on are traced to the files that define them.
#[test]
fn circle_through_a_reexport_is_found() {
    let sources = [
        ("lib.rs", "mod a; mod b; mod c; mod d; pub use d::D;"),
        ("a.rs", "use crate::b::B; pub struct A;"),
        ("b.rs", "pub struct B(crate::c::C);"),
        ("c.rs", "use super::D; pub struct C(D);"),
        ("d.rs", "pub struct D; impl D { fn d() { super::a::A } }"),
    ];
    let imports = of_sources(&sources.map(|(file, text)| (file.to_owned(), text.to_owned())));
    let circles = large_circles(&imports);
    assert_eq!(circles, [["a.rs -> b.rs", "b.rs -> c.rs", "c.rs -> d.rs", "d.rs -> a.rs"]]);
}

/// Each circle of more than [`LARGEST`] files: a line for each file and what it imports in the circle.
fn large_circles(imports: &Imports) -> Vec<Vec<String>> {
    let mut done = BTreeSet::new();
    let mut circles = Vec::new();
    for file in imports.keys() {
        if done.contains(file.as_str()) {
            continue;
        }
        let circle: BTreeSet<&str> = reached(imports, file)
            .into_iter()
            .filter(|other| reached(imports, other).contains(file.as_str()))
            .collect();
        done.extend(circle.iter().copied());
        if circle.len() > LARGEST {
            let within = |file: &str| {
                let others = imports[file].iter().map(String::as_str).filter(|other| circle.contains(other));
                format!("{file} -> {}", others.collect::<Vec<_>>().join(", "))
            };
            circles.push(circle.iter().map(|file| within(file)).collect());
        }
    }
    circles
}

fn reached<'i>(imports: &'i Imports, from: &str) -> BTreeSet<&'i str> {
    let mut reached = BTreeSet::new();
    let mut waiting = vec![from];
    while let Some(file) = waiting.pop() {
        for next in imports.get(file).into_iter().flatten() {
            if reached.insert(next.as_str()) {
                waiting.push(next);
            }
        }
    }
    reached
}
