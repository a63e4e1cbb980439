use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use edgeproof_fixtures::credentials::{ReadTokenForm, Secret};
use edgeproof_fixtures::seal::{Collection, CollectionForm};
use edgeproof_fixtures::spec::{Endpoint, Stimulus, Table};
use edgeproof_fixtures::verdict::Judgement;
use edgeproof_http::{Body, Draft, ServerAddress};
use parking_lot::Mutex;

use super::{CollectionState, License, StateReply, StateRequest};
use crate::decision::ReadOutage;
use crate::service::MockService;
use crate::state::{NewSession, Ready};
use crate::stimuli::posted_body;

/// Brings a mock service into the states that a test asks for.
#[derive(Debug)]
pub struct StateProvider {
    service: Arc<MockService>,
    /// An edge in front of the service. Without one no collection can be posted.
    edge: Option<ServerAddress>,
    /// Collections that were accepted, with their references: a copy is the same body.
    posted: Mutex<Vec<(String, Bytes)>>,
}

/// Why a service is not in the requested state.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StateError {
    /// It does not know this state, or cannot be brought into it.
    #[error("unsupported: {0}")]
    Unsupported(String),
    /// It failed.
    #[error("{0}")]
    Failed(String),
}

/// Accepted collections that can be copied.
const POSTED: usize = 64;
/// Timeout of the edge's answer to a collection.
const POST_TIMEOUT: Duration = Duration::from_secs(5);

impl StateProvider {
    /// States of this service. `edge`: an edge that relays to it.
    pub fn new(service: Arc<MockService>, edge: Option<ServerAddress>) -> Self {
        Self { service, edge, posted: Mutex::default() }
    }

    /// Brings the service into a state.
    pub async fn provide(&self, request: StateRequest) -> Result<StateReply, StateError> {
        let service = &*self.service;
        let done = StateReply::default();
        match request {
            StateRequest::Verdict { reference, license, decision, confidence, age } => {
                let session = NewSession::new(reference).ready(Ready::Since(Duration::from_secs(age)));
                self.add(session.judgement(Judgement { decision, confidence }), license);
                Ok(done)
            }
            StateRequest::Pending { reference, license } => {
                self.add(NewSession::new(reference).ready(Ready::Never), license);
                Ok(done)
            }
            StateRequest::Gone { reference } => {
                service.remove_session(&reference);
                Ok(done)
            }
            StateRequest::Revoke { token } => {
                service.revoke_token(token.expose());
                Ok(done)
            }
            StateRequest::Restore { token } => {
                service.restore_token(token.expose());
                Ok(done)
            }
            StateRequest::Rotate {} => {
                service.rotate_keys();
                Ok(done)
            }
            StateRequest::Later { seconds } => {
                service.clock().advance(Duration::from_secs(seconds));
                Ok(done)
            }
            StateRequest::Collection { reference, form } => self.post(&reference, form).await,
            StateRequest::Credential { cause: Stimulus::ReadTokenExpired, after: after @ 1.. } => {
                let end = service.clock().now() + Duration::from_secs(after);
                let token = service.credentials().read_token_until(end);
                Ok(StateReply { authorization: Some(Secret::new(format!("Bearer {token}"))), ..done })
            }
            StateRequest::Credential { cause, after: 1.. } => Err(StateError::Unsupported(format!(
                "no credential is accepted and later refused for {cause}"
            ))),
            StateRequest::Credential { cause, after: 0 } => {
                let form = ReadTokenForm::for_stimulus(cause)
                    .ok_or_else(|| StateError::Unsupported(format!("no read token causes {cause}")))?;
                let authorization = service.credentials().authorization(form).map(Secret::new);
                Ok(StateReply { authorization, ..done })
            }
            StateRequest::Outage { code: None } => {
                service.set_read_outage(None);
                Ok(done)
            }
            StateRequest::Outage { code: Some(code) } => {
                let causes = |outage: &ReadOutage| {
                    let row = service.spec().by_stimulus(Table::Verdict, outage.stimulus());
                    row.and_then(|row| row.code()) == Some(code.as_str())
                };
                let outage = ReadOutage::ALL.into_iter().find(causes);
                let outage = outage
                    .ok_or_else(|| StateError::Unsupported(format!("no outage has the code {code:?}")))?;
                service.set_read_outage(Some(outage));
                Ok(done)
            }
            StateRequest::Waiting {} => Ok(StateReply { waiting: Some(*service.polls().borrow()), ..done }),
        }
    }

    fn add(&self, session: NewSession, license: License) {
        let session = match license {
            License::Own => session,
            License::Other => session.license_id(self.service.credentials().other_license_id()),
        };
        self.service.add_session(session);
    }

    /// Posts a collection through the edge, as a page does.
    async fn post(&self, reference: &str, form: CollectionState) -> Result<StateReply, StateError> {
        let Some(edge) = &self.edge else {
            return Err(StateError::Unsupported(
                "this mock service has no edge; start it with --edge".into(),
            ));
        };
        let body = self.body(reference, form)?;
        let draft = Draft::new("POST", self.service.spec().path(Endpoint::Signals));
        let draft = draft.header("Content-Type", "application/json").body(Body::Sized(body.clone()));
        let reply = edgeproof_http::send(edge, &draft, POST_TIMEOUT).await.reply;
        let answer = reply.map_err(|why| StateError::Failed(format!("no answer of the edge: {why}")))?;
        if form == CollectionState::Accepted {
            let mut posted = self.posted.lock();
            let excess = (posted.len() + 1).saturating_sub(POSTED);
            posted.drain(..excess);
            posted.push((reference.to_owned(), body));
        }
        Ok(StateReply { status: Some(answer.status), ..StateReply::default() })
    }

    fn body(&self, reference: &str, form: CollectionState) -> Result<Bytes, StateError> {
        let service = &*self.service;
        let collection = || Collection::generated(reference, 7, service.clock().now());
        match form {
            CollectionState::Accepted => Ok(service.posted_form(&collection()).into()),
            CollectionState::Refused => {
                let body = posted_body(service, CollectionForm::SignatureAltered, &collection());
                let missing = || StateError::Unsupported("no collection has a signature".into());
                Ok(body.ok_or_else(missing)?.into())
            }
            CollectionState::Copied => {
                let posted = self.posted.lock();
                let known = posted.iter().rev().find(|(known, _)| known == reference);
                let missing = || StateError::Failed(format!("no collection was accepted for {reference:?}"));
                Ok(known.ok_or_else(missing)?.1.clone())
            }
        }
    }
}
