use std::time::SystemTime;

use bytes::Bytes;
use edgeproof::cases::{Conversation, Setup};
use edgeproof_edge::{EdgeIo, RelayResult, RequestBody};
use edgeproof_fixtures::credentials::{EdgeSettings, Role, Secret, check_client_certificate, check_license};
use edgeproof_fixtures::seal::CollectionFault;
use edgeproof_mock::{Action, Arrival, CollectionFacts, Replay, Script, decide};
use http::{HeaderMap, StatusCode, Version};
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;

use super::test_bed::TestBed;

/// Page and service of one conversation, without sockets: it never waits.
pub(super) struct ScriptedService<'a> {
    pub(super) bed: &'a TestBed,
    pub(super) conversation: &'a Conversation,
    pub(super) setup: Setup,
    pub(super) settings: &'a EdgeSettings,
    /// Headers of the page's request.
    pub(super) headers: &'a HeaderMap,
    /// Body of the page's request.
    pub(super) body: Bytes,
    /// Requests that reached the service.
    pub(super) arrivals: Vec<Arrival>,
}

impl EdgeIo for ScriptedService<'_> {
    async fn read(&mut self) -> RequestBody {
        RequestBody::Complete(self.body.clone())
    }

    async fn relay(&mut self, body: Bytes) -> RelayResult {
        // No service listens there, or the edge does not trust it.
        if matches!(self.setup, Setup::PortClosed | Setup::NameUnresolved | Setup::NoCaFile) {
            return RelayResult::NoAnswer;
        }
        let relayed = self.answer(&body);
        self.arrivals.push(self.arrival(body));
        relayed
    }
}

impl ScriptedService<'_> {
    /// The answer of the script, or the decision of the mock service.
    fn answer(&self, body: &Bytes) -> RelayResult {
        let answered = |status: u16, body: &Bytes| {
            let status = StatusCode::from_u16(status).unwrap_or_default();
            let body = (!status.is_success()).then(|| body.clone());
            RelayResult::Answered { status, headers: HeaderMap::new(), body }
        };
        let replies = self.conversation.script.as_ref().map(|script| script.replies.as_slice());
        let replies = replies.unwrap_or_default();
        let reply = replies
            .last()
            .map(|last| &replies[Script::reply_index(replies.len(), &last.action, self.arrivals.len())]);
        match reply.map_or(&Action::Decide, |reply| &reply.action) {
            Action::Decide | Action::Pass | Action::Again | Action::CutDecision { .. } => {
                let (status, body) = self.decide(body);
                answered(status, &body)
            }
            Action::Answer { status, body, .. } => answered(*status, body),
            Action::Shaped(shaped) => answered(shaped.status, &shaped.body),
            Action::CutBody { status, .. } => RelayResult::Answered {
                status: StatusCode::from_u16(*status).unwrap_or_default(),
                headers: HeaderMap::new(),
                body: None,
            },
            Action::RawBytes(_) | Action::CutHead | Action::Close | Action::Reset | Action::Silence => {
                RelayResult::NoAnswer
            }
        }
    }

    /// Status and body of the mock service's decision.
    fn decide(&self, body: &Bytes) -> (u16, Bytes) {
        let TestBed { spec, shape, credentials, .. } = self.bed;
        let now = SystemTime::now();
        let (keys, revocations) = (credentials.keys(), credentials.revocations());
        let license = self.settings.license.as_ref().map(Secret::expose);
        let license = check_license(license, keys, revocations, now);
        let file = self.settings.client_key_file.as_ref().and(self.settings.client_cert_file.as_ref());
        let chain: Vec<CertificateDer<'static>> = file
            .and_then(|file| CertificateDer::pem_file_iter(file).ok())
            .map(|chain| chain.filter_map(Result::ok).collect())
            .unwrap_or_default();
        let certificate = check_client_certificate(
            &chain,
            credentials.certificate(Role::ClientAuthority).der(),
            license.as_ref().map(|license| license.license_id.as_str()).unwrap_or_default(),
            revocations,
            now,
        );
        let facts = CollectionFacts {
            license,
            outage: None,
            certificate,
            body_length: body.len() as u64,
            // No conversation without a script sends a sealed collection.
            collection: Err(CollectionFault::Unsealed),
            replay: Replay::Fresh,
        };
        let decision = decide(spec, spec.profile(), shape, &facts);
        (decision.status, decision.body)
    }

    fn arrival(&self, body: Bytes) -> Arrival {
        let request = edgeproof_http::Request {
            method: "POST".into(),
            target: "/".into(),
            version: Version::HTTP_11,
            headers: self.headers.clone(),
            body,
            complete: true,
        };
        Arrival::without_connection(self.arrivals.len() as u64, request)
    }
}
