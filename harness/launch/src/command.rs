use std::env;
use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Command that starts an edge: words, split like a shell splits them. No shell runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandLine {
    line: String,
    words: Vec<String>,
    folder: Option<PathBuf>,
}

/// Invalid command, found before anything runs.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, miette::Diagnostic)]
pub enum CommandError {
    /// A quote is not closed.
    #[error("cannot split the command {line:?}: a quote is not closed")]
    #[diagnostic(help("close the quote, or write \\' or \\\" for the character itself"))]
    Quote {
        /// Command, as given.
        line: String,
    },
    /// The command is empty.
    #[error("cannot split the command {line:?}: it is empty")]
    #[diagnostic(help("give the program and its arguments, such as --launch 'node edge.mjs'"))]
    Empty {
        /// Command, as given.
        line: String,
    },
    /// The program does not exist.
    #[error("cannot find the program {program:?}: {}", if program.contains('/') { "no such file" } else { "it is not in PATH" })]
    #[diagnostic(help("{advice}"))]
    NotFound {
        /// First word of the command.
        program: String,
        /// Advice for the user.
        advice: String,
    },
    /// The file is not executable.
    #[error("cannot execute {}: {}", path.display(), if path.is_dir() { "it is a directory" } else { "it is not an executable file" })]
    #[diagnostic(help("{advice}"))]
    NotExecutable {
        /// Path of the file.
        path: PathBuf,
        /// Advice for the user.
        advice: String,
    },
}

impl CommandLine {
    /// Splits `line` and looks its program up, by path or in `PATH`.
    pub fn parse(line: &str) -> Result<Self, CommandError> {
        Self::parse_in(line, None)
    }

    /// The same for a program that runs in `folder` (default: the current folder). Its path is relative to this folder.
    pub fn parse_in(line: &str, folder: Option<&Path>) -> Result<Self, CommandError> {
        let words = split(line)?;
        look_up(&words[0], env::var_os("PATH").as_deref(), folder)?;
        Ok(Self { line: line.to_owned(), words, folder: folder.map(Path::to_owned) })
    }

    /// Command, as given.
    pub fn as_str(&self) -> &str {
        &self.line
    }

    /// Folder in which the program runs (default: the current folder).
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// Program and arguments for one start, with `{host}` and `{port}` replaced in every word.
    pub fn fill(&self, host: &str, port: u16) -> Vec<String> {
        let port = port.to_string();
        self.words.iter().map(|word| word.replace("{host}", host).replace("{port}", &port)).collect()
    }
}

/// Splits a command into at least one word.
fn split(line: &str) -> Result<Vec<String>, CommandError> {
    let words = shell_words::split(line).map_err(|_| CommandError::Quote { line: line.to_owned() })?;
    match words.first() {
        Some(program) if !program.is_empty() => Ok(words),
        _ => Err(CommandError::Empty { line: line.to_owned() }),
    }
}

fn look_up(program: &str, path: Option<&OsStr>, folder: Option<&Path>) -> Result<(), CommandError> {
    if program.contains("{port}") || program.contains("{host}") {
        return Ok(()); // Known only when it is started.
    }
    let candidates: Vec<PathBuf> = match path {
        _ if program.contains('/') => vec![within(folder, program)],
        Some(path) => env::split_paths(path).map(|folder| folder.join(program)).collect(),
        None => ["/usr/bin", "/bin"].iter().map(|folder| Path::new(folder).join(program)).collect(),
    };
    if candidates.iter().any(|file| is_executable(file)) {
        return Ok(());
    }
    let is_path = program.contains('/');
    match candidates.into_iter().find(|file| if is_path { file.exists() } else { file.is_file() }) {
        Some(path) => Err(CommandError::NotExecutable { advice: how_to_run(&path), path }),
        None => {
            Err(CommandError::NotFound { program: program.to_owned(), advice: how_to_find(program, folder) })
        }
    }
}

