//! `edgeproof.toml`: where it is found, what goes before it, and what is wrong with it.

use std::fs;
use std::process::Output;

use super::support::{Folder, check, seen};
use crate::limited;

/// One case, so that a run takes no time.
const ONE: [&str; 2] = ["--filter", "health.exists"];

/// An edge that writes down in which folder it runs.
const EDGE: &str = "#!/bin/sh\npwd > ran-in\nexec \"$EDGEPROOF\" edge\n";

const FILE: &str = r#"# The edge of the shop.
launch = "sh ./edge.sh"
jobs = 4
filter = ["health.exists"]
baseline = "known.txt"

[reports]
json = "out.json"

[target.staging]
url = "https://staging.example"
no-service = true

[target.account]
part = "service"
base-url = "https://service.example"
read-token = "$EDGEPROOF_TEST_TOKEN"
"#;

/// A repository with a file and an edge.
fn project() -> Folder {
    let folder =
        Folder::new().with("edgeproof.toml", FILE).with("edge.sh", EDGE).with("known.txt", "# none\n");
    fs::create_dir_all(folder.0.path().join(".git")).unwrap();
    fs::create_dir_all(folder.0.path().join("sub/deep")).unwrap();
    folder
}

/// Runs the program in a folder of the project.
fn run(folder: &Folder, within: &str, args: &[&str]) -> Output {
    run_with(folder, within, args, &[])
}

fn run_with(folder: &Folder, within: &str, args: &[&str], variables: &[(&str, &str)]) -> Output {
    let mut command = folder.command(args);
    command.current_dir(folder.0.path().join(within)).env("EDGEPROOF", env!("CARGO_BIN_EXE_edgeproof"));
    for name in ["READ_TOKEN", "READ_TOKEN_EXPIRED", "CHROME"] {
        command.env_remove(name);
    }
    limited::output(command.envs(variables.iter().copied()))
}

fn printed(args: &[&str], output: &Output) -> String {
    seen(args, output)
}

/// The first line of standard output.
fn first_line(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).lines().next().unwrap_or_default().to_owned()
}

#[test]
fn file_gives_the_target_and_the_first_line_names_it() {
    let folder = project();
    let args = ["conformance"];
    check("config_run", &printed(&args, &run(&folder, "", &args)));
    assert_eq!(folder.report("out.json").target.command.as_deref(), Some("sh ./edge.sh"));
}

#[test]
fn file_is_found_from_a_sub_folder_and_its_paths_are_relative_to_it() {
    let folder = project();
    let output = run(&folder, "sub/deep", &["conformance"]);
    assert_eq!(
        (output.status.code(), &*first_line(&output)),
        (Some(0), "using ../../edgeproof.toml"),
        "{output:?}"
    );
    let root = folder.0.path().canonicalize().unwrap();
    assert_eq!(folder.read("ran-in").trim(), root.to_str().unwrap());
    // The report is beside the file.
    assert_eq!(folder.report("out.json").exit_code, 0);
    assert!(fs::read_dir(folder.0.path().join("sub/deep")).unwrap().next().is_none());
}

#[test]
fn search_ends_at_the_root_of_the_repository() {
    let folder = project();
    fs::create_dir(folder.0.path().join("sub/.git")).unwrap();
    let output = run(&folder, "sub/deep", &["config"]);
    assert_eq!(first_line(&output), "no edgeproof.toml");
    // Without a repository, only the working directory counts.
    fs::remove_dir(folder.0.path().join("sub/.git")).unwrap();
    fs::remove_dir(folder.0.path().join(".git")).unwrap();
    let output = run(&folder, "sub/deep", &["config"]);
    assert_eq!(first_line(&output), "no edgeproof.toml");
}

#[test]
fn command_line_goes_before_the_environment_and_the_environment_before_the_file() {
    let folder = Folder::new().with(
        "edgeproof.toml",
        "part = \"service\"\nbase-url = \"http://127.0.0.1:9\"\nread-token = \"@gone.txt\"\ncase-timeout = \"1s\"\n",
    );
    let list = ["conformance", "--list", "--filter", "verdict.*"];
    let text = |output: &Output| String::from_utf8_lossy(&output.stderr).into_owned();
    // The file: its token cannot be read.
    let output = run(&folder, "", &list);
    assert!(output.status.code() == Some(2) && text(&output).contains("gone.txt"), "{output:?}");
    // The environment goes before it, so that its token is not read.
    let variables = [("READ_TOKEN", "service_license_abc")];
    let output = run_with(&folder, "", &list, &variables);
    assert!(text(&output).contains("cannot use the value of READ_TOKEN: it is a license"), "{output:?}");
    // The command line goes before both.
    let output =
        run_with(&folder, "", &[&list[..], &["--read-token", "service_read_abc"]].concat(), &variables);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let output = run_with(&folder, "", &["config"], &variables);
    check("config_environment", &printed(&["config"], &output));
}

