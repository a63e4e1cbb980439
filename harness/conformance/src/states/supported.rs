use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use edgeproof_fixtures::credentials::{Credentials, ReadTokenForm, Redactor, Secret};
use edgeproof_fixtures::spec::Stimulus;
use edgeproof_mock::states::StateProvider;
use edgeproof_targets::{StateHook, StatePort};

use super::StateNeed;

/// The states of the tested service, and the hook that provides them.
#[derive(Debug)]
pub struct States {
    /// Brings the service into a state.
    pub hook: StateHook,
    pub(super) supported: BTreeSet<StateNeed>,
    /// Values of `Authorization` that are refused, by their cause.
    pub(super) credentials: BTreeMap<Stimulus, Secret>,
}

impl States {
    /// Every state, as long as nothing else is known.
    pub fn assumed(hook: StateHook) -> Self {
        Self { hook, supported: StateNeed::all(), credentials: BTreeMap::new() }
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
        let credentials = StateNeed::credentials().filter_map(authorization).collect();
        Self { credentials, ..Self::assumed(StateHook::new(StatePort::Mock(provider), redactor)) }
    }

    /// Whether the service can be brought into this state.
    pub fn supports(&self, state: StateNeed) -> bool {
        self.supported.contains(&state)
    }

    /// Value of `Authorization` that is refused for this cause.
    pub fn credential(&self, cause: Stimulus) -> Option<&Secret> {
        self.credentials.get(&cause)
    }

    /// Values of `Authorization` that the hook told. No report may show them.
    pub fn secrets(&self) -> impl Iterator<Item = &Secret> {
        self.credentials.values()
    }
}
