//! Modes of the listener.

use std::io::ErrorKind;
use std::sync::Arc;

use edgeproof_fixtures::credentials::Role;
use edgeproof_fixtures::spec::Version;
use edgeproof_mock::ListenerMode;
use rstest::rstest;
use rustls::HandshakeKind;
use tokio::net::TcpStream;

use super::support::{Bench, answered, connect, converse, http1, within};

#[rstest]
#[case::valid(Role::ServiceServer, None)]
#[case::foreign_authority(Role::OtherServiceServer, Some("UnknownIssuer"))]
#[case::wrong_host(Role::ServiceWrongHost, Some("not valid for name"))]
#[case::expired(Role::ServiceExpired, Some("certificate expired"))]
#[tokio::test]
async fn tls_uses_the_certificate_of_the_role(#[case] role: Role, #[case] refusal: Option<&str>) {
    let bench = Bench::start().await;
    bench.service.set_mode(ListenerMode::Tls(role)).await.unwrap();
    assert!(bench.service.url().starts_with("https://localhost:"));
    let tls = bench.tls(Some(Role::ClientForLicense), "http/1.1");
    match (connect(bench.service.addr(), tls).await, refusal) {
        (Ok(stream), None) => {
            let mut client = http1(stream).await;
            assert_eq!(answered(client.send_request(bench.request(bench.sealed("r")))).await.0, 200);
        }
        (Err(error), Some(refusal)) => assert!(error.to_string().contains(refusal), "{error}"),
        (connected, _) => panic!("{connected:?}"),
    }
}

#[tokio::test]
async fn plain_http_answers_without_tls() {
    let bench = Bench::with(Version::Current, |options| options.mode = ListenerMode::PlainHttp).await;
    assert_eq!(bench.service.url(), format!("http://localhost:{}", bench.service.addr().port()));
    let mut client = http1(TcpStream::connect(bench.service.addr()).await.unwrap()).await;
    let answer = answered(client.send_request(bench.request("{}"))).await;
    // Without a handshake the client presents no certificate.
    assert_eq!(answer, (401, r#"{"error":"client_cert_required","reason":"client_cert_required"}"#.into()));
    assert_eq!(bench.service.journal()[0].tls, None);
}

#[rstest]
#[case::plain(ListenerMode::PlainHttp)]
#[case::garbage(ListenerMode::Garbage)]
#[case::closes(ListenerMode::Closes)]
#[tokio::test]
async fn tls_handshake_fails_without_tls(#[case] mode: ListenerMode) {
    let bench = Bench::with(Version::Current, |options| options.mode = mode).await;
    connect(bench.service.addr(), bench.tls(None, "http/1.1")).await.unwrap_err();
    assert_eq!((bench.service.journal().len(), bench.service.connections_accepted()), (0, 1));
    bench.service.stop().await;
}

#[tokio::test]
async fn garbage_is_not_http_and_ends_in_order() {
    let bench = Bench::with(Version::Current, |options| options.mode = ListenerMode::Garbage).await;
    let mut tcp = TcpStream::connect(bench.service.addr()).await.unwrap();
    let (read, ended) = converse(&mut tcp, b"POST / HTTP/1.1\r\n\r\n").await;
    ended.unwrap();
    assert!(!read.is_empty() && !read.starts_with(b"HTTP/"));
}

#[tokio::test]
async fn closes_mode_sends_no_byte() {
    let bench = Bench::with(Version::Current, |options| options.mode = ListenerMode::Closes).await;
    let mut tcp = TcpStream::connect(bench.service.addr()).await.unwrap();
    let (read, ended) = converse(&mut tcp, b"POST / HTTP/1.1\r\n\r\n").await;
    ended.unwrap();
    assert_eq!(read, b"");
}

#[tokio::test]
async fn refuses_mode_closes_the_port_until_another_mode() {
    let bench = Bench::with(Version::Current, |options| options.mode = ListenerMode::Refuses).await;
    for _ in 0..2 {
        let refused = TcpStream::connect(bench.service.addr()).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
        bench.service.set_mode(ListenerMode::Closes).await.unwrap();
        TcpStream::connect(bench.service.addr()).await.unwrap();
        bench.service.set_mode(ListenerMode::Refuses).await.unwrap();
    }
}

#[rstest]
#[tokio::test]
async fn changed_mode_resumes_no_tls_session(#[values(true, false)] changed: bool) {
    let bench = Bench::start().await;
    let tls = bench.tls(Some(Role::ClientForLicense), "http/1.1");
    let mut kinds = Vec::new();
    for _ in 0..2 {
        let stream = connect(bench.service.addr(), Arc::clone(&tls)).await.unwrap();
        kinds.push(stream.get_ref().1.handshake_kind());
        let mut client = http1(stream).await;
        // Session tickets arrive with the first answer at the latest.
        assert_eq!(answered(client.send_request(bench.request(bench.sealed("r")))).await.0, 200);
        if changed {
            bench.service.set_mode(ListenerMode::Tls(Role::ServiceServer)).await.unwrap();
        } else {
            bench.service.close_connections().await;
        }
        within(client.send_request(bench.request("{}"))).await.expect_err("the connection was ended");
    }
    // A resumed session includes the client certificate: the second answer was 200 as well.
    let second = if changed { HandshakeKind::Full } else { HandshakeKind::Resumed };
    assert_eq!(kinds, [Some(HandshakeKind::Full), Some(second)]);
}

#[rstest]
#[case::none(None, true)]
#[case::foreign(Some(Role::ClientForeign), true)]
#[case::own_license(Some(Role::ClientForLicense), false)]
#[case::other_license(Some(Role::ClientForOtherLicense), false)]
#[tokio::test]
async fn pre_seal_handshake_checks_the_certificate(#[case] client: Option<Role>, #[case] refused: bool) {
    let bench = Bench::with(Version::PreSeal, |_| {}).await;
    // With TLS 1.3 a client sees the refusal when it reads.
    let answer = async {
        let mut stream = connect(bench.service.addr(), bench.tls(client, "http/1.1")).await?;
        let license = bench.credentials.license(edgeproof_fixtures::credentials::LicenseForm::Valid);
        let collection =
            edgeproof_fixtures::seal::Collection::generated("r", 1, std::time::SystemTime::now()).to_json();
        let request = format!(
            "POST / HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {license}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{collection}",
            collection.len()
        );
        tokio::io::AsyncWriteExt::write_all(&mut stream, request.as_bytes()).await?;
        let mut answer = String::new();
        within(tokio::io::AsyncReadExt::read_to_string(&mut stream, &mut answer)).await?;
        std::io::Result::Ok(answer)
    };
    match answer.await {
        Err(error) => assert!(
            refused && [ErrorKind::InvalidData, ErrorKind::ConnectionReset].contains(&error.kind()),
            "{error}"
        ),
        Ok(answer) => assert!(!refused && answer.starts_with("HTTP/1.1 200 "), "{answer}"),
    }
    assert_eq!(bench.service.journal().len(), usize::from(!refused));
}
