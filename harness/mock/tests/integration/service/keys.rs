//! The key set, and the verdicts that it verifies.

use std::time::Duration;

use bytes::Bytes;
use edgeproof_fixtures::key_set::KeySet;
use edgeproof_mock::NewSession;
use http::{Method, Request, Response};
use http_body_util::Full;
use jwt_compact::alg::Ed25519;
use jwt_compact::jwk::JsonWebKey;
use jwt_compact::{AlgorithmExt, UntrustedToken};
use serde_json::Value;

use super::support::Bench;

const PATH: &str = "/.well-known/browser-verdict-jwks.json";

async fn ask(bench: &Bench, method: Method, fields: &[(&str, &str)]) -> Response<Bytes> {
    let mut request = Request::builder().method(method).uri(bench.uri(PATH)).header("host", "localhost");
    for (name, value) in fields {
        request = request.header(*name, *value);
    }
    bench.send(request.body(Full::default()).unwrap()).await
}

async fn kids(bench: &Bench) -> Vec<String> {
    let set = KeySet::parse(bench.get(PATH).await.body()).unwrap();
    assert_eq!(set.faults(), []);
    set.keys().iter().map(|key| key.kid().unwrap().to_owned()).collect()
}

/// Claims of a verdict's token, if a key of the served set verifies it. An independent library verifies.
async fn verified(bench: &Bench, reference: &str) -> Option<Value> {
    let (status, verdict) = bench.verdict(reference).await;
    assert_eq!(status, 200);
    let verdict: Value = serde_json::from_slice(&verdict).unwrap();
    let token = UntrustedToken::new(verdict["token"].as_str().unwrap()).unwrap();
    let set: Value = serde_json::from_slice(bench.get(PATH).await.body()).unwrap();
    let kid = token.header().key_id.clone().unwrap();
    let key = set["keys"].as_array().unwrap().iter().find(|key| key["kid"] == kid)?;
    let key: JsonWebKey<'_> = serde_json::from_value(key.clone()).unwrap();
    let key = (&key).try_into().unwrap();
    let verified = Ed25519.validator::<Value>(&key).validate(&token).unwrap();
    let mut claims = verified.claims().custom.clone();
    let issued = verified.claims().issued_at.unwrap();
    let seconds = (verified.claims().expiration.unwrap() - issued).num_seconds();
    claims["lasts"] = seconds.into();
    Some(claims)
}

#[tokio::test]
async fn verdict_verifies_with_an_independent_library() {
    let bench = Bench::start().await;
    assert_eq!(bench.post(bench.sealed("r 1")).await.0, 200);
    let claims = verified(&bench, "r%201").await.unwrap();
    assert_eq!(claims["sub"], "r 1");
    assert_eq!(claims["aud"], bench.credentials.license_id());
    assert_eq!((claims["decision"].as_str(), claims["lasts"].as_u64()), (Some("allow"), Some(120)));
}

#[tokio::test]
async fn key_set_is_cacheable_for_five_minutes_and_revalidates_with_304() {
    let bench = Bench::start().await;
    let full = ask(&bench, Method::GET, &[]).await;
    assert_eq!(full.status(), 200);
    assert_eq!(full.headers()["content-type"], "application/jwk-set+json");
    assert_eq!(full.headers()["cache-control"], "public, max-age=300");
    let etag = full.headers()["etag"].to_str().unwrap();
    let same = ask(&bench, Method::GET, &[("if-none-match", etag)]).await;
    assert_eq!((same.status().as_u16(), same.body().len()), (304, 0));
    assert_eq!(
        (&same.headers()["etag"], &same.headers()["cache-control"]),
        (&full.headers()["etag"], &full.headers()["cache-control"])
    );
    let head = ask(&bench, Method::HEAD, &[("authorization", "Bearer anything")]).await;
    assert_eq!((head.status().as_u16(), head.body().len()), (200, 0));
    assert_eq!(head.headers()["content-length"], full.body().len().to_string());
    bench.service.rotate_keys();
    let changed = ask(&bench, Method::GET, &[("if-none-match", etag)]).await;
    assert_eq!(changed.status(), 200);
    assert_ne!(changed.headers()["etag"], etag);
}

#[tokio::test]
async fn previous_key_stays_published_for_seven_minutes() {
    let bench = Bench::start().await;
    bench.service.clock().stop();
    let old = kids(&bench).await;
    bench.service.add_session(NewSession::new("before"));
    bench.verdict("before").await;
    let new = bench.service.rotate_keys();
    assert_eq!(kids(&bench).await, [old[0].clone(), new.clone()]);
    bench.service.add_session(NewSession::new("after"));
    // Both verdicts verify for their whole lifetime.
    for _ in 0..2 {
        for reference in ["before", "after"] {
            assert_eq!(verified(&bench, reference).await.unwrap()["sub"], reference);
        }
        bench.service.clock().advance(Duration::from_secs(120));
    }
    bench.service.clock().advance(Duration::from_secs(180));
    assert_eq!(kids(&bench).await, std::slice::from_ref(&new));
    let next = bench.service.announce_key();
    assert_eq!(kids(&bench).await, [new.clone(), next.clone()]);
    assert_eq!(bench.service.rotate_keys(), next);
}
