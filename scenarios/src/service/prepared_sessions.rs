use std::sync::{Arc, OnceLock};
use std::time::Duration;

use edgeproof_mock::states::StateRequest;
use edgeproof_targets::{HookError, StateHook};
use futures_util::stream::{self, StreamExt, TryStreamExt};
use tokio::task::JoinHandle;

/// Sessions that a state hook makes at a foreign service. Dropping the value ends their renewal.
#[derive(Debug)]
pub struct PreparedSessions {
    /// References, and whether the session has a verdict.
    pub references: Vec<(String, bool)>,
    renewal: JoinHandle<()>,
    failure: Arc<OnceLock<HookError>>,
}

/// Number of sessions that a run polls in turn.
const SESSIONS: u64 = 100;
/// Requests to the hook that run at the same time.
const AT_ONCE: usize = 8;
/// Time after which each verdict is made again: a service keeps it for two minutes (8).
const RENEWAL: Duration = Duration::from_secs(60);

impl PreparedSessions {
    /// Makes the sessions. `run`: a text that no other run sends.
    pub async fn make(hook: StateHook, run: &str) -> Result<Self, HookError> {
        let hook = Arc::new(hook);
        let asked: Vec<String> =
            (0..SESSIONS).map(|number| format!("edgeproof-load-{run}-{number}")).collect();
        let mut references = with_verdicts(&hook, &asked).await?;
        let pending = format!("edgeproof-load-{run}-pending");
        match hook.provide(&StateRequest::pending(&pending)).await {
            Ok(reply) => references.push((reply.reference.unwrap_or(pending), false)),
            Err(HookError::Unsupported) => {}
            Err(why) => return Err(why),
        }
        let failure = Arc::new(OnceLock::new());
        let failed = Arc::clone(&failure);
        let renewal = tokio::spawn(async move {
            loop {
                tokio::time::sleep(RENEWAL).await;
                if let Err(why) = with_verdicts(&hook, &asked).await {
                    failed.get_or_init(|| why);
                    return;
                }
            }
        });
        Ok(Self { references, renewal, failure })
    }

    /// Why the sessions were not renewed, if they were not. Their verdicts are too old then.
    pub fn failure(&self) -> Option<&HookError> {
        self.failure.get()
    }
}

impl Drop for PreparedSessions {
    fn drop(&mut self) {
        self.renewal.abort();
    }
}

/// Makes a verdict for each reference. Yields the references that the service uses.
async fn with_verdicts(hook: &StateHook, asked: &[String]) -> Result<Vec<(String, bool)>, HookError> {
    let make = |reference: &String| {
        let reference = reference.clone();
        async move {
            let reply = hook.provide(&StateRequest::verdict(&reference)).await?;
            Ok((reply.reference.unwrap_or(reference), true))
        }
    };
    stream::iter(asked).map(make).buffered(AT_ONCE).try_collect().await
}
