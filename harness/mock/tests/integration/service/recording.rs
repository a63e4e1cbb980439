//! The journal records requests byte for byte.

use bytes::Bytes;
use edgeproof_fixtures::credentials::{LicenseForm, Role};
use edgeproof_fixtures::spec::Version;
use edgeproof_mock::{Match, RECORDED};
use proptest::collection::vec;
use proptest::prelude::{Just, ProptestConfig, Strategy, any, prop_oneof};
use proptest::test_runner::TestRunner;

use super::support::{Bench, LONG, answer, answered, converse, http1, http2, script};

/// A body, and the sizes of its chunks.
fn bodies() -> impl Strategy<Value = (Vec<u8>, Option<Vec<usize>>)> {
    let body = prop_oneof![4 => vec(any::<u8>(), 0..200), 1 => vec(any::<u8>(), 10_000..40_000)];
    let chunks = prop_oneof![Just(None), Just(Some(vec![1])), vec(1..5_000usize, 1..20).prop_map(Some)];
    (body, chunks)
}

#[test]
fn body_is_recorded_as_sent() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let bench = runtime.block_on(Bench::start());
    let config = ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() };
    TestRunner::new(config)
        .run(&bodies(), |(body, chunks)| {
            let mut request = b"POST /a/path?q=%20 HTTP/1.1\r\nHost: localhost\r\nX-Odd:  two  words \r\nConnection: close\r\n".to_vec();
            match &chunks {
                None => {
                    request.extend(format!("Content-Length: {}\r\n\r\n", body.len()).bytes());
                    request.extend(&body);
                }
                Some(sizes) => {
                    request.extend(b"Transfer-Encoding: chunked\r\n\r\n");
                    let mut rest = &body[..];
                    for size in sizes.iter().cycle() {
                        let (chunk, after) = rest.split_at((*size).min(rest.len()));
                        request.extend(format!("{:x}\r\n", chunk.len()).bytes());
                        request.extend(chunk);
                        request.extend(b"\r\n");
                        if chunk.is_empty() {
                            break;
                        }
                        rest = after;
                    }
                }
            }
            let mark = bench.service.mark();
            runtime.block_on(async { converse(&mut bench.connect("http/1.1").await, &request).await.1.unwrap() });
            let arrivals = bench.service.arrivals_since(mark);
            assert_eq!(arrivals.len(), 1);
            let arrival = &arrivals[0];
            assert!(arrival.request.body == body, "the body differs");
            assert!(arrival.request.complete && arrival.finished);
            assert_eq!(arrival.body_length, body.len() as u64);
            assert_eq!((arrival.request.method.as_str(), arrival.request.target.as_str()), ("POST", "/a/path?q=%20"));
            assert_eq!(arrival.request.headers["x-odd"], "two  words");
            Ok(())
        })
        .unwrap();
}

#[tokio::test]
async fn body_is_recorded_as_sent_over_http2() {
    let bench = Bench::start().await;
    let mut client = http2(bench.connect("h2").await).await;
    let body: Vec<u8> = (0..300_000u32).map(|n| (n * 7 % 251) as u8).collect();
    let answer = answered(client.send_request(bench.request(body.clone()))).await;
    assert_eq!(answer.0, 400);
    let arrival = &bench.service.journal()[0];
    assert!(arrival.request.body == body && arrival.request.complete);
    assert_eq!(
        (arrival.request.version, arrival.request.target.as_str()),
        (http::Version::HTTP_2, "/v1/relay")
    );
    let leaf = bench.credentials.certificate(Role::ClientForLicense).chain_der();
    assert_eq!(*arrival.client_certificates, leaf);
}

#[tokio::test]
async fn broken_body_is_recorded_and_uses_no_reply() {
    let bench = Bench::start().await;
    let marker = Match::Marker(Bytes::from_static(b"marker"));
    let scripted = bench.service.script(marker, script([answer(200, "first"), answer(201, "second")]));
    let short = b"POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\n[\"marker\"";
    {
        use tokio::io::AsyncWriteExt;
        let mut stream = bench.connect("http/1.1").await;
        stream.write_all(short).await.unwrap();
        stream.shutdown().await.unwrap();
        let arrivals = scripted.wait_for(1, LONG).await;
        assert_eq!(arrivals.len(), 1);
        assert_eq!(
            (arrivals[0].request.body.as_ref(), arrivals[0].request.complete),
            (&b"[\"marker\""[..], false)
        );
        assert_eq!(arrivals[0].answered, None);
    }
    // The broken request used no reply.
    assert_eq!(bench.post("[\"marker\"]").await, (200, "first".into()));
    assert_eq!(scripted.count(), 2);
}

#[tokio::test]
async fn huge_body_is_truncated_and_its_length_counted() {
    let bench = Bench::start().await;
    let body = vec![b' '; RECORDED + 1000];
    assert_eq!(
        bench.post(body).await,
        (413, r#"{"error":"payload_too_large","reason":"payload_too_large"}"#.into())
    );
    let arrival = &bench.service.journal()[0];
    assert_eq!((arrival.request.body.len(), arrival.body_length), (RECORDED, RECORDED as u64 + 1000));
}

#[tokio::test]
async fn full_journal_evicts_the_oldest_request() {
    let bench = Bench::with(Version::Current, |options| options.journal = 3).await;
    let mut client = http1(bench.connect("http/1.1").await).await;
    for n in 0..5 {
        let body = format!("{n}");
        answered(client.send_request(bench.request(body))).await;
    }
    let kept: Vec<_> = bench.service.journal().into_iter().map(|a| (a.number, a.request.body)).collect();
    assert_eq!(kept, [(2, "2".into()), (3, "3".into()), (4, "4".into())]);
    assert_eq!((bench.service.mark(), bench.service.arrivals_since(4).len()), (5, 1));
}

#[tokio::test]
async fn large_bodies_evict_older_ones() {
    let bench = Bench::start().await;
    let mut client = http1(bench.connect("http/1.1").await).await;
    for _ in 0..10 {
        let body = vec![b' '; RECORDED];
        answered(client.send_request(bench.request(body))).await;
    }
    let journal = bench.service.journal();
    let kept: usize = journal.iter().map(|arrival| arrival.request.body.len()).sum();
    assert_eq!((journal.len(), kept), (8, 8 * RECORDED));
}

#[tokio::test]
async fn debug_output_hides_licenses() {
    let bench = Bench::start().await;
    let license = bench.credentials.license(LicenseForm::Valid);
    let mut client = http1(bench.connect("http/1.1").await).await;
    let mut request = bench.request("{}");
    request.headers_mut().insert("x-license", license.parse().unwrap());
    let scripted = bench.service.script(Match::Everything, script([answer(200, "")]));
    answered(client.send_request(request)).await;
    let arrival = &scripted.arrivals()[0];
    assert_eq!(arrival.request.headers["x-license"], license.as_str());
    let shown = format!("{arrival:?} {scripted:?} {:?}", bench.service);
    assert!(!shown.contains(&license), "{shown}");
    // Other headers are visible.
    assert!(shown.contains("application/json"), "{shown}");
}
