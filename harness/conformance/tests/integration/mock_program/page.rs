//! The page of `edgeproof mock --page`, without a browser.

use std::fs;

use edgeproof_fixtures::collector;
use edgeproof_fixtures::spec::{Spec, Version};
use edgeproof_http::{Body, Draft, HostForm};
use edgeproof_mock::magic::{Carrier, Magic};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use rstest::rstest;
use serde_json::Value;
use tempfile::TempDir;

use super::{Mock, call, get, minted};

/// A mock service with a demo page, and the URL of the page.
fn page(more: &[&str]) -> (Mock, Value, String) {
    let all = ["--listen", "127.0.0.1:0", "--page", "127.0.0.1:0", "--json"];
    let mut mock = Mock::start(&[&all[..], more].concat());
    let ready = mock.ready();
    let url = ready["page"].as_str().unwrap().to_owned();
    assert!(url.starts_with("http://localhost:"), "{url}");
    (mock, ready, url)
}

#[test]
fn page_has_its_files_and_no_token() {
    let (mock, ready, url) = page(&[]);
    for (path, media_type, part) in [
        ("", "text/html", "<title>Browser verification"),
        ("page.css", "text/css", "prefers-color-scheme"),
        ("page.js", "text/javascript", "collector.js"),
        ("collector.js", "text/javascript", collector::MODULE),
        ("setup", "application/json", "magic."),
        ("verdict?ref=magic.verdict-ready", "application/json", "\"status\":200"),
    ] {
        let answer = call(&url, None, &Draft::new("GET", &format!("/{path}")));
        let body = String::from_utf8(answer.body.to_vec()).unwrap();
        assert!(answer.status == 200 && body.contains(part), "{path}: {} {body}", answer.status);
        let header = |name: &str| answer.headers[name].to_str().unwrap().to_owned();
        assert!(header("content-type").starts_with(media_type), "{path}: {:?}", answer.headers);
        let policy = header("content-security-policy");
        assert!(policy.starts_with("default-src 'none'"), "{path}: {policy}");
        for secret in ["read_token", "license"] {
            let secret = &ready[secret].as_str().unwrap()[30..60];
            assert!(!body.contains(secret), "{path} has a token");
        }
    }
    mock.stop();
}

#[test]
fn page_answers_no_other_page_and_no_other_method() {
    let (mock, _, url) = page(&[]);
    let named = |host: &str| {
        let mut draft = Draft::new("GET", "/setup");
        draft.form.host = HostForm::Other(host.to_owned());
        draft
    };
    for (draft, status) in [
        (Draft::new("GET", "/setup"), 200),
        (Draft::new("HEAD", "/"), 200),
        (Draft::new("GET", "/nothing"), 404),
        (Draft::new("POST", "/setup"), 405),
        (named("attacker.example"), 403),
        (Draft::new("GET", "/setup").header("Origin", "https://attacker.example"), 403),
    ] {
        assert_eq!(call(&url, None, &draft).status, status, "{draft:?}");
    }
    mock.stop();
}

#[rstest]
#[case::current(Version::Current)]
#[case::pre_seal(Version::PreSeal)]
fn page_offers_the_magic_references_of_the_tables(#[case] version: Version) {
    let (mock, ready, url) = page(&["--spec", version.name()]);
    let setup = get(&url, "/setup");
    let groups = setup["magic"].as_array().unwrap();
    let offered: Vec<_> = groups.iter().flat_map(|group| group["pairs"].as_array().unwrap()).collect();
    let magic = Magic::of(&Spec::builtin(version));
    let of_sessions = magic.pairs().iter().filter(|pair| pair.carrier == Carrier::SessionRef);
    assert_eq!(
        offered.iter().map(|pair| pair["value"].as_str().unwrap()).collect::<Vec<_>>(),
        of_sessions.map(|pair| pair.value.as_str()).collect::<Vec<_>>()
    );
    assert_eq!(setup["options"]["sealKey"], ready["seal_key"]);
    let compatibility = (version == Version::PreSeal).then_some("pre-seal");
    assert_eq!(setup["tables"]["compatibility"].as_str(), compatibility);
    mock.stop();
}

#[test]
fn page_may_post_to_its_edge_and_its_backend_gets_the_verdict() {
    let (mock, ready, url) = page(&[]);
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("mock.json"), ready.to_string()).unwrap();
    let edge = get(&url, "/setup")["options"]["apiUrl"].clone();
    let edge = edge.as_str().unwrap();
    let mock_json = folder.path().join("mock.json");
    let mock_json = mock_json.to_str().unwrap();
    for (reference, status, decision) in
        [("order / 4711", "200", Value::from("allow")), ("other", "404", Value::Null)]
    {
        let body = minted(&["--mock", mock_json, "--session-ref", "order / 4711"]);
        let post = Draft::new("POST", "/v1/signals")
            .header("Origin", &url)
            .header("Content-Type", "application/json")
            .body(Body::Sized(body.into()));
        let answer = call(edge, None, &post);
        assert_eq!(answer.headers["access-control-allow-origin"], url.as_str(), "{answer:?}");
        let reference = utf8_percent_encode(reference, NON_ALPHANUMERIC);
        let verdict = get(&url, &format!("/verdict?ref={reference}&waitMs=0"));
        assert_eq!((&verdict["status"].to_string()[..], &verdict["body"]["decision"]), (status, &decision));
        assert!(verdict["request"].as_str().unwrap().starts_with("GET https://localhost:"), "{verdict}");
    }
    let log = mock.stop();
    assert!(log.contains("\"endpoint\":\"verdict\""), "{log}");
}
