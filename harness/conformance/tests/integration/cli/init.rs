//! `edgeproof init`: from a project's files to `edgeproof.toml`, a workflow and a first run.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output};

use rstest::rstest;
use tempfile::TempDir;

use super::support::{Folder, check, seen};
use super::terminal;
use crate::broken_edge;
use crate::limited;

const WORKFLOW: &str = ".github/workflows/edgeproof.yml";
const YES: [&str; 2] = ["init", "--yes"];

/// A project in a repository of its own.
fn project(files: &[(&str, &str)]) -> Folder {
    let folder = Folder::new();
    for (name, text) in [&[(".git/HEAD", "")], files].concat() {
        write(&folder.0.path().join(name), text);
    }
    folder
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// `node`, `npm`, `python3`, `go` and `cargo`, in place of those of the machine. All run this script.
fn programs(script: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in ["node", "npm", "python3", "go", "cargo"] {
        program(&folder.path().join(name), script);
    }
    folder
}

fn program(path: &Path, script: &str) {
    write(path, &format!("#!/bin/sh\n{script}\n"));
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// The command in the project, with these programs.
fn command(folder: &Folder, args: &[&str], programs: &TempDir) -> Command {
    let mut command = folder.command(args);
    command.env("PATH", format!("{}:/usr/bin:/bin", programs.path().display()));
    command.env("EDGEPROOF", env!("CARGO_BIN_EXE_edgeproof"));
    command
}

fn run(folder: &Folder, args: &[&str], script: &str) -> Output {
    let programs = programs(script);
    limited::output(&mut command(folder, args, &programs))
}

/// The output without that of the run, and the files that were written.
fn around_the_run(folder: &Folder, args: &[&str], output: &Output) -> String {
    let text = seen(args, output);
    let (before, run) = text.split_once("\nedgeproof ").unwrap_or((&text, ""));
    let after = run.split_once("\nnext: ").map(|(_, next)| format!("…\n\nnext: {next}")).unwrap_or_default();
    let mut text = format!("{before}\n{after}");
    for name in ["edgeproof.toml", WORKFLOW] {
        if let Ok(content) = fs::read_to_string(folder.0.path().join(name)) {
            let _ = write!(text, "--- {name}\n{content}");
        }
    }
    text
}

/// Name of the running case.
fn case() -> String {
    let thread = std::thread::current();
    let test = thread.name().unwrap().rsplit("::").next().unwrap();
    // `case_1_name`.
    test.splitn(3, '_').nth(2).unwrap().to_owned()
}

#[rstest]
#[case::node_start(&[("package.json", r#"{"scripts":{"start":"node --enable-source-maps server.mjs"}}"#), ("package-lock.json", "{}")])]
#[case::node_start_in_a_shell(&[("package.json", r#"{"scripts":{"start":"NODE_ENV=test tsx src/edge.ts"}}"#)])]
#[case::node_prestart(&[("package.json", r#"{"scripts":{"prestart":"tsc","start":"node dist/edge.js"}}"#), ("pnpm-lock.yaml", "")])]
#[case::node_main(&[("package.json", r#"{"main":"lib/my edge"}"#), ("lib/my edge.js", ""), ("index.js", "")])]
#[case::node_file(&[("package.json", "{}"), ("src/server.js", "")])]
#[case::python_django(&[("manage.py", ""), ("requirements.txt", "django\n"), ("main.py", "")])]
#[case::python_flask(&[("requirements.txt", "flask\n"), ("app.py", "from flask import Flask\nshop = Flask(__name__)\n")])]
#[case::python_fastapi(&[("pyproject.toml", "[project]\nname = \"shop\"\n"), ("main.py", "app = FastAPI()\n")])]
#[case::python_file(&[("pyproject.toml", "[project]\nname = \"shop\"\n"), ("edge.py", "import aiohttp\n")])]
#[case::go_here(&[("go.mod", "module shop\n"), ("main.go", "// The edge.\npackage main\n")])]
#[case::go_command(&[("go.mod", "module shop\n"), ("shop.go", "package shop\n"), ("gen.go", "//go:build ignore\n\npackage main\n"), ("cmd/edge/main.go", "package main\n")])]
#[case::rust_main(&[("Cargo.toml", "[package]\nname = \"shop\"\n"), ("src/main.rs", "")])]
#[case::rust_program(&[("Cargo.toml", "[package]\nname = \"shop\"\n[[bin]]\nname = \"edge\"\n"), ("src/bin/edge.rs", "")])]
#[case::second_stack(&[("package.json", r#"{"devDependencies":{}}"#), ("go.mod", "module shop\n"), ("main.go", "package main\n")])]
fn launch_command_is_found(#[case] files: &[(&str, &str)]) {
    let folder = project(files);
    // The edge ends at once: what counts here is how it is started.
    let output = run(&folder, &YES, "exit 3");
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    check(&format!("init_{}", case()), &around_the_run(&folder, &YES, &output));
}

#[test]
fn script_of_a_virtual_environment_is_found() {
    let folder =
        project(&[("pyproject.toml", "[project]\nname = \"shop\"\nscripts = { edge = \"shop:main\" }\n")]);
    for name in ["python", "edge"] {
        program(&folder.0.path().join(".venv/bin").join(name), "exit 3");
    }
    let output = run(&folder, &YES, "exit 4");
    check("init_python_script", &around_the_run(&folder, &YES, &output));
}

#[rstest]
#[case::empty(&[])]
#[case::node_without_a_server(&[("package.json", "{}")])]
#[case::rust_with_two_programs(&[("Cargo.toml", "[package]\nname = \"shop\"\n"), ("src/bin/a.rs", ""), ("src/bin/b.rs", "")])]
#[case::python_with_two_scripts(&[("pyproject.toml", "[project.scripts]\ndrop-db = \"shop:drop\"\nfill-db = \"shop:fill\"\n")])]
#[case::damaged_manifest(&[("package.json", "{\"main\": }")])]
#[case::open_quote(&[("package.json", r#"{"scripts":{"start":"node 'server.mjs"}}"#)])]
fn nothing_is_written_without_a_usable_command(#[case] files: &[(&str, &str)]) {
    let folder = project(files);
    let before = folder.files();
    let output = run(&folder, &YES, "exit 3");
    assert_eq!((output.status.code(), folder.files()), (Some(2), before));
    check(&format!("init_refused_{}", case()), &seen(&YES, &output));
}

/// From nothing to a verdict in one command.
#[test]
fn right_edge_conforms_at_once() {
    let folder =
        project(&[("package.json", r#"{"scripts":{"start":"node server.mjs"}}"#), ("server.mjs", "")]);
    let output = run(&folder, &YES, r#"exec "$EDGEPROOF" edge"#);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.starts_with(
            "wrote edgeproof.toml: launch = \"node server.mjs\" (scripts.start of package.json)\n"
        ),
        "{text}"
    );
    assert!(text.contains("\n\nusing edgeproof.toml\n"), "{text}");
    // On a machine that is too busy, cases about time do not run.
    let code = output.status.code().unwrap();
    assert!([0, 3].contains(&code) && text.contains(&format!("(exit {code})\n")), "{text}");
}

#[test]
fn existing_files_stay() {
    let config = "# mine\nlaunch = \"node server.mjs\"\nfilter = [\"health.exists\"]\n";
    let files = [("edgeproof.toml", config), (WORKFLOW, "# mine\n"), ("package.json", "no JSON")];
    let folder = project(&files);
    let mut texts = Vec::new();
    for args in [&YES[..], &["init", "--yes", "--launch", "node other.mjs"], &["init"]] {
        let output = run(&folder, args, r#"exec "$EDGEPROOF" edge"#);
        texts.push(around_the_run(&folder, args, &output));
        let kept = files.map(|(name, _)| folder.read(name));
        assert_eq!(kept, files.map(|(_, text)| text.to_owned()));
    }
    check("init_existing_files", &texts.join("\n"));
}

#[test]
fn invalid_file_is_found_before_anything_is_written() {
    let folder = project(&[("edgeproof.toml", "lunch = \"node server.mjs\"\n")]);
    let output = run(&folder, &YES, "exit 3");
    assert_eq!(
        (output.status.code(), folder.files()),
        (Some(2), vec![".git".into(), "edgeproof.toml".into()])
    );
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains("cannot use edgeproof.toml:1: the key `lunch` is unknown"), "{error}");
}

#[test]
fn workflow_stays_out_of_a_folder_in_which_nobody_reads_it() {
    let folder = project(&[("services/edge/server.mjs", "")]);
    let args = ["init", "--yes", "--launch", "node server.mjs"];
    let programs = programs("exit 3");
    let output = limited::output(
        command(&folder, &args, &programs).current_dir(folder.0.path().join("services/edge")),
    );
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = text.lines().take(2).collect();
    let root = folder.0.path().canonicalize().unwrap();
    let expected = format!(
        "no {WORKFLOW}: GitHub reads workflows in the root of the repository only, {}; docs/ci.md has the lines",
        root.display()
    );
    assert_eq!(lines, ["wrote edgeproof.toml: launch = \"node server.mjs\" (as given)", &expected]);
    assert!(!folder.0.path().join("services/edge/.github").exists());
}

#[test]
fn unwritable_folder_gets_no_half_of_the_files() {
    let folder = project(&[("server.mjs", ""), (".github", "a file")]);
    let args = ["init", "--yes", "--launch", "node server.mjs"];
    let output = run(&folder, &args, "exit 3");
    assert_eq!(folder.files(), [".git", ".github", "server.mjs"]);
    check("init_unwritable", &seen(&args, &output));
}

/// On a terminal: another command than the proposed one, a file that is replaced, one that stays, and a baseline.
#[test]
fn terminal_is_asked() {
    let package = r#"{"scripts":{"start":"node server.mjs"}}"#;
    let folder =
        project(&[("package.json", package), ("edgeproof.toml", "# mine\n"), (WORKFLOW, "# mine\n")]);
    let programs = programs("exit 3");
    // It relays no refusal, and is not tested for the rest.
    let edge = broken_edge::command("as-502");
    let typed = format!("y\n{edge}\nn\ny\n");
    let args = ["init"];
    let output = terminal::output(&mut command(&folder, &args, &programs), &typed);
    let (out, asked) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert_eq!(output.status.code(), Some(1), "{out}{asked}");
    let config = folder.read("edgeproof.toml").replace(&edge, "COMMAND");
    let last: Vec<&str> = out.lines().skip_while(|line| !line.starts_with("does not conform")).collect();
    let text = format!("{asked}\n--- stdout\n…\n{}\n--- edgeproof.toml\n{config}", last.join("\n"));
    let mut settings = insta::Settings::clone_current();
    settings.add_filter(r"\d+ failures", "N failures");
    settings.bind(|| check("init_on_a_terminal", &text));
    assert_eq!(folder.read(WORKFLOW), "# mine\n");
    assert!(folder.read("known.txt").contains("refusal.401.expired "), "{}", folder.read("known.txt"));
}

#[test]
fn help_names_the_exit_codes() {
    check("help_init", &Folder::new().seen(&["init", "--help"]));
}
