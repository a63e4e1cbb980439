use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use edgeproof_fixtures::credentials::{Credentials, ReadTokenForm, Redactor, Secret};
use edgeproof_fixtures::spec::Stimulus;
use edgeproof_http::{Body, Draft, ServerAddress};
use edgeproof_launch::Filter;
use edgeproof_mock::states::{StateError, StateProvider, StateReply, StateRequest};

use super::StateNeed;

/// Brings the tested service into states.
#[derive(Debug)]
pub struct StateHook {
    port: StatePort,
    pub(super) supported: BTreeSet<StateNeed>,
    /// Values of `Authorization` that are refused, by their cause.
    pub(super) credentials: BTreeMap<Stimulus, Secret>,
    redactor: Arc<Redactor>,
}

/// Where states are asked for.
#[derive(Debug)]
pub enum StatePort {
    /// The built-in mock.
    Mock(StateProvider),
    /// A URL (`--state-url`).
    Url {
        /// Server and path.
        address: ServerAddress,
        /// A header of each request (`--state-header`).
        header: Option<(String, Secret)>,
    },
    /// A program (`--state-command`).
    Command(Filter),
}

/// Why a state is not there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HookError {
    /// The service does not support it.
    #[error("the state hook does not support this state")]
    Unsupported,
    /// The hook failed: its request and its answer, without secrets.
    #[error("{0}")]
    Failed(String),
}

/// Timeout of a hook (`docs/services.md`).
const LIMIT: Duration = Duration::from_secs(10);
/// Exit code of a command that does not support a state.
const UNSUPPORTED_CODE: i32 = 3;
/// Characters of an answer that an error shows.
const SHOWN: usize = 400;

impl StateHook {
    /// A hook whose states are not known yet.
    pub(super) fn untried(port: StatePort, redactor: Arc<Redactor>) -> Self {
        Self { port, supported: BTreeSet::new(), credentials: BTreeMap::new(), redactor }
    }

    /// A hook that supports every state, as long as nothing else is known.
    pub fn assumed(port: StatePort, redactor: Arc<Redactor>) -> Self {
        Self { supported: StateNeed::all(), ..Self::untried(port, redactor) }
    }

    /// The hook of the built-in mock, which supports every state.
    pub fn builtin(provider: StateProvider, credentials: &Credentials, redactor: Arc<Redactor>) -> Self {
        let authorization = |need| match need {
            StateNeed::Credential(cause) => {
                let form = ReadTokenForm::for_stimulus(cause)?;
                Some((cause, Secret::new(credentials.authorization(form)?)))
            }
            _ => None,
        };
        Self {
            port: StatePort::Mock(provider),
            supported: StateNeed::all(),
            credentials: StateNeed::credentials().filter_map(authorization).collect(),
            redactor,
        }
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

    /// Brings the service into a state.
    pub async fn provide(&self, request: &StateRequest) -> Result<StateReply, HookError> {
        match &self.port {
            StatePort::Mock(provider) => provider.provide(request.clone()).await.map_err(|why| match why {
                StateError::Unsupported(_) => HookError::Unsupported,
                StateError::Failed(why) => self.failed(request, &why),
            }),
            StatePort::Url { address, header } => {
                let mut draft = Draft::new("POST", "")
                    .header("Content-Type", "application/json")
                    .body(Body::Sized(json(request).into()));
                if let Some((name, value)) = header {
                    draft = draft.header(name, value.expose());
                }
                let answer = edgeproof_http::send(address, &draft, LIMIT).await.reply;
                let answer = answer.map_err(|why| self.failed(request, &why.to_string()))?;
                match answer.status {
                    200 => self.reply(request, &answer.body),
                    501 => Err(HookError::Unsupported),
                    status => {
                        let body = shown(&answer.body);
                        Err(self
                            .failed(request, &format!("it answered {status} {body}; expected 200 or 501")))
                    }
                }
            }
            StatePort::Command(filter) => {
                let output = filter.run(json(request).as_bytes(), LIMIT).await;
                let output = output.map_err(|why| self.failed(request, &why.to_string()))?;
                match output.status.code() {
                    Some(0) => self.reply(request, &output.stdout),
                    Some(UNSUPPORTED_CODE) => Err(HookError::Unsupported),
                    _ => {
                        let wrote =
                            shown(if output.stderr.is_empty() { &output.stdout } else { &output.stderr });
                        let status = output.status;
                        Err(self.failed(
                            request,
                            &format!("it ended with {status} and wrote {wrote}; expected exit code 0 or 3"),
                        ))
                    }
                }
            }
        }
    }

    /// Reads an answer: empty, or one object of JSON.
    fn reply(&self, request: &StateRequest, body: &[u8]) -> Result<StateReply, HookError> {
        if body.trim_ascii().is_empty() {
            return Ok(StateReply::default());
        }
        serde_json::from_slice(body).map_err(|why| {
            self.failed(request, &format!("it answered {}; expected an object of JSON: {why}", shown(body)))
        })
    }

    pub(super) fn failed(&self, request: &StateRequest, why: &str) -> HookError {
        let text = format!("the state hook failed for {}: {why}", json(request));
        HookError::Failed(self.redactor.redact(&text).into_owned())
    }
}

fn json(request: &StateRequest) -> String {
    serde_json::to_string(request).expect("a request is plain data")
}

fn shown(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let cut: String = text.trim().chars().take(SHOWN).collect();
    if cut.is_empty() { "nothing".to_owned() } else { format!("{cut:?}") }
}
