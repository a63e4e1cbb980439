use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;
use std::time::Duration;

use edgeproof_cli::Failure;
use edgeproof_fixtures::credentials::ReadTokenForm;
use edgeproof_fixtures::spec::VerdictPath;
use edgeproof_http::{Answer, ClientIdentity, Draft, ServerAddress, send};
use edgeproof_mock::MockService;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};
use url::Url;

/// The integrator's backend in small: fetches verdicts with a read token, which the page never gets.
pub(super) struct Backend {
    service: ServerAddress,
    path: VerdictPath,
    read_token: String,
}

/// Longest wait for a verdict that the page can ask for (ms).
const MAX_WAIT: u64 = 10_000;
/// Time for an answer beyond the wait.
const ANSWER_TIME: Duration = Duration::from_secs(5);

impl Backend {
    /// A backend of this service. `dir` has the files of an edge.
    pub(super) async fn new(service: &MockService, dir: &Path) -> Result<Self, Failure> {
        let url = Url::parse(&service.url()).expect("the mock service has a URL");
        let ca_file = dir.join("service-ca.pem");
        let mut address = ServerAddress::resolve(&url, Some(&ca_file)).await?.at(reachable(service.addr()));
        // Before sealed collections, its TLS requires a certificate from every client.
        if !service.spec().seals_collections() {
            let (certificate, key) = (dir.join("client.pem"), dir.join("client.key"));
            address = address.identified(&ClientIdentity { certificate, key })?;
        }
        let read_token = service.credentials().read_token(ReadTokenForm::Valid);
        let path = service.spec().verdict_path().clone();
        Ok(Self { service: address, path, read_token })
    }

    /// Fetches the verdict of a session. Describes request and answer for the page, without the read token.
    pub(super) async fn verdict(&self, session_ref: &str, wait_ms: u64) -> Value {
        let wait_ms = wait_ms.min(MAX_WAIT);
        let reference = utf8_percent_encode(session_ref, NON_ALPHANUMERIC).to_string();
        let path = format!("{}?waitMs={wait_ms}", self.path.with(&reference));
        let draft = Draft::new("GET", &path).header("Authorization", &format!("Bearer {}", self.read_token));
        let sent = send(&self.service, &draft, Duration::from_millis(wait_ms) + ANSWER_TIME).await;
        let url = self.service.url().as_str().trim_end_matches('/');
        let request = format!("GET {url}{path}");
        match sent.reply {
            Ok(answer) => json!({ "request": request, "status": answer.status, "body": body(&answer) }),
            Err(why) => json!({ "request": request, "error": why.to_string() }),
        }
    }
}

/// The body as JSON. Another body as text.
fn body(answer: &Answer) -> Value {
    serde_json::from_slice(&answer.body)
        .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(&answer.body).into_owned()))
}

/// The address to connect to: a wildcard address accepts connections, but is none to connect to.
fn reachable(mut addr: SocketAddr) -> SocketAddr {
    if addr.ip().is_unspecified() {
        addr.set_ip(match addr {
            SocketAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
            SocketAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
        });
    }
    addr
}
