use std::fmt;
use std::sync::Arc;

use super::Arrival;

/// Told of every request when it is finished, such as for a log. Called from what serves requests: must not block.
#[derive(Clone)]
pub struct Observer(Arc<dyn Fn(&Arrival) + Send + Sync>);

impl Observer {
    /// Hands each arrival to `look`.
    pub fn new(look: impl Fn(&Arrival) + Send + Sync + 'static) -> Self {
        Self(Arc::new(look))
    }

    pub(crate) fn see(&self, arrival: &Arrival) {
        (self.0)(arrival);
    }
}

impl fmt::Debug for Observer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Observer")
    }
}
