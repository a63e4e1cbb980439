use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use edgeproof_fixtures::credentials::{
    ALLOWED_ORIGIN, CredentialFiles, Credentials, EdgeSettings, MintOptions, Redactor, Secret,
};
use edgeproof_fixtures::spec::{self, Endpoint, Fact, Row, Spec, Stimulus, Table};
use edgeproof_http::{Body, Draft, ServerAddress, ServerAddressError, send};
use edgeproof_mock::{
    Action, Match, MockService, RelayStimulus, Script, Scripted, ServiceOptions, prepare_verdict,
};
use edgeproof_reports::{Exchange, Hop};
use edgeproof_targets::Embedded;
use url::Url;

use super::error::SnapshotError;
use super::exchange::Concealed;
use super::row_text::Occurrence;
use crate::cases::{collection, fill};

/// Timeout of a request. A busy machine must not change a snapshot.
const TIMEOUT: Duration = Duration::from_secs(30);
/// Longest body that is shown as it is, in bytes.
const SHORT: usize = 8;
/// Session reference of the requests for verdicts.
const REFERENCE: &str = "session-1";

/// A mock service that plays the rows of the service and of the key set.
pub(super) struct ServiceRows {
    service: MockService,
    plain: ServerAddress,
    files: CredentialFiles,
    redactor: Redactor,
}

impl ServiceRows {
    pub(super) async fn start(spec: &Arc<Spec>) -> Result<Self, SnapshotError> {
        let credentials = Arc::new(Credentials::mint(&MintOptions::default())?);
        let (files, redactor) = (CredentialFiles::write(&credentials)?, Redactor::new(&credentials));
        let options = ServiceOptions::new(Arc::clone(spec), credentials).with_plain_address();
        let service = MockService::start_with(options).await?;
        let url = service.plain_url().unwrap_or_default();
        let url = Url::parse(&url).map_err(|_| ServerAddressError::NotHttp(url))?;
        let plain = ServerAddress::resolve(&url, None).await?;
        Ok(Self { service, plain, files, redactor })
    }

    /// A occurrence for each stimulus of a row. None for a row without an answer of its own.
    pub(super) async fn play(&self, row: &Row) -> Result<Vec<Occurrence>, SnapshotError> {
        let mut occurrences = Vec::new();
        for stimulus in row.stimuli.iter().copied() {
            let exchanges = match row.table {
                Table::Relay => self.relay(row, stimulus).await?,
                Table::Verdict => self.verdict(row, stimulus).await?,
                Table::Keys if stimulus == Stimulus::KeySetFetched => Some(self.key_set().await),
                _ => None,
            };
            let title = format!("{stimulus}: {}", stimulus.meaning());
            occurrences.extend(exchanges.map(|exchanges| Occurrence { title, exchanges }));
        }
        Ok(occurrences)
    }

    /// A collection through the reference edge. None: no collection causes the stimulus.
    async fn relay(&self, row: &Row, stimulus: Stimulus) -> Result<Option<Vec<Exchange>>, SnapshotError> {
        self.service.reset();
        let (Some(cause), Fact::Reason { status, code }) =
            (RelayStimulus::at(&self.service, stimulus), &row.fact)
        else {
            return Ok(None);
        };
        let refusal = Script::refuse(self.service.reply_shape(), *status, code);
        let _scripted = self.scripted(stimulus, Match::Everything, refusal);
        self.service.set_outage(cause.outage);
        if let Some((license, client)) = cause.before {
            self.post(&RelayStimulus { license: Some(license), client: Some(client), ..cause.clone() })
                .await?;
        }
        let (exchanges, answered) = self.post(&cause).await?;
        if answered != Some(*status) {
            return Err(SnapshotError::OtherAnswer { row: row.id.clone(), stimulus: stimulus.name() });
        }
        Ok(Some(exchanges))
    }

