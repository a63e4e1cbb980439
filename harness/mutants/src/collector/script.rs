use edgeproof_fixtures::spec::Level;
use serde_json::Value;

/// A file with scripts, one topic each, and its name.
type ScriptFile = (&'static str, &'static str);

/// The files that mutants are made of. A script imports what it needs from the wrapper.
pub(super) const FILES: &[ScriptFile] = &[
    ("answers.js", include_str!("scripts/answers.js")),
    ("errors.js", include_str!("scripts/errors.js")),
    ("options.js", include_str!("scripts/options.js")),
    ("page.js", include_str!("scripts/page.js")),
    ("post.js", include_str!("scripts/post.js")),
    ("several.js", include_str!("scripts/several.js")),
    ("wild.js", include_str!("scripts/wild.js")),
    ("wrapper.js", include_str!("scripts/wrapper.js")),
];

/// The module of a page with the wrapper alone, which changes nothing.
pub(super) const UNCHANGED: &str = "export { create } from \"./wrapper.js\";\n";

/// A function of a script file, described by the line above it:
/// `// mutant: NAME | TITLE | ROW | CAUSE`, and `| should` if the mutation has a lower level than its row. A line that
/// begins with `error` names its errors instead of a row, one that begins with `mode` is for each mode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Script {
    /// What the function makes.
    pub(super) kind: ScriptKind,
    /// Slug. The function has the same name in camel case.
    pub(super) name: &'static str,
    /// What it does wrong.
    pub(super) title: &'static str,
    /// Id of the row that it breaks. Empty for a change of errors, which has rows of its own.
    pub(super) row: &'static str,
    /// Id of its cause.
    pub(super) cause: &'static str,
    /// Level of the mutation, if it is lower than that of the row.
    pub(super) level: Option<Level>,
    /// The file with the function.
    file: &'static str,
}

/// What a script makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ScriptKind {
    /// A mutant.
    Mutant,
    /// A mutant of each of these errors. The function takes the parts of its text.
    Error(ErrorScope),
    /// A mutant of each mode, which the function takes.
    Mode,
}

/// Errors to which a change applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ErrorScope {
    /// All.
    Any,
    /// Those whose text the interface states.
    WithText,
    /// Those with a value in that text.
    WithValue,
    /// Those that the interface names.
    WithName,
}

impl ErrorScope {
    /// Whether the change applies to an error with this text, or with this name.
    pub(super) fn contains(self, text: &str) -> bool {
        let has_text = text.contains(' ');
        match self {
            Self::Any => true,
            Self::WithText => has_text,
            Self::WithValue => has_text && text.contains('<'),
            Self::WithName => !has_text,
        }
    }

    fn parse(word: &str) -> Option<Self> {
        Some(match word {
            "any" => Self::Any,
            "with-text" => Self::WithText,
            "with-value" => Self::WithValue,
            "with-name" => Self::WithName,
            _ => return None,
        })
    }
}

/// A line that describes no function, or a function without such a line.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("scripts/{file}, line {line}: {why}")]
pub(super) struct ScriptError {
    file: &'static str,
    line: usize,
    why: String,
}

impl Script {
    /// The module of a page with this mutant. The function takes `values`.
    pub(super) fn module(&self, values: &[Value]) -> String {
        let (file, function) = (self.file, function_name(self.name));
        let values = values.iter().map(Value::to_string).collect::<Vec<_>>().join(", ");
        format!("import {{ {function} }} from \"./{file}\";\n{function}({values});\n{UNCHANGED}")
    }
}

/// All scripts, in the order of the files.
pub(super) fn scripts() -> Result<Vec<Script>, ScriptError> {
    let of_file = |(file, text): &ScriptFile| read(file, text);
    let all = FILES.iter().filter(|(file, _)| *file != "wrapper.js").map(of_file);
    Ok(all.collect::<Result<Vec<_>, _>>()?.concat())
}

fn read(file: &'static str, text: &'static str) -> Result<Vec<Script>, ScriptError> {
    let error = |line, why| ScriptError { file, line, why };
    let mut scripts = Vec::new();
    // A line that describes a script, and its number.
    let mut above: Option<(usize, Script)> = None;
    for (line, text) in (1..).zip(text.lines().chain([""])) {
        let function = text.strip_prefix("export function ").and_then(|rest| rest.split_once('('));
        match (above.take(), function) {
            (Some((_, script)), Some((name, _))) if name == function_name(script.name) => {
                scripts.push(script);
            }
            (Some((line, script)), _) => {
                let why = format!("write `export function {}(…)` below it", function_name(script.name));
                return Err(error(line, why));
            }
            (None, Some((name, _))) => {
                return Err(error(line, format!("write a line `// mutant: …` above {name}")));
            }
            (None, None) => {
                let script = described(file, text).transpose().map_err(|why| error(line, why))?;
                above = script.map(|script| (line, script));
            }
        }
    }
    Ok(scripts)
}

