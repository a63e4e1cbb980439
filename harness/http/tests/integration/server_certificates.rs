//! Which server certificates a client accepts, and how it reports the others.
#![expect(clippy::unwrap_used, reason = "the lints do not recognise test helpers")]

use std::path::PathBuf;
use std::time::Duration;

use edgeproof_http::{ClientAuth, Draft, NoAnswer, ServerAddress, TlsFailure, send, server_config};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, date_time_ymd};
use rstest::rstest;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use url::Url;

/// Timeout of an exchange.
const LIMIT: Duration = Duration::from_secs(20);

/// A certificate and its key.
struct Certificate {
    der: CertificateDer<'static>,
    pem: String,
    key: KeyPair,
    params: CertificateParams,
}

impl Certificate {
    fn new(change: impl FnOnce(&mut CertificateParams), issuer: Option<&Self>) -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(["localhost".to_owned()]).unwrap();
        change(&mut params);
        let signed = match issuer {
            Some(issuer) => params.signed_by(&key, &Issuer::from_params(&issuer.params, &issuer.key)),
            None => params.self_signed(&key),
        };
        let signed = signed.unwrap();
        Self { der: signed.der().clone(), pem: signed.pem(), key, params }
    }

    fn ca() -> Self {
        Self::new(make_ca, None)
    }
}

fn make_ca(params: &mut CertificateParams) {
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
}

fn expire(params: &mut CertificateParams) {
    params.not_before = date_time_ymd(2000, 1, 1);
    params.not_after = date_time_ymd(2001, 1, 1);
}

/// Result of a request to a server with this certificate, whose client trusts a CA file with `trusted`.
async fn connect(
    server: &Certificate,
    trusted: &Certificate,
    clients: ClientAuth<'_>,
) -> Result<u16, NoAnswer> {
    let key = PrivateKeyDer::try_from(server.key.serialize_der()).unwrap();
    let config = server_config(vec![server.der.clone()], key, clients).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let serving = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let Ok(mut stream) = TlsAcceptor::from(config).accept(stream).await else { return };
        let _ = stream.read(&mut [0; 4096]).await;
        let _ = stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").await;
    });
    let reply = request("https", port, Some(trusted)).await;
    timeout(LIMIT, serving).await.unwrap().unwrap();
    reply
}

async fn request(scheme: &str, port: u16, trusted: Option<&Certificate>) -> Result<u16, NoAnswer> {
    let folder = tempfile::tempdir().unwrap();
    let file: Option<PathBuf> = trusted.map(|trusted| {
        let file = folder.path().join("ca.pem");
        std::fs::write(&file, &trusted.pem).unwrap();
        file
    });
    let url = Url::parse(&format!("{scheme}://localhost:{port}")).unwrap();
    let address = ServerAddress::resolve(&url, file.as_deref()).await.unwrap();
    let address = address.at(([127, 0, 0, 1], port).into());
    send(&address, &Draft::new("GET", "/"), LIMIT).await.reply.map(|answer| answer.status)
}

fn no_tls(why: TlsFailure) -> Result<u16, NoAnswer> {
    Err(NoAnswer::NoTls(why))
}

#[tokio::test]
async fn given_certificate_is_accepted_even_if_it_is_a_ca() {
    let ca = Certificate::ca();
    assert_eq!(connect(&ca, &ca, ClientAuth::None).await, Ok(204));
    let leaf = Certificate::new(|_| (), Some(&ca));
    assert_eq!(connect(&leaf, &leaf, ClientAuth::None).await, Ok(204));
    assert_eq!(connect(&leaf, &ca, ClientAuth::None).await, Ok(204));
    let self_signed = Certificate::new(|_| (), None);
    assert_eq!(connect(&self_signed, &self_signed, ClientAuth::None).await, Ok(204));
}

#[rstest]
#[case::ca(true)]
#[case::leaf(false)]
#[tokio::test]
async fn given_certificate_needs_a_valid_name_and_period(#[case] is_ca: bool) {
    let issuer = Certificate::ca();
    let issuer = (!is_ca).then_some(&issuer);
    let make = |change: fn(&mut CertificateParams)| {
        let change = |params: &mut CertificateParams| {
            if is_ca {
                make_ca(params);
            }
            change(params);
        };
        Certificate::new(change, issuer)
    };
    let expired = make(expire);
    assert_eq!(connect(&expired, &expired, ClientAuth::None).await, no_tls(TlsFailure::Expired));
    let later = make(|params| params.not_before = date_time_ymd(3000, 1, 1));
    assert_eq!(connect(&later, &later, ClientAuth::None).await, no_tls(TlsFailure::NotYetValid));
    let other = make(|params| {
        params.subject_alt_names =
            CertificateParams::new(["edge.example".to_owned()]).unwrap().subject_alt_names;
    });
    let names = vec!["edge.example".to_owned()];
    let wrong = TlsFailure::WrongName { host: "localhost".into(), names };
    assert_eq!(connect(&other, &other, ClientAuth::None).await, no_tls(wrong));
    let nameless = make(|params| params.subject_alt_names.clear());
    let wrong = TlsFailure::WrongName { host: "localhost".into(), names: Vec::new() };
    assert_eq!(connect(&nameless, &nameless, ClientAuth::None).await, no_tls(wrong));
}

#[tokio::test]
async fn other_certificates_are_refused() {
    let (ca, other) = (Certificate::ca(), Certificate::ca());
    assert_eq!(connect(&ca, &other, ClientAuth::None).await, no_tls(TlsFailure::CaCertificate));
    let leaf = Certificate::new(|_| (), Some(&ca));
    let Err(NoAnswer::NoTls(why)) = connect(&leaf, &other, ClientAuth::None).await else {
        panic!("accepted")
    };
    assert!(matches!(why, TlsFailure::UnknownIssuer { ca: Some(_) }), "{why:?}");
    assert!(why.to_string().contains("ca.pem holds neither its certificate nor"), "{why}");
}

#[tokio::test]
async fn required_client_certificate_is_named() {
    let ca = Certificate::ca();
    let leaf = Certificate::new(|_| (), Some(&ca));
    let reply = connect(&leaf, &ca, ClientAuth::From(&ca.der)).await;
    assert_eq!(reply, no_tls(TlsFailure::ClientCertificateRequired));
}

#[tokio::test]
async fn server_without_tls_is_named() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let serving = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let _ = stream.read(&mut [0; 4096]).await;
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n").await;
    });
    assert_eq!(request("https", port, None).await, no_tls(TlsFailure::NotTls));
    timeout(LIMIT, serving).await.unwrap().unwrap();
}

/// Each advice names the option or the action that helps.
#[test]
fn each_failure_has_advice() {
    let wrong = TlsFailure::WrongName { host: "localhost".into(), names: vec!["edge.example".into()] };
    let failures = [
        (TlsFailure::UnknownIssuer { ca: None }, "name the CA that issued its certificate"),
        (TlsFailure::UnknownIssuer { ca: Some("ca.pem".into()) }, "name another file: the CA that issued"),
        (TlsFailure::CaCertificate, "--edge-ca FILE"),
        (wrong, "use edge.example in the URL"),
        (TlsFailure::Expired, "renew its certificate"),
        (TlsFailure::NotYetValid, "clock"),
        (TlsFailure::ClientCertificateRequired, "without a client certificate"),
        (TlsFailure::NotTls, "use http://"),
        (TlsFailure::Other("odd".into()), "TLS 1.2 or 1.3"),
    ];
    for (failure, advice) in failures {
        let text = failure.advice("--edge-ca", "use http://");
        assert!(text.contains(advice), "{failure}: {text}");
    }
}
