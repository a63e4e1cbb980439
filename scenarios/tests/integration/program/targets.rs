//! Edges and services of all kinds: launched and attached, with TLS and client certificates.

use std::convert::Infallible;
use std::io::Write;
use std::sync::Arc;

use bytes::Bytes;
use edgeproof_edge::{LogSink, ProgramOptions, run_program};
use edgeproof_fixtures::credentials::{
    ALLOWED_ORIGIN, CredentialFiles, Credentials, MintOptions, ReadTokenForm, Role,
};
use edgeproof_fixtures::spec::{Spec, Version};
use edgeproof_http::{ClientAuth, Limits, ListenerProtocol, Server, server_config};
use edgeproof_mock::{Match, MockService, NewSession, Script, ServiceOptions};
use edgeproof_targets::{Embedded, RunningEdge};
use http::Response;
use http_body_util::{BodyExt, Full};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::SHORT;
use crate::support::{Cases, MACHINE, ProgramCall, block_on};

/// Credentials and their files, and a mock service with them.
struct AttachedService {
    spec: Arc<Spec>,
    credentials: Arc<Credentials>,
    files: CredentialFiles,
    mock: MockService,
}

impl AttachedService {
    async fn start() -> Self {
        let spec = Arc::new(Spec::builtin(Version::Current));
        let (credentials, files) = minted();
        let options = ServiceOptions::new(Arc::clone(&spec), Arc::clone(&credentials));
        let mock = MockService::start_with(options).await.unwrap();
        Self { spec, credentials, files, mock }
    }

    /// A reference edge in front of this service.
    async fn edge(&self, https: bool) -> RunningEdge {
        let settings = self.files.settings(&self.credentials, &self.mock.url(), ALLOWED_ORIGIN);
        let mut edge = Embedded::new(Arc::clone(&self.spec), self.spec.profile().clone());
        if https {
            edge = edge.https(&self.credentials, &self.files);
        }
        edge.start(&settings).await.unwrap()
    }

    fn read_token(&self) -> String {
        self.credentials.read_token(ReadTokenForm::Valid)
    }
}

fn minted() -> (Arc<Credentials>, CredentialFiles) {
    let credentials = Arc::new(Credentials::mint(&MintOptions::default()).unwrap());
    let files = CredentialFiles::write(&credentials).unwrap();
    (credentials, files)
}

/// Tells this test binary to be an edge.
const EDGE: &str = "EDGEPROOF_TEST_IS_AN_EDGE";

/// Launches the reference edge: this test binary, with this test alone.
#[test]
fn launched_edge_is_loaded_and_its_cost_reported() {
    if std::env::var_os(EDGE).is_some() {
        block_on(be_the_reference_edge());
    }
    let _shared = MACHINE.blocking_read();
    is_loaded_and_its_cost_reported(&reference_edge());
}

/// The command that launches the reference edge.
pub(super) fn reference_edge() -> String {
    let program = std::env::current_exe().unwrap();
    let name = concat!(module_path!(), "::launched_edge_is_loaded_and_its_cost_reported");
    let (_, name) = name.split_once("::").unwrap();
    shell_words::join(["env", &format!("{EDGE}=1"), program.to_str().unwrap(), "--exact", name])
}

#[test]
#[ignore = "needs Node: just test-browser"]
fn launched_node_edge_is_loaded_and_its_cost_reported() {
    let _shared = MACHINE.blocking_read();
    is_loaded_and_its_cost_reported("node fixtures/edges/node/edge.mjs");
}

/// Serves until the process is ended.
async fn be_the_reference_edge() -> ! {
    let spec = Arc::new(Spec::builtin(Version::Current));
    let profile = spec.profile().clone();
    let variable = |name: &str| std::env::var(name).ok();
    let log = LogSink::new(|line| drop(writeln!(std::io::stderr(), "{line}")));
    run_program(spec, profile, variable, ProgramOptions::default(), log, std::future::pending())
        .await
        .unwrap();
    unreachable!("nothing tells it to end")
}

fn is_loaded_and_its_cost_reported(launch: &str) {
    let run = ProgramCall::new(&format!("edge-relay {SHORT}")).arg("--launch", launch).run();
    assert!(run.stdout.contains("edge: "), "{run}");
    let report = run.ended(0);
    assert!(report.reconciled[0].agrees && report.edge_added.is_some(), "{report:?}");
    let cost = report.edge_cost.unwrap();
    assert!(cost.cpu_s > 0.0 && cost.memory_most > 10 << 20, "{cost:?}");
}

#[test]
fn attached_targets_are_loaded() {
    let _shared = MACHINE.blocking_read();
    Cases::default()
        .case("service", || block_on(attached_service_is_polled()))
        .case("sealed collections", || block_on(sealed_collections_reach_an_attached_service()))
        .case("edge", || block_on(attached_edge_is_loaded(false)))
        .case("edge with TLS", || block_on(attached_edge_is_loaded(true)))
        .case("client certificate", || block_on(client_certificate_is_presented()))
        .play();
}

