use std::sync::Arc;

use edgeproof_http::ServerAddress;
use parking_lot::Mutex;
use serde_json::{Value, json};

use super::command::{Command, ENDPOINTS};
use super::journal::JournalPage;
use super::script::{RowAnswers, ScriptRequest};
use super::session::session;
use super::{AdminError, Guard, TokenRedactor, clock, faults, journal};
use crate::magic::Magic;
use crate::scripts::Scripted;
use crate::service::MockService;
use crate::states::StateProvider;

/// Limit of registered scripts.
const SCRIPTS: usize = 1000;

/// A mock service with the scripts that the admin port registered.
#[derive(Debug)]
pub(super) struct AdminState {
    pub(super) service: Arc<MockService>,
    states: StateProvider,
    pub(super) guard: Guard,
    redactor: Arc<TokenRedactor>,
    magic: Magic,
    seed: u64,
    scripts: Mutex<RunningScripts>,
}

/// Registered scripts. A reset drops them; their ids continue, so that an old id never drops a new script.
#[derive(Debug, Default)]
struct RunningScripts {
    running: Vec<RunningScript>,
    last_id: u64,
}

#[derive(Debug)]
struct RunningScript {
    id: u64,
    /// Body of the command.
    body: Value,
    seed: Option<u64>,
    scripted: Scripted,
}

/// Status and body of the answer.
type CommandResult = Result<(u16, Value), AdminError>;

impl AdminState {
    pub(super) fn new(
        service: Arc<MockService>,
        edge: Option<ServerAddress>,
        guard: Guard,
        redactor: Arc<TokenRedactor>,
        seed: u64,
    ) -> Self {
        let magic = Magic::of(service.spec());
        let states = StateProvider::new(Arc::clone(&service), edge);
        Self { service, states, guard, redactor, magic, seed, scripts: Mutex::default() }
    }

    /// Executes a command.
    pub(super) async fn act(&self, command: &Command, query: Option<&str>, body: &[u8]) -> CommandResult {
        let service = &*self.service;
        if query.is_some_and(|query| !query.is_empty()) && command.endpoint != ("GET", "/journal") {
            return Err(AdminError::bad("this path takes no query"));
        }
        let takes_body = matches!(
            command.endpoint,
            ("POST", "/scripts" | "/clock" | "/sessions" | "/state") | ("PUT", "/faults")
        );
        if !takes_body && !is_nothing(body) {
            return Err(AdminError::bad("this path takes no body: send none, or {}"));
        }
        let done = json!({ "ok": true });
        Ok(match command.endpoint {
            ("GET", "/") => (200, index()),
            ("GET", "/health") => (200, done),
            ("GET", "/journal") => (200, journal::view(service, &self.redactor, JournalPage::parse(query)?)),
            ("DELETE", "/journal") => {
                service.clear_journal();
                (200, done)
            }
            ("GET", "/scripts") => {
                let scripts: Vec<_> = self.scripts.lock().running.iter().map(RunningScript::view).collect();
                (200, json!({ "scripts": scripts }))
            }
            ("POST", "/scripts") => (201, self.add_script(body)?),
            ("DELETE", "/scripts") => {
                let ended = std::mem::take(&mut self.scripts.lock().running);
                (200, json!({ "ended": ended.len() }))
            }
            ("DELETE", "/scripts/{id}") => {
                let id = command.id.parse().map_err(|_| AdminError::NotFound)?;
                let running = &mut self.scripts.lock().running;
                let index = running.iter().position(|script| script.id == id);
                let index = index.ok_or(AdminError::NoSuchScript { id })?;
                (200, running.remove(index).view())
            }
            ("GET", "/clock") => (200, clock::view(service.clock())),
            ("POST", "/clock") => (200, clock::change(service.clock(), body)?),
            ("GET", "/faults") => (200, faults::view(service.faults())),
            ("PUT", "/faults") => {
                let faults = faults::read(body)?;
                service.set_faults(faults);
                (200, faults::view(faults))
            }
            ("POST", "/sessions") => {
                let (session, created) = session(body, service.credentials())?;
                service.add_session(session);
                (201, created)
            }
            ("POST", "/state") => {
                let reply = self.states.provide(super::error::parse(body)?).await?;
                (200, serde_json::to_value(reply).expect("a reply is plain data"))
            }
            ("POST", "/keys/rotate") => (200, json!({ "kid": service.rotate_keys() })),
            ("POST", "/keys/announce") => (200, json!({ "kid": service.announce_key() })),
            ("GET", "/seal-key") => (200, service.seal_key().to_jwk()),
            ("POST", "/seal-key/rotate") => (200, service.rotate_seal_key().to_jwk()),
            ("DELETE", "/seal-key/{kid}") => {
                let kid = &command.id;
                if !service.retire_seal_key(kid) {
                    return Err(AdminError::bad(format!(
                        "cannot retire key {kid:?}: it is the current key, or it is unknown"
                    )));
                }
                (200, done)
            }
            ("GET", "/magic") => (200, json!({ "magic": self.magic.pairs() })),
            ("POST", "/reset") => {
                service.reset();
                self.scripts.lock().running.clear();
                (200, done)
            }
            _ => return Err(AdminError::NotFound),
        })
    }

    fn add_script(&self, body: &[u8]) -> Result<Value, AdminError> {
        let service = &*self.service;
        let rows =
            RowAnswers { spec: service.spec(), profile: service.profile(), shape: service.reply_shape() };
        let ScriptRequest { on, script, seed } = ScriptRequest::parse(body, &rows, self.seed)?;
        let body = super::error::parse(body)?;
        let mut scripts = self.scripts.lock();
        if scripts.running.len() >= SCRIPTS {
            return Err(AdminError::TooManyScripts { limit: SCRIPTS });
        }
        scripts.last_id += 1;
        let running = RunningScript { id: scripts.last_id, body, seed, scripted: service.script(on, script) };
        let view = running.view();
        scripts.running.push(running);
        Ok(view)
    }
}

impl RunningScript {
    fn view(&self) -> Value {
        let mut view = json!({ "id": self.id, "script": self.body, "requests": self.scripted.count() });
        if let Some(seed) = self.seed {
            view["seed"] = json!(seed);
        }
        view
    }
}

fn index() -> Value {
    let endpoints =
        ENDPOINTS.map(|(method, path, what)| json!({ "method": method, "path": path, "what": what }));
    json!({ "endpoints": endpoints })
}
/// No body, or an empty object: many clients send one with each POST.
fn is_nothing(body: &[u8]) -> bool {
    body.is_empty()
        || serde_json::from_slice::<serde_json::Map<String, Value>>(body).is_ok_and(|map| map.is_empty())
}
