use std::fmt;
use std::sync::Arc;

use edgeproof_browser::{BrowserError, Chromium, ChromiumOptions, Page, PageOptions};
use tokio::sync::Mutex;

/// A browser that starts with the first page. Several runs can share it; it starts again if it ends.
pub struct SharedBrowser {
    options: ChromiumOptions,
    running: Mutex<Option<Arc<Chromium>>>,
}

impl SharedBrowser {
    /// A browser that has not started yet.
    pub fn new(options: ChromiumOptions) -> Self {
        Self { options, running: Mutex::default() }
    }

    /// Starts the browser, unless it runs.
    pub async fn start(&self) -> Result<Arc<Chromium>, BrowserError> {
        let mut running = self.running.lock().await;
        if let Some(chromium) = &*running {
            return Ok(Arc::clone(chromium));
        }
        let chromium = Arc::new(Chromium::launch(self.options.clone()).await?);
        *running = Some(Arc::clone(&chromium));
        Ok(chromium)
    }

    /// Opens a page. Starts the browser again, once, if it has ended.
    pub async fn open(&self, page: PageOptions) -> Result<Page, BrowserError> {
        let chromium = self.start().await?;
        match chromium.open(page.clone()).await {
            Err(BrowserError::Ended { .. }) => {}
            opened => return opened,
        }
        let mut running = self.running.lock().await;
        if running.as_ref().is_some_and(|current| Arc::ptr_eq(current, &chromium)) {
            *running = None;
        }
        drop(running);
        self.start().await?.open(page).await
    }

    /// Ends the browser, if it runs and no page needs it.
    pub async fn close(&self) {
        let chromium = self.running.lock().await.take();
        if let Some(chromium) = chromium.and_then(Arc::into_inner) {
            chromium.close().await;
        }
    }
}

impl fmt::Debug for SharedBrowser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedBrowser").field("options", &self.options).finish_non_exhaustive()
    }
}
