use std::fmt;
use std::sync::Arc;

use super::Arrival;

/// Callback for each finished request, such as for a log. It runs in the task that serves the request, so it must not
/// block.
#[derive(Clone)]
pub struct Observer(Arc<dyn Fn(&Arrival) + Send + Sync>);

impl Observer {
    /// An observer that calls `callback`.
    pub fn new(callback: impl Fn(&Arrival) + Send + Sync + 'static) -> Self {
        Self(Arc::new(callback))
    }

    pub(super) fn notify(&self, arrival: &Arrival) {
        (self.0)(arrival);
    }
}

impl fmt::Debug for Observer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Observer")
    }
}
