//! What the documents name is there: files, folders, headings, crates, recipes, commands and their options.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};

/// Folders of the project in which a named path can begin, seen from its root.
const ROOTS: [&str; 7] = ["fixtures", "reports", "harness", "scenarios", "docs", "fuzz", ".ci"];
/// Folders in which a path can begin that is seen from the folder of the document.
const OWN_ROOTS: [&str; 3] = ["src", "tests", "spec"];
/// Extensions of files of the project.
const EXTENSIONS: [&str; 7] = ["rs", "md", "toml", "js", "mjs", "ts", "html"];
/// Programs, with the folder of their arguments.
const PROGRAMS: [(&str, &str); 3] = [
    ("edgeproof", "harness/conformance/src"),
    ("edgeproof-load", "scenarios/src"),
    ("edgeproof-mutants", "harness/mutants/src"),
];
/// Recipes that pass their arguments to a program.
const PASSED: [(&str, &str); 7] = [
    ("conformance", "edgeproof"),
    ("spec", "edgeproof"),
    ("mint", "edgeproof"),
    ("mock", "edgeproof"),
    ("edge", "edgeproof"),
    ("load", "edgeproof-load"),
    ("mutants", "edgeproof-mutants"),
];

#[test]
fn documents_name_what_is_there() {
    let project = Project::read();
    let mut wrong = Vec::new();
    for document in project.files.iter().filter(|file| is_document(file)) {
        let text = fs::read_to_string(project.root.join(document)).unwrap();
        let folder = document.parent().unwrap();
        let found = project.wrong(folder, &text);
        wrong.extend(found.into_iter().map(|what| format!("{}: {what}", document.display())));
    }
    assert!(wrong.is_empty(), "the documents name what is not there:\n{}", wrong.join("\n"));
}

#[test]
fn wrong_names_are_found() {
    let text = "See [a](docs/gone.md), [b](README.md#gone), `harness/gone/src`, `gone.rs`, `edgeproof-gone`, `just gone`,\n\
                `edgeproof conformance --gone-first`, `just load edge-relay --gone-too`, `cargo test -p edgeproof-lost`.\n\n\
                ```sh\nedgeproof lost --strict   # a comment with `edgeproof-any`\n```\n";
    let wrong = Project::read().wrong(Path::new(""), text);
    let names = [
        "docs/gone.md",
        "README.md#gone",
        "harness/gone/src",
        "gone.rs",
        "edgeproof-gone",
        "recipe gone",
        "--gone-first of edgeproof",
        "--gone-too of edgeproof-load",
        "edgeproof-lost",
        "command lost",
    ];
    assert_eq!(wrong, names);
}

/// What documents can name.
struct Project {
    root: PathBuf,
    /// All files, seen from the root.
    files: BTreeSet<PathBuf>,
    crates: BTreeSet<String>,
    recipes: BTreeSet<String>,
}

