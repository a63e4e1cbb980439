use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use edgeproof_fixtures::credentials::{Credentials, ReadTokenForm, Redactor, Secret};
use edgeproof_fixtures::spec::Stimulus;
use edgeproof_mock::states::{StateProvider, StateReply, StateRequest};
use edgeproof_targets::{HookError, StateHook, StatePort};
use parking_lot::Mutex;

use super::StateNeed;

/// The states of the tested service, and the hook that provides them.
#[derive(Debug)]
pub struct States {
    pub(super) hook: StateHook,
    /// What ends the states that concern the whole service and last.
    lasting: Mutex<Vec<StateRequest>>,
    /// A token was restored since the last look.
    restored: AtomicBool,
    pub(super) supported: BTreeSet<StateNeed>,
    /// Values of `Authorization` that are refused, by their cause.
    pub(super) credentials: BTreeMap<Stimulus, Secret>,
    /// Value of `Authorization` that expires this time after the start of the run.
    pub(super) expiring: Option<(Secret, Duration)>,
}

/// Time for which a foreign service accepts [`States::expiring`].
pub(super) const EXPIRES: Duration = Duration::from_secs(1800);

impl States {
    /// Every state, as long as nothing else is known.
    pub fn assumed(hook: StateHook) -> Self {
        Self::new(hook, StateNeed::all(), BTreeMap::new(), None)
    }

    /// The states of the built-in mock: every state.
    pub fn builtin(provider: StateProvider, credentials: &Credentials, redactor: Arc<Redactor>) -> Self {
        let authorization = |need| match need {
            StateNeed::Credential(cause) => {
                let form = ReadTokenForm::for_stimulus(cause)?;
                Some((cause, Secret::new(credentials.authorization(form)?)))
            }
            _ => None,
        };
        let states = StateNeed::credentials().filter_map(authorization).collect();
        // Its mocks have clocks of their own, and a run of mutants takes long.
        let expiring = credentials.authorization(ReadTokenForm::Expiring);
        let expiring = expiring.map(|value| (Secret::new(value), ReadTokenForm::EXPIRING));
        let credentials = states;
        Self { credentials, expiring, ..Self::assumed(StateHook::new(StatePort::Mock(provider), redactor)) }
    }

    pub(super) fn new(
        hook: StateHook,
        supported: BTreeSet<StateNeed>,
        credentials: BTreeMap<Stimulus, Secret>,
        expiring: Option<(Secret, Duration)>,
    ) -> Self {
        Self {
            hook,
            lasting: Mutex::default(),
            restored: AtomicBool::default(),
            supported,
            credentials,
            expiring,
        }
    }

    /// The hook's errors hide these secrets as well.
    pub fn redact_with(&mut self, redactor: Arc<Redactor>) {
        self.hook.redact_with(redactor);
    }

    /// Brings the service into a state.
    pub async fn provide(&self, request: &StateRequest) -> Result<StateReply, HookError> {
        // Before the request: a case can be cut off during it.
        let end = match request {
            StateRequest::Revoke { token } => Some(StateRequest::Restore { token: token.clone() }),
            StateRequest::Outage { code: Some(_) } => Some(StateRequest::Outage { code: None }),
            _ => None,
        };
        self.lasting.lock().extend(end.clone());
        let reply = self.request(request).await;
        let ended = match &reply {
            Ok(_) => Some(request),
            Err(HookError::Unsupported) => end.as_ref(),
            Err(HookError::Failed(_)) => None,
        };
        self.lasting.lock().retain(|left| Some(left) != ended);
        reply
    }

    /// Ends the states that a case left behind. Other cases need the token, and the service without its outage.
    pub async fn end_lasting(&self) -> Result<(), HookError> {
        let left = std::mem::take(&mut *self.lasting.lock());
        for end in left {
            self.request(&end).await?;
        }
        Ok(())
    }

    async fn request(&self, request: &StateRequest) -> Result<StateReply, HookError> {
        let is_restore = matches!(request, StateRequest::Restore { .. });
        self.restored.fetch_or(is_restore, Ordering::Relaxed);
        self.hook.provide(request).await
    }

    /// Whether a token was restored since the last call.
    pub fn take_restored(&self) -> bool {
        self.restored.swap(false, Ordering::Relaxed)
    }

    /// Whether the service can be brought into this state.
    pub fn supports(&self, state: StateNeed) -> bool {
        self.supported.contains(&state)
    }

    /// Value of `Authorization` that is refused for this cause.
    pub fn credential(&self, cause: Stimulus) -> Option<&Secret> {
        self.credentials.get(&cause)
    }

    /// Value of `Authorization` that expires this time after the start of the run.
    pub fn expiring(&self) -> Option<&(Secret, Duration)> {
        self.expiring.as_ref()
    }

    /// Values of `Authorization` that the hook told. No report may show them.
    pub fn secrets(&self) -> impl Iterator<Item = &Secret> {
        self.credentials.values().chain(self.expiring.iter().map(|(secret, _)| secret))
    }
}
