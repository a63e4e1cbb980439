//! Report files: whole or not at all, and a bad path is found before the run.

use std::fs;
use std::path::Path;

use edgeproof_reports::{Event, Format, Report, open};
use rstest::rstest;

use crate::sample::{events, report, tell};

fn entries(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[rstest]
#[case(Format::Json)]
#[case(Format::Junit)]
#[case(Format::Html)]
#[case(Format::Markdown)]
fn a_report_appears_at_the_end(#[case] format: Format) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report");
    let mut reader = open(format, &path).unwrap();
    tell(&events(), reader.as_mut());
    assert!(entries(folder.path()).is_empty(), "nothing before the end");
    reader.finish().unwrap();
    assert_eq!(entries(folder.path()), ["report"]);
    assert!(fs::metadata(&path).unwrap().len() > 1_000);
}

#[test]
fn what_was_there_stays_until_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.json");
    fs::write(&path, "before").unwrap();
    let mut reader = open(Format::Json, &path).unwrap();
    let events = events();
    tell(&events[..events.len() - 1], reader.as_mut());
    assert_eq!(reader.finish().unwrap_err().to_string(), "make a report: the run did not finish");
    assert_eq!(fs::read_to_string(&path).unwrap(), "before");
    reader.read(events.last().unwrap());
    reader.finish().unwrap();
    assert_eq!(Report::load(&path).unwrap(), report());
    assert_eq!(entries(folder.path()), ["r.json"]);
}

#[rstest]
#[case("none/r.json", "there is no folder {}/none; create it first")]
#[case("", "it is a folder; name a file in it")]
#[case("file/r.json", "there is no folder {}/file; create it first")]
fn a_bad_path_is_found_at_once(#[case] path: &str, #[case] problem: &str) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "").unwrap();
    let path = folder.path().join(path);
    let error = open(Format::Json, &path).err().unwrap().to_string();
    let problem = problem.replace("{}", &folder.path().display().to_string());
    assert_eq!(error, format!("write a report to {}: {problem}", path.display()));
    assert_eq!(entries(folder.path()), ["file"]);
}

#[cfg(unix)]
#[test]
fn a_link_stays_a_link() {
    let folder = tempfile::tempdir().unwrap();
    let (file, link) = (folder.path().join("file"), folder.path().join("link"));
    fs::write(&file, "before").unwrap();
    std::os::unix::fs::symlink(&file, &link).unwrap();
    let mut reader = open(Format::Json, &link).unwrap();
    tell(&events(), reader.as_mut());
    reader.finish().unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(Report::load(&file).unwrap(), report());
}

#[cfg(unix)]
#[test]
fn a_device_is_written_to_and_not_replaced() {
    let mut reader = open(Format::Json, Path::new("/dev/null")).unwrap();
    tell(&events(), reader.as_mut());
    reader.finish().unwrap();
    assert!(!fs::metadata("/dev/null").unwrap().is_file());
}

#[test]
fn an_unknown_format_is_told_the_known_ones() {
    let error = "pdf".parse::<Format>().unwrap_err().to_string();
    assert_eq!(error, "use the report format `pdf`: the formats are json, junit, html, markdown");
    assert!(Format::ALL.iter().all(|format| format.name().parse::<Format>().unwrap() == *format));
}

#[test]
fn no_cases_is_still_a_report() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.json");
    let mut reader = open(Format::Json, &path).unwrap();
    let Event::Planned { .. } = events()[0] else { unreachable!("the first event is the plan") };
    let mut planned = events()[0].clone();
    if let Event::Planned { cases, .. } = &mut planned {
        *cases = 0;
    }
    reader.read(&planned);
    reader.read(&Event::Finished {
        summary: edgeproof_reports::Summary::default(),
        observations: Vec::new(),
        latency: None,
        duration_ms: 0,
        exit_code: 3,
    });
    reader.finish().unwrap();
    assert_eq!(Report::load(&path).unwrap().exit_code, 3);
}