impl Project {
    fn read() -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
        let mut files = BTreeSet::new();
        collect(&root, Path::new(""), &mut files);
        let manifests = files.iter().filter(|file| file.ends_with("Cargo.toml"));
        let crates = manifests.filter_map(|file| {
            let manifest: toml::Table = fs::read_to_string(root.join(file)).unwrap().parse().unwrap();
            Some(manifest.get("package")?.get("name")?.as_str()?.to_owned())
        });
        let justfile = fs::read_to_string(root.join("justfile")).unwrap();
        let recipes = justfile.lines().filter(|line| !line.starts_with([' ', '#', '@'])).filter_map(|line| {
            let (head, _) = line.split_once(':').filter(|(_, rest)| !rest.starts_with('='))?;
            Some(head.split_whitespace().next()?.to_owned())
        });
        Self { crates: crates.collect(), recipes: recipes.collect(), files, root }
    }

    /// What a document in this folder names and is not there.
    fn wrong(&self, folder: &Path, text: &str) -> Vec<String> {
        let mut wrong = Vec::new();
        let mut is_shell = false;
        for event in Parser::new(text) {
            match event {
                Event::Start(Tag::Link { dest_url, .. }) if !dest_url.contains("://") => {
                    wrong.extend(self.wrong_link(folder, &dest_url));
                }
                Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(language))) => {
                    is_shell = &*language == "sh";
                }
                Event::End(TagEnd::CodeBlock) => is_shell = false,
                Event::Text(block) if is_shell => {
                    wrong.extend(block.lines().filter_map(|line| self.wrong_command(line)));
                }
                Event::Code(code) => wrong.extend(self.wrong_code(folder, &code)),
                _ => {}
            }
        }
        wrong
    }

    fn wrong_link(&self, folder: &Path, link: &str) -> Option<String> {
        let (path, heading) = link.split_once('#').unwrap_or((link, ""));
        let document = if path.is_empty() { None } else { Some(normalized(&folder.join(path))) };
        let exists = document.as_ref().is_none_or(|path| self.exists(path));
        let has_heading = || {
            let Some(document) = document.as_ref().filter(|_| !heading.is_empty()) else { return true };
            let text = fs::read_to_string(self.root.join(document)).unwrap_or_default();
            text.lines().filter(|line| line.starts_with('#')).any(|line| slug(line) == heading)
        };
        (!exists || !has_heading()).then(|| link.to_owned())
    }

    fn wrong_code(&self, folder: &Path, code: &str) -> Option<String> {
        if code.contains(' ') {
            return self.wrong_command(code);
        }
        if code.starts_with("edgeproof") && code.bytes().all(|byte| byte == b'-' || byte.is_ascii_lowercase())
        {
            return (!self.crates.contains(code)).then(|| code.to_owned());
        }
        let is_wrong = alternatives(code).iter().any(|path| !self.is_named_rightly(folder, path));
        is_wrong.then(|| code.to_owned())
    }

    /// Whether a text is no path of the project, or one that exists.
    fn is_named_rightly(&self, folder: &Path, text: &str) -> bool {
        let path = Path::new(text.trim_end_matches('/'));
        let begins_in = |roots: &[&str]| roots.iter().any(|root| path.starts_with(root));
        if text.contains('/') {
            let from_root = !begins_in(&ROOTS) || self.exists(path);
            let is_own = begins_in(&OWN_ROOTS) && folder != Path::new("");
            return from_root && (!is_own || self.exists(&folder.join(path)));
        }
        let is_file = path.extension().is_some_and(|ending| EXTENSIONS.iter().any(|known| ending == *known));
        let is_name = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte));
        !is_file || !is_name || self.files.iter().any(|file| file.ends_with(path))
    }

    fn exists(&self, path: &Path) -> bool {
        let text = path.to_string_lossy();
        let Some((before, after)) = text.split_once('*') else {
            return self.files.iter().any(|file| file.starts_with(path));
        };
        self.files.iter().map(|file| file.to_string_lossy()).any(|file| {
            file.strip_prefix(before).is_some_and(|rest| rest.contains(after.trim_start_matches('*')))
        })
    }

    fn wrong_command(&self, line: &str) -> Option<String> {
        let line = line.split(" #").next().unwrap_or_default();
        let words: Vec<&str> = line.split_whitespace().skip_while(|word| word.contains('=')).collect();
        match words[..] {
            ["just", recipe, ref arguments @ ..] => {
                if !self.recipes.contains(recipe) {
                    return Some(format!("recipe {recipe}"));
                }
                let (_, program) = PASSED.iter().find(|(name, _)| *name == recipe)?;
                self.wrong_option(program, arguments)
            }
            ["cargo", ref arguments @ ..] => {
                let named = arguments.windows(2).filter(|pair| ["-p", "--package"].contains(&pair[0]));
                let unknown =
                    named.map(|pair| pair[1]).find(|name| !self.crates.contains(*name) && *name != "CRATE");
                if unknown.is_some() {
                    return unknown.map(str::to_owned);
                }
                let at = arguments.iter().position(|word| *word == "--")?;
                let package =
                    arguments[..at].windows(2).find(|pair| pair[0] == "-p" || pair[0] == "--package");
                let program = package.map_or("edgeproof", |pair| pair[1]);
                (arguments[0] == "run").then(|| self.wrong_program_call(program, &arguments[at + 1..]))?
            }
            [program, ref arguments @ ..] => self.wrong_program_call(program, arguments),
            [] => None,
        }
    }

    fn wrong_program_call(&self, program: &str, arguments: &[&str]) -> Option<String> {
        let (_, folder) = PROGRAMS.iter().find(|(name, _)| *name == program)?;
        let is_command =
            |word: &&&str| !word.starts_with('-') && word.bytes().all(|byte| byte.is_ascii_lowercase());
        if program == "edgeproof"
            && let Some(command) = arguments.first().filter(is_command)
            && !self.files.contains(&Path::new(folder).join("cli").join(format!("{command}.rs")))
            && !self.exists(&Path::new(folder).join("cli").join(command))
            && !self.files.contains(&Path::new("harness/cli/src").join(format!("{command}.rs")))
        {
            return Some(format!("command {command}"));
        }
        self.wrong_option(program, arguments)
    }

    /// The first option that no argument of the program has.
    fn wrong_option(&self, program: &str, arguments: &[&str]) -> Option<String> {
        let (_, folder) = PROGRAMS.iter().find(|(name, _)| *name == program)?;
        let folders = [Path::new(folder), Path::new("harness/cli/src")];
        let sources = self.files.iter().filter(|file| folders.iter().any(|folder| file.starts_with(folder)));
        let sources: String =
            sources.filter_map(|file| fs::read_to_string(self.root.join(file)).ok()).collect();
        let is_known = |option: &str| {
            let field = option.replace('-', "_");
            ["help", "version"].contains(&option)
                || sources.contains(&format!("\"{option}\""))
                || sources
                    .lines()
                    .any(|line| line.trim().trim_start_matches("pub ").starts_with(&format!("{field}:")))
                || sources.contains(&format!(") {field}:"))
        };
        let mut options =
            arguments.iter().filter_map(|word| word.trim_matches(['[', ']', '`']).strip_prefix("--"));
        let options =
            options.by_ref().map(|word| word.split(['=', ']', '|', ',', ')']).next().unwrap_or_default());
        options
            .filter(|option| !option.is_empty())
            .find(|option| !is_known(option))
            .map(|option| format!("--{option} of {program}"))
    }
}