#[test]
fn file_is_ignored_with_no_config_and_with_embedded() {
    let folder = project();
    for option in ["--no-config", "--embedded"] {
        let output =
            run(&folder, "", &[&["conformance", "edge", option, "--color", "never"], &ONE[..]].concat());
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        assert!(first_line(&output).starts_with("edgeproof reference edge · embedded"), "{output:?}");
    }
    assert_eq!(folder.files(), [".git", "edge.sh", "edgeproof.toml", "known.txt", "sub"]);
}

#[test]
fn target_of_the_command_line_goes_before_that_of_the_file() {
    let folder = project();
    let launch = format!("{} edge", env!("CARGO_BIN_EXE_edgeproof"));
    let output = run(&folder, "", &["conformance", "--launch", &launch, "--report", "json=own.json"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    // Baseline and filter still hold.
    assert_eq!(
        (folder.report("own.json").target.command, folder.report("own.json").summary.planned),
        (Some(launch), 1)
    );
    let output = run(&folder, "", &["conformance", "http://127.0.0.1:9", "--no-service", "--list"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
}

#[test]
fn option_that_needs_another_gets_it_from_the_file() {
    let folder = project();
    let output = run(&folder, "", &["conformance", "--port-env", "PORT", "--ready-timeout", "20s"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
}

#[test]
fn named_target_is_chosen_with_target() {
    let folder = project();
    let texts: Vec<String> = [
        &["config", "--target", "staging"][..],
        &["config", "service"],
        &["conformance", "--target", "stagin"],
        &["conformance", "keys", "--target", "account"],
        &["conformance", "--target", "account"],
        &["config", "--target", "lost"],
    ]
    .iter()
    .map(|args| printed(args, &run(&folder, "", args)))
    .collect();
    check("config_targets", &texts.join("\n"));
}

#[test]
fn several_targets_without_a_choice_exit_2() {
    let text = "[target.a]\nurl = \"https://a.example\"\n[target.b]\nurl = \"https://b.example\"\n";
    let folder = Folder::new().with("edgeproof.toml", text);
    let args = ["conformance"];
    check("config_several_targets", &printed(&args, &run(&folder, "", &args)));
    // The only target is chosen.
    let folder = folder.with("edgeproof.toml", text.split("[target.b]").next().unwrap());
    assert_eq!(first_line(&run(&folder, "", &["config"])), "using edgeproof.toml, target a");
}

#[test]
fn target_without_a_file_exits_2() {
    let args = ["conformance", "--target", "staging"];
    check("config_no_file", &Folder::new().seen(&args));
}

#[test]
fn wrong_file_exits_2_with_its_line_and_a_suggestion() {
    let files = [
        "launch = \"node edge.mjs\"\njbos = 4\n",
        "launch = \"node edge.mjs\"\njobs = \"4\"\n",
        "jobs = 300\n",
        "edge-scheme = \"ftp\"\n",
        "filter = \"cors.*\"\n",
        "list = true\n",
        "base-url = \"https://service.example\"\n",
        "part = \"servcie\"\n",
        "launch = \"a\"\nurl = \"http://127.0.0.1:1\"\n",
        "[reports]\npdf = \"a.pdf\"\n",
        "[target.a]\nstrict = true\n",
        "[target]\nurl = \"http://127.0.0.1:1\"\n",
        "launch = \"node edge.mjs\nstrict = true\n",
        "launch = \"no-such-program\"\n",
    ];
    let texts: Vec<String> = files
        .iter()
        .map(|text| {
            let folder = Folder::new().with("edgeproof.toml", text);
            let output = run(&folder, "", &["conformance"]);
            assert_eq!((output.status.code(), folder.files().len()), (Some(2), 1), "{output:?}");
            assert!(output.stdout.is_empty(), "{output:?}");
            let folder = folder.0.path().canonicalize().unwrap();
            let errors =
                String::from_utf8(output.stderr).unwrap().replace(folder.to_str().unwrap(), "FOLDER");
            format!("{text}{errors}")
        })
        .collect();
    check("config_wrong", &texts.join("\n"));
}

/// Neither the error of the credential itself nor one on a line beside it shows it.
#[test]
fn credential_in_the_file_exits_2_and_is_never_shown() {
    let service = "part = \"service\"\nbase-url = \"https://service.example\"\n";
    let files = [
        format!("{service}read-token = \"hunter2\"\n"),
        format!("{service}read-token = \"@hunter.txt\"\nlicense = \"service_license_hunter2\"\n"),
        format!(
            "{service}state-url = \"http://127.0.0.1:1\"\nstate-header = \"Authorization: Bearer hunter2\"\n"
        ),
        format!("{service}read-token = \"hunter2\"\njbos = 4\n"),
        format!("{service}read-token = \"hunter2\njobs = 4\n"),
        "launch = \"env LICENSE=service_license_hunter2 node edge.mjs\"\n".to_owned(),
    ];
    let texts: Vec<String> = files
        .iter()
        .map(|text| {
            let folder = Folder::new().with("edgeproof.toml", text);
            let output = run(&folder, "", &["conformance"]);
            let shown = printed(&["conformance"], &output);
            assert!(output.status.code() == Some(2) && !shown.contains("hunter2"), "{shown}");
            shown
        })
        .collect();
    check("config_secret", &texts.join("\n"));
}

#[test]
fn credential_comes_from_a_file_beside_the_configuration_or_from_a_variable() {
    let text = |token: &str| {
        format!("part = \"service\"\nbase-url = \"http://127.0.0.1:9\"\nread-token = \"{token}\"\n")
    };
    let folder =
        project().with("edgeproof.toml", &text("@token.txt")).with("token.txt", "service_read_abc\n");
    let list = ["conformance", "--list", "--filter", "verdict.*"];
    assert_eq!(run(&folder, "sub", &list).status.code(), Some(0));
    let folder = folder.with("edgeproof.toml", &text("$EDGEPROOF_TEST_TOKEN"));
    let output = run_with(&folder, "sub", &list, &[("EDGEPROOF_TEST_TOKEN", "service_read_abc")]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(run(&folder, "sub", &list).status.code(), Some(2));
}

/// Without its file, a run would test a built-in part, and pass.
#[test]
fn file_of_another_user_is_ignored_and_named() {
    let folder = project();
    let path = folder.0.path().join("edgeproof.toml");
    let own = rustix::process::geteuid().as_raw();
    // Only root can give a file away; the others link to a file of root.
    if std::os::unix::fs::chown(&path, Some(own + 1), None).is_err() {
        fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("/bin/sh", &path).unwrap();
    }
    let owner = std::os::unix::fs::MetadataExt::uid(&fs::metadata(&path).unwrap());
    let expected =
        format!("../edgeproof.toml is ignored: it belongs to user {owner}, and you are user {own}");
    let output = run(&folder, "sub", &["conformance", "--launch", "false"]);
    assert_eq!((output.status.code(), first_line(&output)), (Some(3), expected.clone()), "{output:?}");
    for arguments in [&["conformance"][..], &["conformance", "--target", "staging"]] {
        let output = run(&folder, "sub", arguments);
        let shown = String::from_utf8_lossy(&output.stderr).replace('\n', " ");
        assert_eq!(output.status.code(), Some(2), "{shown}");
        assert!(shown.contains("belongs to user"), "{shown}");
    }
}

/// The command of a finding reads the file again, so that it repeats only what the command line gave.
#[test]
fn command_that_runs_a_case_again_reads_the_file() {
    let folder = project().with("edge.sh", "exit 1\n");
    run(&folder, "", &["conformance", "--strict"]);
    let report = fs::read_to_string(folder.0.path().join("out.json")).unwrap();
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    let reproduce = report["cases"][0]["reproduce"].to_string();
    assert!(!reproduce.contains("--launch"), "{reproduce}");
}

#[test]
fn last_run_is_that_of_the_project() {
    let folder = project().with("edge.sh", "exit 1\n");
    run(&folder, "", &["conformance"]);
    let output = run(&folder, "sub", &["conformance", "--failed", "--list"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let listed = String::from_utf8_lossy(&output.stdout).lines().count();
    assert!((1..20).contains(&listed), "{output:?}");
    let output = run(&folder, "sub", &["conformance", "--failed"]);
    assert!(String::from_utf8_lossy(&output.stdout).contains("did not pass in the run of"), "{output:?}");
}

#[test]
fn schema_is_printed() {
    let output = Folder::new().run(&["config", "--schema"]);
    let schema: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(schema["title"], "edgeproof.toml");
}
