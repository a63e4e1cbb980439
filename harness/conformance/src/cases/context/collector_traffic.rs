use std::time::Instant;

use edgeproof_browser::PageRecord;
use edgeproof_reports::CaseLevel;
use parking_lot::Mutex;

use crate::collector::Canaries;

/// All pages of a run.
#[derive(Debug, Default)]
pub struct CollectorTraffic(Mutex<Vec<PageTrace>>);

/// What one page of a case did.
#[derive(Debug)]
pub struct PageTrace {
    /// Id of the case.
    pub case: String,
    /// Level of the case.
    pub level: CaseLevel,
    /// Data of the page that no request may contain.
    pub canaries: Canaries,
    /// References that the page passed to `start()`.
    pub references: Vec<String>,
    /// URLs of the edges that the page got as `apiUrl`.
    pub edges: Vec<String>,
    /// URL of the page.
    pub page: String,
    /// URL of the module.
    pub module: String,
    /// When the page first called `start()`. None: it did not.
    pub started: Option<Instant>,
    /// What the page did.
    pub record: PageRecord,
}

impl CollectorTraffic {
    /// Records a page.
    pub fn push(&self, page: PageTrace) {
        self.0.lock().push(page);
    }

    /// Number of requests so far.
    pub fn count(&self) -> usize {
        self.0.lock().iter().map(|page| page.record.request_count).sum()
    }

    /// Whether no page is recorded.
    pub fn is_empty(&self) -> bool {
        self.0.lock().is_empty()
    }

    /// Calls `judge` with all pages so far.
    pub fn judge<T>(&self, judge: impl FnOnce(&[PageTrace]) -> T) -> T {
        judge(&self.0.lock())
    }
}
