//! A session from page to backend, as `docs/mock.md` and the printed block describe it, with our own client.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use edgeproof_http::{Body, Draft};
use ring::signature::{ED25519, UnparsedPublicKey};
use rstest::rstest;
use serde_json::Value;
use tempfile::TempDir;

use super::{Mock, call, get, minted};
use crate::limited;

/// Makes `curl` print its words. The rest of a printed block runs as it is.
const WORDS: &str = r#"curl() { printf '%s\n' "$@"; }"#;

/// A shell reads the printed block, and gets the settings and the words of the request from it.
#[rstest]
#[case::with_tls(&[])]
#[case::without(&["--plain", "127.0.0.1:0"])]
fn printed_block_is_a_request_that_gets_a_verdict(#[case] more: &[&str]) {
    let mut mock = Mock::start(&[&["--listen", "127.0.0.1:0"], more].concat());
    let block = mock.printed("curl ");
    let lines = format!("{WORDS}\n{block}\necho \"$LICENSE\"\necho \"$READ_TOKEN\"");
    let output = limited::output(Command::new("sh").args(["-euc", &lines]));
    assert!(output.status.success(), "{output:?}");
    let words = String::from_utf8(output.stdout).unwrap();
    let words: Vec<&str> = words.lines().collect();
    let (ca, field, url, [license, token]) = match words[..] {
        ["--cacert", ca, "-H", field, url, license, token] => (Some(ca), field, url, [license, token]),
        ["-H", field, url, license, token] => (None, field, url, [license, token]),
        _ => panic!("{words:?}"),
    };
    assert_eq!(ca.is_some(), more.is_empty());

    let (name, value) = field.split_once(": ").unwrap();
    let (server, path) = url.split_at(url.find("/v1/").unwrap());
    let answer = call(server, ca.map(Path::new), &Draft::new("GET", path).header(name, value));
    let verdict: Value = serde_json::from_slice(&answer.body).unwrap();
    assert_eq!((&verdict["ref"], &verdict["decision"]), (&"magic.verdict-ready".into(), &"allow".into()));
    assert_eq!(value, format!("Bearer {token}"));
    let settings =
        block.lines().find_map(|line| line.strip_prefix("#   settings ")).unwrap().trim().to_owned();
    assert_eq!(
        Path::new(&settings).parent().unwrap().metadata().unwrap().permissions().mode() & 0o777,
        0o700
    );

    let log = mock.stop();
    let line: Value = serde_json::from_str(log.lines().next().unwrap()).unwrap();
    assert_eq!((&line["endpoint"], &line["status"]), (&"verdict".into(), &200.into()));
    assert_eq!(line["target"], "/v1/verdict/magic.verdict-ready");
    assert!(!log.contains(&token[30..60]) && !log.contains(&license[30..60]), "{log}");
    assert!(!Path::new(&settings).exists());
}

#[test]
fn session_ends_in_a_token_that_the_key_set_verifies() {
    let any = "127.0.0.1:0";
    let mut mock = Mock::start(&["--listen", any, "--plain", any, "--edge", any, "--json"]);
    let ready = mock.ready();
    let at = |name: &str| ready[name].as_str().unwrap();
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("mock.json");
    fs::write(&file, ready.to_string()).unwrap();

    let body = minted(&["--mock", file.to_str().unwrap(), "--session-ref", "order 4711"]);
    let post = Draft::new("POST", "/v1/signals")
        .header("Content-Type", "application/json")
        .body(Body::Sized(body.into()));
    let accepted = call(at("edge"), None, &post);
    assert_eq!((accepted.status, &accepted.body[..]), (200, &br#"{"ok":true}"#[..]));

    let poll = Draft::new("GET", "/v1/verdict/order%204711?waitMs=5000")
        .header("Authorization", &format!("Bearer {}", at("read_token")));
    let verdict: Value = serde_json::from_slice(&call(at("plain"), None, &poll).body).unwrap();
    let token = verdict["token"].as_str().unwrap();
    let (signed, signature) = token.rsplit_once('.').unwrap();
    let (head, claims) = signed.split_once('.').unwrap();
    let bytes = |part: &str| URL_SAFE_NO_PAD.decode(part).unwrap();
    let json = |part: &str| serde_json::from_slice::<Value>(&bytes(part)).unwrap();
    let keys = get(at("plain"), "/.well-known/browser-verdict-jwks.json");
    let key = keys["keys"].as_array().unwrap().iter().find(|key| key["kid"] == json(head)["kid"]).unwrap();
    let key = UnparsedPublicKey::new(&ED25519, bytes(key["x"].as_str().unwrap()));
    key.verify(signed.as_bytes(), &bytes(signature)).unwrap();
    assert_eq!(json(claims)["sub"], "order 4711");

    let log = mock.stop();
    let endpoints: Vec<_> =
        log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["endpoint"].clone()).collect();
    assert_eq!(endpoints, ["relay", "verdict", "keys"]);
}
