use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::{Value, json};

use super::clock;
use super::command::{Command, ENDPOINTS};
use super::faults::Faults;
use super::journal::{self, JournalPage};
use super::script::{RowAnswers, ScriptRequest};
use super::session::session;
use super::{AdminError, Guard, TokenRedactor};
use crate::magic::Magic;
use crate::scripts::Scripted;
use crate::service::MockService;

/// Scripts at the same time.
const SCRIPTS: usize = 1000;

/// A mock service as the admin port sees it.
#[derive(Debug)]
pub(super) struct AdminState {
    pub(super) service: Arc<MockService>,
    pub(super) guard: Guard,
    redactor: Arc<TokenRedactor>,
    magic: Magic,
    seed: u64,
    set: Mutex<Settings>,
}

/// What was set here, and ends with a reset.
#[derive(Debug, Default)]
struct Settings {
    scripts: Vec<RunningScript>,
    next: u64,
    faults: Faults,
}

#[derive(Debug)]
struct RunningScript {
    id: u64,
    /// As it was asked for.
    asked: Value,
    seed: Option<u64>,
    scripted: Scripted,
}

/// What is answered, with its status.
type CommandResult = Result<(u16, Value), AdminError>;

impl AdminState {
    pub(super) fn new(
        service: Arc<MockService>,
        guard: Guard,
        redactor: Arc<TokenRedactor>,
        seed: u64,
    ) -> Self {
        let magic = Magic::of(service.spec());
        Self { service, guard, redactor, magic, seed, set: Mutex::default() }
    }

    /// Does what a request asks for.
    pub(super) fn act(&self, command: Command, query: Option<&str>, body: &[u8]) -> CommandResult {
        let service = &*self.service;
        if query.is_some_and(|query| !query.is_empty()) && command != Command::ReadJournal {
            return Err(AdminError::bad("this path takes no query"));
        }
        let takes_body = matches!(
            command,
            Command::AddScript | Command::MoveClock | Command::SetFaults | Command::AddSession
        );
        if !takes_body && !body.is_empty() {
            return Err(AdminError::bad("this path takes no body"));
        }
        let done = json!({ "ok": true });
        Ok(match command {
            Command::Index => (200, index()),
            Command::Health => (200, done),
            Command::ReadJournal => (200, journal::view(service, &self.redactor, JournalPage::parse(query)?)),
            Command::ClearJournal => {
                service.clear_journal();
                (200, done)
            }
            Command::ListScripts => {
                let scripts: Vec<_> = self.set.lock().scripts.iter().map(RunningScript::view).collect();
                (200, json!({ "scripts": scripts }))
            }
            Command::AddScript => (201, self.add_script(body)?),
            Command::DropScripts => {
                let ended = std::mem::take(&mut self.set.lock().scripts);
                (200, json!({ "ended": ended.len() }))
            }
            Command::DropScript(id) => {
                let mut set = self.set.lock();
                let place = set.scripts.iter().position(|entry| entry.id == id);
                let place = place.ok_or(AdminError::NoSuchScript { id })?;
                (200, set.scripts.remove(place).view())
            }
            Command::ReadClock => (200, clock::view(service.clock())),
            Command::MoveClock => (200, clock::change(service.clock(), body)?),
            Command::ReadFaults => (200, self.set.lock().faults.view()),
            Command::SetFaults => {
                let faults = Faults::parse(body)?;
                let mut set = self.set.lock();
                faults.set(service);
                set.faults = faults;
                (200, faults.view())
            }
            Command::AddSession => {
                let (session, created) = session(body, service.credentials())?;
                service.add_session(session);
                (201, created)
            }
            Command::RotateKeys => (200, json!({ "kid": service.rotate_keys() })),
            Command::AnnounceKey => (200, json!({ "kid": service.announce_key() })),
            Command::ReadSealKey => (200, service.seal_key().to_jwk()),
            Command::RotateSealKey => (200, service.rotate_seal_key().to_jwk()),
            Command::RetireSealKey(kid) => {
                if !service.retire_seal_key(&kid) {
                    return Err(AdminError::bad(format!(
                        "{kid:?} is no key that can be retired: it is the current one, or it is not accepted"
                    )));
                }
                (200, done)
            }
            Command::ReadMagic => (200, json!({ "magic": self.magic.pairs() })),
            Command::Reset => {
                let mut set = self.set.lock();
                service.reset();
                // Numbers go on, so that an old one does not end a new script.
                *set = Settings { next: set.next, ..Settings::default() };
                (200, done)
            }
        })
    }

    fn add_script(&self, body: &[u8]) -> Result<Value, AdminError> {
        let service = &*self.service;
        let rows =
            RowAnswers { spec: service.spec(), profile: service.profile(), shape: service.reply_shape() };
        let ScriptRequest { on, script, seed } = ScriptRequest::parse(body, &rows, self.seed)?;
        let asked = super::error::parse(body)?;
        let mut set = self.set.lock();
        if set.scripts.len() >= SCRIPTS {
            return Err(AdminError::TooManyScripts { limit: SCRIPTS });
        }
        set.next += 1;
        let entry = RunningScript { id: set.next, asked, seed, scripted: service.script(on, script) };
        let view = entry.view();
        set.scripts.push(entry);
        Ok(view)
    }
}

impl RunningScript {
    fn view(&self) -> Value {
        let mut view = json!({ "id": self.id, "script": self.asked, "requests": self.scripted.count() });
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
