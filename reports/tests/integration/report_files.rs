//! Report files: complete or not written, and a bad path fails before the run.

use std::fs;
use std::path::Path;

use edgeproof_reports::{FileReport, Format, Reader, Report, Summary, Titles, WriteError};
use rstest::rstest;

use crate::sample_run::{events, report, send};

fn open(format: Format, path: &Path) -> Result<FileReport, WriteError> {
    FileReport::new(format, path, Titles::new())
}

fn entries(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn report_file_appears_at_the_end() {
    for format in Format::ALL {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report");
        let mut reader = open(*format, &path).unwrap();
        send(&events(), &mut reader);
        assert!(entries(folder.path()).is_empty(), "{format} file before the end");
        reader.finish().unwrap();
        assert_eq!(entries(folder.path()), ["report"]);
        assert!(fs::metadata(&path).unwrap().len() > 200);
    }
}

#[test]
fn previous_file_stays_until_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.json");
    fs::write(&path, "before").unwrap();
    let mut reader = open(Format::Json, &path).unwrap();
    let events = events();
    send(&events[..events.len() - 1], &mut reader);
    assert_eq!(reader.finish().unwrap_err().to_string(), "cannot make a report: the run did not finish");
    assert_eq!(fs::read_to_string(&path).unwrap(), "before");
    reader.read(events.last().unwrap());
    reader.finish().unwrap();
    assert_eq!(Report::load(&path).unwrap(), report());
    assert_eq!(entries(folder.path()), ["r.json"]);
}

#[rstest]
#[case("none/r.json", "the folder {}/none does not exist; create it first")]
#[case("", "it is a folder; name a file in it")]
#[case("file/r.json", "the folder {}/file does not exist; create it first")]
fn bad_path_fails_before_the_run(#[case] path: &str, #[case] problem: &str) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "").unwrap();
    let path = folder.path().join(path);
    let error = open(Format::Json, &path).err().unwrap().to_string();
    let problem = problem.replace("{}", &folder.path().display().to_string());
    assert_eq!(error, format!("cannot write a report to {}: {problem}", path.display()));
    assert_eq!(entries(folder.path()), ["file"]);
}

#[cfg(unix)]
#[test]
fn report_replaces_the_target_of_a_link() {
    let folder = tempfile::tempdir().unwrap();
    let (file, link) = (folder.path().join("file"), folder.path().join("link"));
    fs::write(&file, "before").unwrap();
    std::os::unix::fs::symlink(&file, &link).unwrap();
    let mut reader = open(Format::Json, &link).unwrap();
    send(&events(), &mut reader);
    reader.finish().unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(Report::load(&file).unwrap(), report());
}

#[cfg(unix)]
#[test]
fn device_is_not_replaced() {
    let mut reader = open(Format::Json, Path::new("/dev/null")).unwrap();
    send(&events(), &mut reader);
    reader.finish().unwrap();
    assert!(!fs::metadata("/dev/null").unwrap().is_file());
}

#[test]
fn format_is_parsed_from_its_name() {
    assert!("pdf".parse::<Format>().is_err());
    assert!(Format::ALL.iter().all(|format| format.name().parse() == Ok(*format)));
}

#[test]
fn run_without_cases_has_a_report() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.json");
    let mut reader = open(Format::Json, &path).unwrap();
    let empty = Report { cases: Vec::new(), summary: Summary::default(), exit_code: 3, ..report() };
    empty.replay(&mut reader).unwrap();
    assert_eq!(Report::load(&path).unwrap().exit_code, 3);
}