fn is_executable(file: &Path) -> bool {
    file.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// A path of a program that runs in `folder`.
fn within(folder: Option<&Path>, path: &str) -> PathBuf {
    folder.map_or_else(|| path.into(), |folder| folder.join(path))
}

fn how_to_find(program: &str, folder: Option<&Path>) -> String {
    if program.split_once('=').is_some_and(|(name, _)| is_variable(name)) {
        return format!("no shell runs: to set a variable, put `env` in front: 'env {program} …'");
    }
    let folder_name =
        folder.map_or_else(|| "the current folder".to_owned(), |folder| folder.display().to_string());
    if !program.contains('/') && within(folder, program).is_file() {
        return format!("a file of this name is in {folder_name}: write ./{program}");
    }
    format!(
        "check the spelling; paths are relative to {folder_name}; no shell runs, so aliases, `~` and `$NAME` do not work"
    )
}

fn how_to_run(path: &Path) -> String {
    let shown = path.display();
    if path.is_dir() {
        return "name a program in this directory".into();
    }
    match path.extension().and_then(OsStr::to_str) {
        Some("js" | "mjs" | "cjs") => format!("start it with its interpreter: 'node {shown}'"),
        Some("py") => format!("start it with its interpreter: 'python3 {shown}'"),
        Some("rb") => format!("start it with its interpreter: 'ruby {shown}'"),
        Some("jar") => format!("start it with its interpreter: 'java -jar {shown}'"),
        Some("sh") => format!("start it with its interpreter: 'sh {shown}'"),
        _ => format!("`chmod +x {shown}`, or put its interpreter in front"),
    }
}

fn is_variable(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use std::fs;

    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("sh -c 'exit 1'", &["sh", "-c", "exit 1"])]
    #[case(r#"sh "a b"c  d\ e"#, &["sh", "a bc", "d e"])]
    #[case("sh $HOME && true", &["sh", "$HOME", "&&", "true"])]
    #[case("sh ''", &["sh", ""])]
    fn words_are_split_as_a_shell_splits_them(#[case] line: &str, #[case] words: &[&str]) {
        assert_eq!(CommandLine::parse(line).unwrap().fill("h", 1), words);
    }

    #[test]
    fn invalid_command_names_reason_and_fix() {
        let wrong = [
            "sh 'open",
            "",
            "  ",
            "''",
            "no-such-program-anywhere --port 1",
            "./no/such/file",
            "PORT=1 node edge.mjs",
            "/",
        ];
        let rendered = wrong.map(|line| {
            let error = CommandLine::parse(line).unwrap_err();
            let help = miette::Diagnostic::help(&error).unwrap();
            format!("{error}\n  help: {help}\n")
        });
        insta::assert_snapshot!(rendered.concat());
    }

    #[test]
    fn file_without_executable_bit_gets_interpreter_advice() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("edge.mjs");
        fs::write(&file, "").unwrap();
        let expected = CommandError::NotExecutable {
            path: file.clone(),
            advice: format!("start it with its interpreter: 'node {}'", file.display()),
        };
        assert_eq!(look_up(file.to_str().unwrap(), None, None), Err(expected.clone()));
        assert_eq!(look_up("edge.mjs", Some(folder.path().as_os_str()), None), Err(expected));
    }

    #[test]
    fn host_and_port_are_replaced_in_every_word() {
        let command = CommandLine::parse("sh --listen={host}:{port} {port} {other}").unwrap();
        assert_eq!(command.fill("127.0.0.1", 8080), ["sh", "--listen=127.0.0.1:8080", "8080", "{other}"]);
    }

    proptest! {
        #[test]
        fn quoted_words_arrive_as_they_are(words in prop::collection::vec("[^{}]*", 0..5)) {
            let line = shell_words::join(std::iter::once("sh".to_owned()).chain(words.iter().cloned()));
            prop_assert_eq!(&CommandLine::parse(&line).unwrap().fill("h", 1)[1..], &words[..]);
        }
    }
}
