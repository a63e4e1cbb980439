use std::io::Write as _;
use std::path::Path;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant, SystemTime};
use std::{fs, io};

use edgeproof_fixtures::spec::{Basis, Fact, Level, Row, Spec, Table};
use edgeproof_reports::CaseLevel;
use tempfile::NamedTempFile;

use super::{CaseFindings, Sender};
use crate::judge::{AnswerResult, Check};

/// The context of one case at its target: sends requests, observes what they do, and collects findings.
pub struct CaseContext<T: CaseTarget> {
    /// The target.
    pub target: Arc<T>,
    /// A text that no other case sends.
    pub marker: String,
    /// Timeout of an answer.
    pub timeout: Duration,
    /// The findings so far.
    pub found: CaseFindings,
    /// What the target keeps for this case.
    pub state: T::State,
    /// Monitors judge its next requests no more strictly than at this level.
    pub(crate) weakest: CaseLevel,
    pub(super) case: String,
    pub(super) level: CaseLevel,
}

/// What cases of a part reach through their context. Several cases can share it.
pub trait CaseTarget: Send + Sync + 'static {
    /// What it keeps for one case.
    type State: Default + Send;

    /// The interface.
    fn spec(&self) -> &Spec;
}

impl<T: CaseTarget> CaseContext<T> {
    /// A context for one case.
    pub fn new(target: Arc<T>, sender: Sender, timeout: Duration) -> Self {
        let Sender { case, level, marker } = sender;
        let (found, state) = (CaseFindings::default(), T::State::default());
        Self { target, marker, timeout, found, state, weakest: CaseLevel::Must, case, level }
    }

    /// Id of the case.
    pub fn case(&self) -> &str {
        &self.case
    }

    /// Level at which monitors judge a request that is sent now.
    pub(super) fn exchange_level(&self) -> CaseLevel {
        self.level.max(self.weakest)
    }

    /// The interface.
    pub fn spec(&self) -> &Spec {
        self.target.spec()
    }

    /// A row by its id.
    pub fn row(&self, id: &str) -> &Row {
        row(self.spec(), id)
    }

    /// Whether an answer has the status of a row.
    pub fn has_status(&self, id: &str, reply: &AnswerResult) -> bool {
        reply.as_ref().is_ok_and(|answer| self.spec().status(id) == Some(answer.status))
    }

    /// The current time, to measure durations.
    pub fn now(&self) -> Instant {
        Instant::now()
    }

    /// The time of day.
    pub fn wall_clock(&self) -> SystemTime {
        SystemTime::now()
    }

    /// Waits.
    pub async fn sleep(&self, time: Duration) {
        tokio::time::sleep(time).await;
    }

    /// What a future yields within a time. None: it took longer.
    pub async fn within<F: Future>(&self, limit: Duration, future: F) -> Option<F::Output> {
        tokio::time::timeout(limit, future).await.ok()
    }

    /// Writes a file.
    pub fn write(&self, path: &Path, text: &str) -> io::Result<()> {
        write_file(path, text)
    }

    /// Adds a check. The case's level limits the level of the check.
    pub fn check(&mut self, check: Check) {
        self.found.check(check, self.level);
    }

    /// Adds checks.
    pub fn checks(&mut self, checks: Vec<Check>) {
        for check in checks {
            self.check(check);
        }
    }

    /// Records the target's behaviour at the open point that has the case's id.
    pub fn observe_case(&mut self, observed: impl Into<String>) {
        self.found.observations.push((self.case.clone(), observed.into()));
    }

    /// Records the target's behaviour at an open point.
    pub fn observe(&mut self, point: &str, observed: impl Into<String>) {
        self.found.observations.push((point.into(), observed.into()));
    }
}

/// A row by its id. A version may lack it: then it is a row without id, status and body. Cases of such a row are left out, and
/// cases that expect its answer are not applicable.
pub(in crate::cases) fn row<'s>(spec: &'s Spec, id: &str) -> &'s Row {
    static MISSING: LazyLock<Row> = LazyLock::new(|| Row {
        id: String::new(),
        table: Table::Statements,
        section: String::new(),
        fact: Fact::Statement,
        condition: String::new(),
        level: Level::Open,
        basis: Basis::Interface,
        standard: None,
        stimuli: Vec::new(),
        excluded: None,
    });
    debug_assert!(spec.row(id).or_else(|| Spec::current().row(id)).is_some(), "no version has the row {id}");
    spec.row_or_renamed(id).unwrap_or(&MISSING)
}

/// Writes a file, and creates its folder if there is none. A file with the same text stays as it is.
pub fn write_file(path: &Path, text: &str) -> io::Result<()> {
    if fs::read_to_string(path).is_ok_and(|saved| saved == text) {
        return Ok(());
    }
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let mut file = NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.persist(path).map_err(|why| why.error)?;
    Ok(())
}