async fn attached_edge_is_loaded(https: bool) {
    let service = AttachedService::start().await;
    let accepts = service.mock.script(Match::Everything, Script::accept(service.mock.profile()));
    let edge = service.edge(https).await;
    let call = || ProgramCall::new(&format!("edge-relay {SHORT} --edge-url {}", edge.url()));
    let trusting =
        if https { call().arg("--edge-ca", service.files.certificate(Role::EdgeAuthority)) } else { call() };
    let report = trusting.run_beside().await.ended(0);
    assert_eq!(report.ledger.answered, 40);
    // The program does not see the service's counts. No request comes before the run.
    assert_eq!(accepts.count() as u64, report.routes[0].sent);
    if https {
        let run = call().run_beside().await;
        assert_eq!(run.code, Some(3), "{run}");
        assert!(run.stderr.contains("--edge-ca") || run.stderr.contains("certificate"), "{run}");
    }
}

async fn sealed_collections_reach_an_attached_service() {
    let service = AttachedService::start().await;
    let edge = service.edge(false).await;
    let folder = TempDir::new().unwrap();
    let key = folder.path().join("seal-key.json");
    std::fs::write(&key, service.mock.seal_key().to_jwk().to_string()).unwrap();
    let sealed = format!("{SHORT} --seal real --edge-url {}", edge.url());
    let token = service.read_token();
    let run = ProgramCall::new(&format!("journey {sealed} --base-url {}", service.mock.url()))
        .arg("--seal-key", key)
        .arg("--service-ca", service.files.certificate(Role::ServiceAuthority))
        .env("READ_TOKEN", &token)
        .run_beside()
        .await;
    assert!(run.stdout.contains("sealing: "), "{run}");
    assert!(!run.to_string().contains(&token));
    let report = run.ended(0);
    assert_eq!((report.errors(), report.time_to_verdict.unwrap().figures.count), (0, 40));
    let run = ProgramCall::new(&format!("edge-relay {sealed}")).run_beside().await;
    assert_eq!(run.code, Some(2), "{run}");
    assert!(run.stderr.contains("--seal-key"), "{run}");
}

async fn attached_service_is_polled() {
    let service = AttachedService::start().await;
    let folder = TempDir::new().unwrap();
    let references = folder.path().join("references");
    let mut file = std::fs::File::create(&references).unwrap();
    for number in 0..50 {
        service.mock.add_session(NewSession::new(format!("order-{number}")));
        writeln!(file, "order-{number}").unwrap();
    }
    writeln!(file, "nobody none # never heard of").unwrap();
    let line = format!("verdict-polling {SHORT} --wrong-share 20% --bad-token-share 20%");
    let poll = |token: &str| {
        let call =
            ProgramCall::new(&line).arg("--base-url", service.mock.url()).arg("--references", &references);
        let authority = service.files.certificate(Role::ServiceAuthority);
        call.arg("--service-ca", authority).env("READ_TOKEN", token).run_beside()
    };
    let token = service.read_token();
    let run = poll(&token).await;
    assert!(!run.to_string().contains(&token));
    let report = run.ended(0);
    let labels: Vec<&str> =
        report.routes[0].outcomes.iter().map(|outcome| outcome.outcome.as_str()).collect();
    assert!(labels.contains(&"200") && labels.contains(&"404 pending"), "{labels:?}");
    assert!(labels.iter().any(|outcome| outcome.starts_with("401 ")), "{labels:?}");
    // With an invalid token every answer is an error, so the run fails.
    poll("service_read_nothing").await.ended(1);
}

/// An edge that accepts every collection. It sends an event for each request.
pub(super) async fn serve(protocol: ListenerProtocol) -> (Server, UnboundedReceiver<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (request_tx, requests) = unbounded_channel();
    let server = Server::start(listener, protocol, Limits::default(), move |request, _| {
        // Few tests count.
        let _ = request_tx.send(());
        async move {
            let _ = request.into_body().collect().await;
            Ok::<_, Infallible>(Response::new(Full::new(Bytes::from_static(br#"{"ok":true}"#))))
        }
    });
    (server.unwrap(), requests)
}

async fn client_certificate_is_presented() {
    let (credentials, files) = minted();
    let certificate = credentials.certificate(Role::EdgeServer);
    let authority = credentials.certificate(Role::ClientAuthority).der();
    let config =
        server_config(certificate.chain_der(), certificate.key_der(), ClientAuth::From(authority)).unwrap();
    let (edge, _) = serve(ListenerProtocol::Tls(config)).await;
    let line = format!("edge-relay {SHORT} --edge-url https://localhost:{}", edge.addr().port());
    let call = || ProgramCall::new(&line).arg("--edge-ca", files.certificate(Role::EdgeAuthority));
    let identified = call()
        .arg("--client-cert", files.certificate(Role::ClientForLicense))
        .arg("--client-key", files.key(Role::ClientForLicense).unwrap());
    assert_eq!(identified.run_beside().await.ended(0).ledger.answered, 40);
    let run = call().run_beside().await;
    assert_eq!(run.code, Some(3), "{run}");
    assert!(run.stderr.contains("reach the"), "{run}");
}