/// The script that a line describes. None: another line.
fn described(file: &'static str, line: &'static str) -> Option<Result<Script, String>> {
    let (kind, fields) = line.strip_prefix("// ")?.split_once(": ")?;
    if !["mutant", "error", "mode"].contains(&kind) {
        return None;
    }
    let fields: Vec<&str> = fields.split(" | ").collect();
    let (name, title, about, cause, level) = match fields[..] {
        [name, title, about, cause] => (name, title, about, cause, None),
        [name, title, about, cause, "should"] => (name, title, about, cause, Some(Level::Should)),
        _ => {
            return Some(
                Err("write NAME | TITLE | ROW | CAUSE, and `| should` for a lower level".to_owned()),
            );
        }
    };
    let (kind, row) = match (kind, ErrorScope::parse(about)) {
        ("mutant", _) => (ScriptKind::Mutant, about),
        ("mode", _) => (ScriptKind::Mode, about),
        (_, Some(scope)) => (ScriptKind::Error(scope), ""),
        (_, None) => {
            return Some(Err("write any, with-text, with-value or with-name for the errors".to_owned()));
        }
    };
    Some(Ok(Script { kind, name, title, row, cause, level, file }))
}

/// A slug in camel case.
fn function_name(slug: &str) -> String {
    let mut words = slug.split('-');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |mut name, word| {
        let mut letters = word.chars();
        name.extend(letters.next().map(|letter| letter.to_ascii_uppercase()));
        name.push_str(letters.as_str());
        name
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use edgeproof_fixtures::spec::{Spec, Version};
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    const LINE: &str = "// mutant: posts-twice | posts twice | row.id | cause | should";

    #[rstest]
    #[case::none("// Topic.\nconst one = 1;\n", Ok(0))]
    #[case::one("{LINE}\nexport function postsTwice() {\n}\n", Ok(1))]
    #[case::without_function("\n{LINE}\n\nexport function postsTwice() {}", Err((2, "write `export function postsTwice(…)` below it")))]
    #[case::last("{LINE}", Err((1, "write `export function postsTwice(…)` below it")))]
    #[case::without_line("\n\nexport function postsTwice() {}", Err((3, "write a line `// mutant: …` above postsTwice")))]
    #[case::other_name("{LINE}\nexport function twice() {}", Err((1, "write `export function postsTwice(…)` below it")))]
    #[case::fields(
        "// mutant: name | title",
        Err((1, "write NAME | TITLE | ROW | CAUSE, and `| should` for a lower level"))
    )]
    #[case::scope(
        "// error: name | title | some | cause",
        Err((1, "write any, with-text, with-value or with-name for the errors"))
    )]
    fn line_and_function_belong_together(#[case] text: &str, #[case] expected: Result<usize, (usize, &str)>) {
        let text: &'static str = text.replace("{LINE}", LINE).leak();
        let expected =
            expected.map_err(|(line, why)| ScriptError { file: "a.js", line, why: why.to_owned() });
        assert_eq!(read("a.js", text).map(|all| all.len()), expected);
    }

    #[test]
    fn module_calls_the_function_with_the_values() {
        let text: &'static str = format!("{LINE}\nexport function postsTwice() {{}}").leak();
        let script = &read("post.js", text).unwrap()[0];
        assert_eq!(script.level, Some(Level::Should));
        assert_eq!(
            script.module(&[json!(["a\"", ""])]),
            "import { postsTwice } from \"./post.js\";\npostsTwice([\"a\\\"\",\"\"]);\nexport { create } from \"./wrapper.js\";\n"
        );
    }

    #[test]
    fn own_scripts_break_rows_of_the_interface() {
        let spec = Spec::builtin(Version::Current);
        let scripts = scripts().unwrap();
        let broken: BTreeSet<&str> = scripts.iter().map(|script| script.row).collect();
        let unknown: Vec<_> =
            broken.iter().filter(|row| !row.is_empty() && spec.row(row).is_none()).collect();
        assert!(broken.len() > 1 && unknown.is_empty(), "{unknown:?}");
    }
}
