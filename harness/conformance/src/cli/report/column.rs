use std::path::{Path, PathBuf};

use edgeproof_cli::Failure;

/// A report of the command line: `FILE`, or `NAME=FILE`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ColumnFile {
    name: Option<String>,
    pub(super) path: PathBuf,
}

impl ColumnFile {
    /// Reads an argument. `exists`: whether it is a file as a whole, although it has a `=`.
    pub(super) fn parse(argument: &str, exists: impl Fn(&Path) -> bool) -> Result<Self, Failure> {
        let whole = Self { name: None, path: argument.into() };
        let Some((name, path)) = argument.split_once('=') else { return Ok(whole) };
        if exists(&whole.path) {
            return Ok(whole);
        }
        if name.trim().is_empty() || path.is_empty() {
            return Err(Failure::usage(
                format!("cannot read {argument:?}: a column is FILE or NAME=FILE"),
                "give both a name and a file, such as node=node.json",
            ));
        }
        Ok(Self { name: Some(name.trim().to_owned()), path: path.into() })
    }
}

/// A name for each column: the given one, otherwise that of the file, with its folder or a number where others have it too.
pub(super) fn names(columns: &[ColumnFile]) -> Result<Vec<String>, Failure> {
    let given: Vec<&str> = columns.iter().filter_map(|column| column.name.as_deref()).collect();
    if let Some(twice) = given.iter().enumerate().find(|(at, name)| given[..*at].contains(name)) {
        let what = format!("cannot name two columns {:?}", twice.1);
        return Err(Failure::usage(what, "give each NAME=FILE a name of its own"));
    }
    let stems: Vec<String> = columns.iter().map(|column| stem(&column.path)).collect();
    let mut names: Vec<String> = Vec::new();
    for (at, column) in columns.iter().enumerate() {
        if let Some(name) = &column.name {
            names.push(name.clone());
            continue;
        }
        let others = stems.iter().enumerate().filter(|(other, stem)| *other != at && **stem == stems[at]);
        let is_shared = others.count() > 0 || given.contains(&stems[at].as_str());
        let folder = column.path.parent().and_then(Path::file_name).filter(|_| is_shared);
        let base = match folder {
            Some(folder) => format!("{}/{}", folder.to_string_lossy(), stems[at]),
            None => stems[at].clone(),
        };
        let is_taken = |name: &String| names.contains(name) || given.contains(&name.as_str());
        let mut free = std::iter::once(base.clone()).chain((2..).map(|n| format!("{base} {n}")));
        names.push(free.find(|name| !is_taken(name)).unwrap_or(base));
    }
    Ok(names)
}

/// Name of a file without its ending.
fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn columns(arguments: &str) -> Result<Vec<ColumnFile>, Failure> {
        arguments
            .split_whitespace()
            .map(|argument| ColumnFile::parse(argument, |path| path == Path::new("a=b.json")))
            .collect()
    }

    #[rstest]
    #[case::files("node.json out/go.json", &["node", "go"])]
    #[case::given("new=r.json old=q.json", &["new", "old"])]
    #[case::folders("old/r.json new/r.json", &["old/r", "new/r"])]
    #[case::one_folder("x/r.json y/x/r.json", &["x/r", "x/r 2"])]
    #[case::no_folder("r.json r.html", &["r", "r 2"])]
    #[case::given_name_goes_first("r.json r=q.json", &["r 2", "r"])]
    #[case::file_with_a_sign("a=b.json", &["a=b"])]
    fn names_of_columns_are_short_and_differ(#[case] arguments: &str, #[case] expected: &[&str]) {
        assert_eq!(names(&columns(arguments).unwrap()).unwrap(), expected);
    }

    #[rstest]
    fn column_needs_a_name_and_a_file(#[values("=r.json", "node=", "x=r.json x=q.json")] arguments: &str) {
        assert_eq!(columns(arguments).and_then(|columns| names(&columns)).unwrap_err().print(), 2);
    }
}
