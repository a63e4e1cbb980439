//! Argument types that both programs share.

use std::collections::HashSet;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use clap::ValueEnum;
use edgeproof_reports::Format;

use super::Failure;

/// Path of a report that goes to standard output.
const STDOUT: &str = "-";

/// Value of `--report FORMAT=PATH`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportArgument {
    /// Format of the report.
    pub format: Format,
    /// File that is written at the end of the run; `-` is standard output.
    pub path: PathBuf,
}

impl ReportArgument {
    /// Whether a report goes to standard output, so that nothing else may.
    pub fn any_to_stdout(reports: &[Self]) -> bool {
        reports.iter().any(|report| report.path == Path::new(STDOUT))
    }

    /// Fails if two reports go to the same file.
    pub fn check_distinct(reports: &[Self]) -> Result<(), Failure> {
        let mut files = HashSet::new();
        match reports.iter().find(|report| !files.insert(absolute(&report.path))) {
            None => Ok(()),
            Some(report) => Err(Failure::usage(
                format!("cannot write two reports to {}", name(&report.path)),
                "give each --report a path of its own",
            )),
        }
    }
}

impl FromStr for ReportArgument {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let advice = || format!("write FORMAT=PATH with one of the formats {}", Format::names());
        let (format, path) = text.split_once('=').ok_or_else(|| format!("it has no `=`; {}", advice()))?;
        if path.is_empty() {
            return Err(format!("it has no path; {}", advice()));
        }
        let format = format.parse().map_err(|_| format!("the format `{format}` is unknown; {}", advice()))?;
        Ok(Self { format, path: path.into() })
    }
}

/// Value of `--color`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum ColorChoice {
    /// Colour on a terminal, unless `NO_COLOR` is set
    #[default]
    Auto,
    /// Colour always
    Always,
    /// No colour
    Never,
}

impl ColorChoice {
    /// Whether standard output is coloured.
    pub fn is_enabled(self) -> bool {
        self.is_enabled_on(&std::io::stdout())
    }

    /// Whether an output is coloured.
    pub fn is_enabled_on(self, output: &impl IsTerminal) -> bool {
        let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        match self {
            Self::Auto => output.is_terminal() && !no_color && !is_dumb_terminal(),
            Self::Always => true,
            Self::Never => false,
        }
    }
}

/// Whether the terminal cannot redraw a line.
pub fn is_dumb_terminal() -> bool {
    std::env::var_os("TERM").is_some_and(|term| term == "dumb")
}

/// Value of `--edge-scheme`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum EdgeScheme {
    /// HTTP
    #[default]
    Http,
    /// HTTP over TLS
    Https,
}

/// Parses a duration such as `500ms`, `10s` or `2m`. Zero is an error.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let duration = parse_duration_or_zero(text)?;
    if duration.is_zero() { Err("the duration must be longer than zero".into()) } else { Ok(duration) }
}

/// Parses a duration such as `500ms`, `10s` or `0s`.
pub fn parse_duration_or_zero(text: &str) -> Result<Duration, String> {
    humantime::parse_duration(text.trim())
        .map_err(|why| format!("{why}; write a number with a unit, such as 500ms, 10s or 2m"))
}

/// The path for messages.
fn name(path: &Path) -> String {
    if path == Path::new(STDOUT) { "standard output".into() } else { path.display().to_string() }
}

/// The same path for every spelling of a file that may not exist yet. Links count as their target.
fn absolute(path: &Path) -> PathBuf {
    let path = if path == Path::new(STDOUT) { Path::new("/dev/stdout") } else { path };
    if let Ok(found) = path.canonicalize() {
        return found;
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match (folder.canonicalize(), path.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[test]
    fn report_argument_has_format_and_path() {
        let expected = ReportArgument { format: Format::Html, path: "a=b.html".into() };
        assert_eq!("html=a=b.html".parse(), Ok(expected));
    }

    #[rstest]
    #[case::no_separator("load.html", "it has no `=`")]
    #[case::no_path("json=", "it has no path")]
    #[case::unknown_format(
        "pdf=r",
        "the format `pdf` is unknown; write FORMAT=PATH with one of the formats json"
    )]
    fn invalid_report_argument_is_explained(#[case] text: &str, #[case] expected: &str) {
        let error = text.parse::<ReportArgument>().unwrap_err();
        assert!(error.contains(expected), "{error}");
    }

    #[rstest]
    #[case::other_files("new.json", "new.html", true)]
    #[case::other_folders("new.json", "sub/new.json", true)]
    #[case::same_file("new.json", "new.json", false)]
    #[case::other_spelling("new.json", "./sub/../new.json", false)]
    #[case::link("there.json", "link.json", false)]
    #[case::link_to_folder("sub/new.json", "linked/new.json", false)]
    fn two_reports_to_one_file_are_refused(#[case] one: &str, #[case] other: &str, #[case] distinct: bool) {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir(at("sub")).unwrap();
        std::fs::write(at("there.json"), "").unwrap();
        std::os::unix::fs::symlink(at("there.json"), at("link.json")).unwrap();
        std::os::unix::fs::symlink(at("sub"), at("linked")).unwrap();
        for formats in [(Format::Json, Format::Html), (Format::Json, Format::Json)] {
            let reports = [(formats.0, one), (formats.1, other)]
                .map(|(format, name)| ReportArgument { format, path: at(name) });
            assert_eq!(ReportArgument::check_distinct(&reports).is_ok(), distinct);
        }
    }

    #[rstest]
    #[case("json=-", "html=-")]
    #[case("json=-", "html=/dev/stdout")]
    fn two_reports_to_standard_output_are_refused(#[case] one: &str, #[case] other: &str) {
        let reports = [one, other].map(|text| text.parse::<ReportArgument>().unwrap());
        assert!(ReportArgument::check_distinct(&reports).is_err());
    }

    #[rstest]
    #[case("500ms", Some(500))]
    #[case("2m", Some(120_000))]
    #[case(" 10s ", Some(10_000))]
    #[case("0s", None)]
    #[case("soon", None)]
    fn durations_are_parsed(#[case] text: &str, #[case] millis: Option<u64>) {
        assert_eq!(parse_duration(text).ok(), millis.map(Duration::from_millis));
    }
}
