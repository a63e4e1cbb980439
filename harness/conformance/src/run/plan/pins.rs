use std::path::{Path, PathBuf};

use edgeproof_fixtures::spec::{Advice, Profile};
use edgeproof_reports::Observation;
use edgeproof_reports::difference::{DifferenceKind, Wire};

use super::case_plan::CasePlan;
use super::point_record::PointRecord;
use crate::cases::{AnyCase, CaseFindings};
use crate::judge::Check;
use crate::nearest::nearest_ids;

/// Recorded behaviour of a target at open points, which a later run asserts.
#[derive(Debug, Default)]
pub struct Pins {
    path: PathBuf,
    record: PointRecord,
}

/// A record that is unreadable or not writable.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub enum PinError {
    /// The file cannot be read.
    #[error("cannot read the pinned points in {}: {why}", path.display())]
    #[diagnostic(help(
        "--pin takes a file written by --record; delete the points that should not be asserted"
    ))]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The file has no point.
    #[error("cannot pin the points of {}: it has none", path.display())]
    #[diagnostic(help("write it again with --record, or omit --pin"))]
    NoPoint {
        /// The file.
        path: PathBuf,
    },
    /// No case that will run observes a point.
    #[error("cannot write the record {}: no case that can run observes an open point", path.display())]
    #[diagnostic(help("select more cases, or omit --record"))]
    NothingToObserve {
        /// The file.
        path: PathBuf,
    },
    /// The run observed no point.
    #[error("cannot write the record {}: the run observed no open point", path.display())]
    #[diagnostic(help("read in the report why the cases could not observe one"))]
    NothingObserved {
        /// The file.
        path: PathBuf,
    },
    /// No case observes a point.
    #[error("cannot pin {point:?} of {}: no case of `conformance {part}` observes this point", path.display())]
    #[diagnostic(help("{help}"))]
    Unknown {
        /// The file.
        path: PathBuf,
        /// The point.
        point: String,
        /// The part whose cases run.
        part: String,
        /// What to do.
        help: String,
    },
    /// The file cannot be written.
    #[error("cannot write the record {}: {why}", path.display())]
    #[diagnostic(help("name a file in a writable folder"))]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// The system's error.
        why: std::io::Error,
    },
}

impl Pins {
    /// Reads a record file.
    pub fn load(path: &Path) -> Result<Self, PinError> {
        let unreadable = |why: String| PinError::Unreadable { path: path.into(), why };
        let text = std::fs::read_to_string(path).map_err(|why| unreadable(why.to_string()))?;
        let record = PointRecord::parse(&text).map_err(unreadable)?;
        if record.points.is_empty() {
            return Err(PinError::NoPoint { path: path.into() });
        }
        Ok(Self { path: path.into(), record })
    }

    /// Checks that cases of this part observe each pinned point.
    pub fn check_points(&self, cases: &[Box<dyn AnyCase>], part: &str) -> Result<(), PinError> {
        let points = |of_part: bool| {
            let cases = cases.iter().filter(move |case| (case.part() == part) == of_part);
            cases.flat_map(|case| case.facts().points.iter().map(|point| (case.part(), point.as_str())))
        };
        let is_known = |id: &str| points(true).any(|(_, point)| point == id);
        let Some(point) = self.record.points.keys().find(|point| !is_known(point)) else { return Ok(()) };
        let help = match points(false).find(|(_, other)| other == point) {
            Some((other, _)) => format!("cases of `conformance {other}` observe it: delete its line here"),
            None => match nearest_ids(point, points(true).map(|(_, point)| point)).first() {
                Some(similar) => format!("did you mean {similar}?"),
                None => {
                    "--record writes a file with all points: correct the name, or delete the line".to_owned()
                }
            },
        };
        Err(PinError::Unknown { path: self.path.clone(), point: point.clone(), part: part.to_owned(), help })
    }

    /// Writes a record file atomically: JSON if its name ends with `.json`, otherwise TOML. `profile`: knows the points.
    pub fn record(path: &Path, observations: &[Observation], profile: &Profile) -> Result<(), PinError> {
        if observations.is_empty() {
            // With an empty record, a later run would assert nothing.
            return Err(PinError::NothingObserved { path: path.into() });
        }
        let unwritable = |why| PinError::Unwritable { path: path.into(), why };
        let record = PointRecord::of(observations);
        let text = if path.extension().is_some_and(|end| end.eq_ignore_ascii_case("json")) {
            record.to_json().map_err(|why| unwritable(why.into()))?
        } else {
            record.to_toml(profile)
        };
        let mut file = tempfile::NamedTempFile::new_in(folder(path)).map_err(unwritable)?;
        std::io::Write::write_all(&mut file, text.as_bytes()).map_err(unwritable)?;
        file.persist(path).map_err(|why| unwritable(why.error))?;
        Ok(())
    }

    /// Checks that a run can observe a point to record.
    pub fn check_observed(path: &Path, plan: &CasePlan) -> Result<(), PinError> {
        let mut runs = plan.cases.iter().filter(|planned| planned.unmet.is_empty());
        if runs.any(|planned| !planned.case.points.is_empty()) {
            return Ok(());
        }
        Err(PinError::NothingToObserve { path: path.into() })
    }

    /// Checks that a record can be written, and leaves no file behind.
    pub fn check_writable(path: &Path) -> Result<(), PinError> {
        let missing = || format!("there is no folder {}", folder(path).display());
        let probed = if path.is_dir() {
            Err(std::io::ErrorKind::IsADirectory.into())
        } else if !folder(path).is_dir() {
            Err(std::io::Error::new(std::io::ErrorKind::NotFound, missing()))
        } else {
            tempfile::NamedTempFile::new_in(folder(path)).map(drop)
        };
        probed.map_err(|why| PinError::Unwritable { path: path.into(), why })
    }

    /// Whether a point is pinned.
    pub(in crate::run) fn has(&self, point: &str) -> bool {
        self.record.points.contains_key(point)
    }

    /// Pinned points without an observation.
    pub(in crate::run) fn unobserved(&self, observed: &[Observation]) -> Vec<String> {
        let is_observed = |point: &&String| observed.iter().any(|observation| observation.point == **point);
        self.record.points.keys().filter(|point| !is_observed(point)).cloned().collect()
    }

    /// Adds a check for each pinned point among the findings.
    pub(in crate::run) fn check(&self, found: &mut CaseFindings) {
        for (point, observed) in &found.observations {
            let Some(pinned) = self.record.points.get(point) else { continue };
            let kind = DifferenceKind::Pin {
                rule: None,
                point: point.clone(),
                expected: pinned.iter().map(Wire::from).collect(),
                actual: Some(observed.into()),
            };
            let check = Check::judged(kind, pinned.contains(observed));
            found.checks.push(check.advise(Advice::PinChanged));
        }
    }
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
