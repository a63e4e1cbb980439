use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::{Value, json};

use super::clock;
use super::command::{ENDPOINTS, Route};
use super::faults::Faults;
use super::journal::{self, Part};
use super::script::{Wanted, Words};
use super::session::session;
use super::{Guard, Hide, Refusal};
use crate::magic::Magic;
use crate::scripts::Scripted;
use crate::service::MockService;

/// Scripts at the same time.
const SCRIPTS: usize = 1000;

/// A mock service as the admin port sees it.
#[derive(Debug)]
pub(super) struct State {
    pub(super) service: Arc<MockService>,
    pub(super) guard: Guard,
    hide: Arc<Hide>,
    magic: Magic,
    seed: u64,
    set: Mutex<Set>,
}

/// What was set here, and ends with a reset.
#[derive(Debug, Default)]
struct Set {
    scripts: Vec<Entry>,
    next: u64,
    faults: Faults,
}

#[derive(Debug)]
struct Entry {
    id: u64,
    /// As it was asked for.
    asked: Value,
    seed: Option<u64>,
    scripted: Scripted,
}

/// What is answered, with its status.
type Answer = Result<(u16, Value), Refusal>;

impl State {
    pub(super) fn new(service: Arc<MockService>, guard: Guard, hide: Arc<Hide>, seed: u64) -> Self {
        let magic = Magic::of(service.spec());
        Self { service, guard, hide, magic, seed, set: Mutex::default() }
    }

    /// Does what a request asks for.
    pub(super) fn act(&self, route: Route, query: Option<&str>, body: &[u8]) -> Answer {
        let service = &*self.service;
        if query.is_some_and(|query| !query.is_empty()) && route != Route::ReadJournal {
            return Err(Refusal::bad("this path takes no query"));
        }
        let takes_body =
            matches!(route, Route::AddScript | Route::MoveClock | Route::SetFaults | Route::AddSession);
        if !takes_body && !body.is_empty() {
            return Err(Refusal::bad("this path takes no body"));
        }
        let done = json!({ "ok": true });
        Ok(match route {
            Route::Index => (200, index()),
            Route::Health => (200, done),
            Route::ReadJournal => (200, journal::view(service, &self.hide, Part::parse(query)?)),
            Route::ClearJournal => {
                service.clear_journal();
                (200, done)
            }
            Route::ListScripts => {
                let scripts: Vec<_> = self.set.lock().scripts.iter().map(Entry::view).collect();
                (200, json!({ "scripts": scripts }))
            }
            Route::AddScript => (201, self.add_script(body)?),
            Route::DropScripts => {
                let ended = std::mem::take(&mut self.set.lock().scripts);
                (200, json!({ "ended": ended.len() }))
            }
            Route::DropScript(id) => {
                let mut set = self.set.lock();
                let place = set.scripts.iter().position(|entry| entry.id == id);
                let place = place.ok_or(Refusal::NoSuchScript { id })?;
                (200, set.scripts.remove(place).view())
            }
            Route::ReadClock => (200, clock::view(service.clock())),
            Route::MoveClock => (200, clock::change(service.clock(), body)?),
            Route::ReadFaults => (200, self.set.lock().faults.view()),
            Route::SetFaults => {
                let faults = Faults::parse(body)?;
                let mut set = self.set.lock();
                faults.set(service);
                set.faults = faults;
                (200, faults.view())
            }
            Route::AddSession => {
                let (session, told) = session(body, service.credentials())?;
                service.add_session(session);
                (201, told)
            }
            Route::RotateKeys => (200, json!({ "kid": service.rotate_keys() })),
            Route::AnnounceKey => (200, json!({ "kid": service.announce_key() })),
            Route::ReadSealKey => (200, service.seal_key().to_jwk()),
            Route::RotateSealKey => (200, service.rotate_seal_key().to_jwk()),
            Route::RetireSealKey(kid) => {
                if !service.retire_seal_key(&kid) {
                    return Err(Refusal::bad(format!(
                        "{kid:?} is no key that can be retired: it is the current one, or it is not accepted"
                    )));
                }
                (200, done)
            }
            Route::ReadMagic => (200, json!({ "magic": self.magic.pairs() })),
            Route::Reset => {
                let mut set = self.set.lock();
                service.reset();
                // Numbers go on, so that an old one does not end a new script.
                *set = Set { next: set.next, ..Set::default() };
                (200, done)
            }
        })
    }

    fn add_script(&self, body: &[u8]) -> Result<Value, Refusal> {
        let service = &*self.service;
        let words = Words { spec: service.spec(), profile: service.profile(), shape: service.reply_shape() };
        let Wanted { on, script, seed } = Wanted::parse(body, &words, self.seed)?;
        let asked = super::error::parse(body)?;
        let mut set = self.set.lock();
        if set.scripts.len() >= SCRIPTS {
            return Err(Refusal::TooManyScripts { limit: SCRIPTS });
        }
        set.next += 1;
        let entry = Entry { id: set.next, asked, seed, scripted: service.script(on, script) };
        let view = entry.view();
        set.scripts.push(entry);
        Ok(view)
    }
}

impl Entry {
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
