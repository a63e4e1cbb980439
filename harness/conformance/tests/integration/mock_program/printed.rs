//! What `edgeproof mock` prints, and how it refuses its arguments.

use std::fs;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use edgeproof_fixtures::spec::{Spec, Version};
use edgeproof_http::{Body, Draft};
use edgeproof_mock::magic::Magic;
use rstest::rstest;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, ServerName};
use serde_json::Value;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::{self, ClientConfig, RootCertStore};
use url::Url;

use super::{GUIDE, LIMIT, Mock, call, edgeproof, minted, path};
use crate::limited;

#[test]
fn json_line_holds_addresses_and_credentials() {
    let all = [
        "--listen",
        "127.0.0.1:0",
        "--plain",
        "127.0.0.1:0",
        "--edge",
        "127.0.0.1:0",
        "--admin",
        "127.0.0.1:0",
    ];
    let mut mock =
        Mock::start(&[&all[..], &["--json", "--seed", "42", "--service-host", "mock.test"]].concat());
    let ready = mock.ready();
    assert_eq!((&ready["schema"], &ready["seed"]), (&"edgeproof.mock/1".into(), &42.into()));
    assert!(ready["service_url"].as_str().unwrap().starts_with("https://mock.test:"));
    for file in ["env_file", "service_ca_file", "client_cert_file", "client_key_file"] {
        assert_eq!(path(&ready[file]).metadata().unwrap().permissions().mode() & 0o777, 0o600, "{file}");
    }
    let at = |name: &str| ready[name].as_str().unwrap().to_owned();
    let ca = path(&ready["service_ca_file"]);
    let health = Draft::new("GET", "/health");
    for (name, ca) in [("plain", None), ("edge", None), ("admin", None), ("service", Some(ca.as_path()))] {
        let answer = call(&at(name), ca, &health);
        assert_eq!((answer.status, answer.body.trim_ascii_end()), (200, &br#"{"ok":true}"#[..]), "{name}");
    }
    // The certificate holds the name as well.
    let service = Url::parse(&at("service")).unwrap();
    let address = service.socket_addrs(|| None).unwrap()[0];
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let text =
        runtime.block_on(async { timeout(LIMIT, health_of("mock.test", address, &ca)).await.unwrap() });
    assert!(text.starts_with("HTTP/1.1 200 ") && text.ends_with(r#"{"ok":true}"#), "{text}");
    mock.stop();
}

/// Answer of a server at `address` whose certificate is valid for `name`, which need not resolve.
async fn health_of(name: &'static str, address: SocketAddr, ca: &Path) -> String {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(ca).unwrap() {
        roots.add(certificate.unwrap()).unwrap();
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = config.with_root_certificates(roots).with_no_client_auth();
    let stream = TcpStream::connect(address).await.unwrap();
    let name = ServerName::try_from(name).unwrap();
    let mut stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await.unwrap();
    stream.write_all(b"GET /health HTTP/1.1\r\nHost: mock.test\r\nConnection: close\r\n\r\n").await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

#[test]
fn minted_settings_are_used_and_kept() {
    let folder = TempDir::new().unwrap();
    let settings = folder.path().join("settings");
    let dir = settings.to_str().unwrap();
    let made = limited::output(&mut edgeproof(&["mint", "edge-settings", "--out", dir]));
    assert!(made.status.success());
    let before = fs::read_to_string(settings.join("edge/edge.env")).unwrap();
    let mut mock =
        Mock::start(&["--settings", dir, "--listen", "127.0.0.1:0", "--edge", "127.0.0.1:0", "--json"]);
    let ready = mock.ready();
    assert_eq!(path(&ready["settings"]), settings.canonicalize().unwrap());
    assert!(before.contains(&format!("LICENSE={}\n", ready["license"].as_str().unwrap())));
    let body = minted(&["--settings", dir, "--session-ref", "s", "--form", "incomplete"]);
    let post = Draft::new("POST", "/v1/signals").body(Body::Sized(body.into()));
    let answer = call(ready["edge"].as_str().unwrap(), None, &post);
    let refused: Value = serde_json::from_slice(&answer.body).unwrap();
    assert_eq!(refused["reason"], "missing_fields");
    let log = mock.stop();
    assert!(log.contains(r#""row":"relay.400.missing-fields""#), "{log}");
    assert!(log.contains(r#""endpoint":"edge""#), "{log}");
    assert_eq!(fs::read_to_string(settings.join("edge/edge.env")).unwrap(), before);
}

#[test]
fn magic_values_are_printed() {
    let magic = Magic::of(&Spec::builtin(Version::Current));
    let output = limited::output(&mut edgeproof(&["mock", "--magic", "--json"]));
    assert_eq!(output.status.code(), Some(0));
    let table: Value = serde_json::from_slice(&output.stdout).unwrap();
    let values: Vec<_> =
        table["magic"].as_array().unwrap().iter().map(|pair| pair["value"].as_str().unwrap()).collect();
    assert_eq!(values, magic.pairs().iter().map(|pair| pair.value.as_str()).collect::<Vec<_>>());

    let output = limited::output(&mut edgeproof(&["mock", "--magic"]));
    let text = String::from_utf8(output.stdout).unwrap();
    for pair in magic.pairs() {
        let line = text.lines().find(|line| line.split_whitespace().next() == Some(&pair.value)).unwrap();
        assert!(line.contains(&pair.status.to_string()) && line.ends_with(pair.stimulus.name()), "{line}");
    }
    for value in GUIDE.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()) {
        if value.contains("magic.") {
            let value = value.split('~').next().unwrap();
            assert!(values.contains(&value), "docs/mock.md has {value}");
        }
    }
}

#[rstest]
#[case::open_admin(&["--admin", "0.0.0.0:0"], "other machines could reach this address")]
#[case::open_page(&["--page", "0.0.0.0:0"], "other machines could reach this address")]
#[case::open_plain(&["--plain", "0.0.0.0:0"], "other machines could reach this address")]
#[case::host(&["--listen", "127.0.0.1:0", "--service-host", "https://x"], "give --service-host a name")]
#[case::settings(&["--settings", "/nowhere"], "there is no service/")]
#[case::both(&["--settings", ".", "--service-host", "x"], "cannot be used with")]
#[case::profile(&["--profile", "/nowhere"], "/nowhere")]
#[case::admin_host(&["--admin-host", "x"], "--admin")]
fn invalid_arguments_exit_2(#[case] args: &[&str], #[case] why: &str) {
    let output = limited::output(edgeproof(&["mock"]).args(args));
    let error = String::from_utf8(output.stderr).unwrap().replace('│', " ");
    let error = error.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(output.stdout.is_empty() && error.contains(why), "{error}");
}

#[test]
fn port_in_use_exits_2() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = taken.local_addr().unwrap().to_string();
    for flag in ["--listen", "--plain", "--edge", "--admin", "--page"] {
        let args = if flag == "--listen" { vec![] } else { vec!["--listen", "127.0.0.1:0"] };
        let output = limited::output(edgeproof(&["mock"]).args(args).args([flag, &addr]));
        assert_eq!(output.status.code(), Some(2), "{flag}");
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(error.contains(flag) && error.contains("in use"), "{error}");
    }
}
