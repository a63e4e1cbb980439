//! A report that is open in the browser.

use std::fs;

use edgeproof_browser::{Page, PageOptions};
use edgeproof_reports::{Format, Report, Titles, render};
use serde_json::Value;
use tempfile::TempDir;

use crate::support::{LIMIT, open_with};

/// The page of a report, and the folder of its file.
pub(crate) struct Opened {
    page: Page,
    _folder: TempDir,
}

impl Opened {
    /// Opens the page of a report at a fragment, such as `#cases`.
    pub(crate) async fn at(report: &Report, fragment: &str) -> Self {
        Self::file(&render(Format::Html, report, &Titles::new()), fragment).await
    }

    /// Opens a file.
    pub(crate) async fn file(html: &str, fragment: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("report.html");
        fs::write(&file, html).unwrap();
        let options = PageOptions {
            time_limit: LIMIT,
            ..PageOptions::new(format!("file://{}{fragment}", file.display()))
        };
        Self { page: open_with(options).await, _folder: folder }
    }

    /// Value of an expression. `shown(selector)` has the texts of the elements that one can see.
    pub(crate) async fn evaluate(&self, javascript: &str) -> Value {
        let shown = "const shown = selector => [...document.querySelectorAll(selector)]
            .filter(one => one.checkVisibility({ contentVisibilityAuto: false })).map(one => one.textContent);";
        self.page.evaluate(&format!("(async () => {{ {shown} return {javascript}; }})()")).await.unwrap()
    }

    /// Ids of the cases that one can see.
    pub(crate) async fn cases(&self) -> Vec<String> {
        let ids = self.evaluate("shown('.case > summary code')").await;
        serde_json::from_value(ids).unwrap()
    }

    /// Sets a filter.
    pub(crate) async fn set(&self, name: &str, value: &str) {
        let set = "(name, value) => { const field = document.forms[0].elements[name];
            field.value = value; field.dispatchEvent(new Event('input', { bubbles: true })); }";
        self.evaluate(&format!("({set})({name:?}, {value:?})")).await;
    }

    /// Clicks an element.
    pub(crate) async fn click(&self, selector: &str) {
        self.evaluate(&format!("document.querySelector({selector:?}).click()")).await;
        // The browser follows a link to a fragment in a task of its own, and the page hears of it in another one.
        self.evaluate("new Promise(done => setTimeout(() => requestAnimationFrame(() => done(null))))").await;
    }

    /// Presses keys.
    pub(crate) async fn press(&self, keys: &[&str]) {
        for key in keys {
            self.page.press(key).await.unwrap();
        }
    }

    /// Panics if the page sent a request, logged an error, or did anything else that a page of text does not do.
    pub(crate) async fn check_quiet(&self) {
        self.page.settle().await;
        let record = self.page.record();
        let requests: Vec<_> = record.requests.iter().filter(|request| request.kind != "Document").collect();
        assert!(requests.is_empty() && record.request_count <= 1, "{requests:?}");
        assert_eq!(record.console_count, 0, "{:?}", record.console_errors);
        assert_eq!(record.uncaught, Vec::<String>::new());
        assert_eq!(record.browser_errors, Vec::<String>::new());
        assert_eq!((record.dialog_count, record.websocket_count), (0, 0));
        assert!(
            record.windows.is_empty() && record.workers.is_empty() && record.gone.is_none(),
            "{record:?}"
        );
    }
}