    /// Posts a collection to a new edge. Yields the exchanges, and the status that the service gave the edge.
    async fn post(&self, cause: &RelayStimulus) -> Result<(Vec<Exchange>, Option<u16>), SnapshotError> {
        let (service, credentials) = (&self.service, self.service.credentials());
        let license = cause.license.map(|form| (credentials.license(form), form.label()));
        let settings = EdgeSettings {
            license: license.as_ref().map(|(license, _)| Secret::new(license.clone())),
            client_cert_file: cause.client.map(|role| self.files.certificate(role)),
            client_key_file: cause.client.and_then(|role| self.files.key(role)),
            ..self.files.settings(credentials, &service.url(), ALLOWED_ORIGIN)
        };
        let edge =
            Embedded::new(Arc::clone(service.spec()), service.profile().clone()).start(&settings).await?;
        let body: Bytes = cause.body.clone().into();
        let draft = fill(
            &Draft { body: Body::Sized(body.clone()), ..collection() },
            service.spec(),
            "",
            ALLOWED_ORIGIN,
        );
        let mark = service.mark();
        let sent = send(edge.endpoint(), &draft, TIMEOUT).await;
        let arrivals = service.finished_since(mark, TIMEOUT).await;
        edge.stop().await;
        let status = arrivals.last().and_then(|arrival| arrival.answer.as_ref()?.status());
        let form = cause.form.map_or("too large", |form| form.label());
        let concealed = Concealed {
            body: (body.len() > SHORT).then(|| (body, format!("<collection {form}>"))),
            token: license.map(|(license, label)| (license, format!("<license {label}>"))),
        };
        Ok((concealed.exchanges(Hop::ClientEdge, sent, arrivals, &self.redactor), status))
    }

    /// A request for a verdict. None: no request for a verdict causes the stimulus.
    async fn verdict(&self, row: &Row, stimulus: Stimulus) -> Result<Option<Vec<Exchange>>, SnapshotError> {
        let Some(form) = prepare_verdict(&self.service, stimulus, REFERENCE) else { return Ok(None) };
        let _scripted = self.scripted(stimulus, Match::Verdicts, self.verdict_script(row));
        let mut draft = Draft::new("GET", &self.service.spec().verdict_path().with(REFERENCE));
        let authorization = self.service.credentials().authorization(form);
        if let Some(value) = &authorization {
            draft = draft.header("Authorization", value);
        }
        let token =
            authorization.map(|value| value.split_once(' ').map_or("", |(_, token)| token).to_owned());
        let label = format!("<read-token {}>", form.label());
        let concealed = Concealed {
            token: token.filter(|token| !token.is_empty()).map(|token| (token, label)),
            body: None,
        };
        let sent = send(&self.plain, &draft, TIMEOUT).await;
        if sent.reply.as_ref().ok().map(|answer| answer.status) != row.status() {
            return Err(SnapshotError::OtherAnswer { row: row.id.clone(), stimulus: stimulus.name() });
        }
        let mut exchanges = concealed.exchanges(Hop::ClientService, sent, Vec::new(), &self.redactor);
        if let Fact::Verdict { code: Some(code), suffixed: true, .. } = &row.fact {
            for exchange in &mut exchanges {
                without_suffix(&mut exchange.response, code);
            }
        }
        Ok(Some(exchanges))
    }

    /// The answer in a row of the verdict endpoint, for every request.
    fn verdict_script(&self, row: &Row) -> Script {
        let by_code =
            |code: &str| spec::fill(&self.service.profile().verdict_refused, &[("<reason>", code.into())]);
        let body = row.body_with(&[("<session_ref>", REFERENCE.into())]).or_else(|| row.code().map(by_code));
        let (Some(status), Some(body)) = (row.status(), body) else { return Script::decide() };
        let headers = vec![("content-type".into(), "application/json".into())];
        Script::one(Action::Answer { status, headers, body: body.to_string().into() })
    }

    async fn key_set(&self) -> Vec<Exchange> {
        let draft = Draft::new("GET", self.service.spec().path(Endpoint::KeySet));
        let sent = send(&self.plain, &draft, TIMEOUT).await;
        Concealed::default().exchanges(Hop::ClientKeys, sent, Vec::new(), &self.redactor)
    }

    /// Scripts the answer of a row that has no stimulus of its own.
    fn scripted(&self, stimulus: Stimulus, on: Match, script: Script) -> Option<Scripted> {
        (stimulus == Stimulus::Scripted).then(|| self.service.script(on, script))
    }
}

/// Puts a placeholder in place of the suffix of a code, which is the service's choice.
fn without_suffix(response: &mut String, code: &str) {
    let before = format!("\"{code}:");
    let Some(from) = response.find(&before).map(|at| at + before.len()) else { return };
    let length = response[from..].find('"').unwrap_or_default();
    response.replace_range(from..from + length, "<suffix>");
}