fn is_document(file: &Path) -> bool {
    // The change log also names what is gone.
    file.extension().is_some_and(|ending| ending == "md") && file != Path::new("CHANGELOG.md")
}

/// The files below a folder that belong to the project.
fn collect(root: &Path, folder: &Path, files: &mut BTreeSet<PathBuf>) {
    for entry in fs::read_dir(root.join(folder)).unwrap().map(Result::unwrap) {
        let path = folder.join(entry.file_name());
        if entry.file_type().unwrap().is_file() {
            files.insert(path);
        } else if entry.file_type().unwrap().is_dir()
            && ![".git", "target", "node_modules"].iter().any(|name| path.ends_with(name))
        {
            collect(root, &path, files);
        }
    }
}

/// The texts that `{a,b}` stands for.
fn alternatives(text: &str) -> Vec<String> {
    let Some((before, rest)) = text.split_once('{') else { return vec![text.to_owned()] };
    let Some((list, after)) = rest.split_once('}') else { return vec![text.to_owned()] };
    list.split(',').map(|one| format!("{before}{one}{after}")).collect()
}

/// The path without `..`.
fn normalized(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut path, part| {
        if part.as_os_str() == ".." {
            path.pop();
        } else if part.as_os_str() != "." {
            path.push(part);
        }
        path
    })
}

/// Anchor of a heading.
fn slug(heading: &str) -> String {
    let text = heading.trim_start_matches('#').trim().to_lowercase();
    text.chars()
        .filter(|sign| sign.is_alphanumeric() || "- _".contains(*sign))
        .collect::<String>()
        .replace(' ', "-")
}
