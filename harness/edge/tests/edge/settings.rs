use std::sync::Arc;

use edgeproof_edge::{Edge, EdgeOptions, LogSink};
use edgeproof_fixtures::credentials::{CredentialFiles, Credentials, EdgeSettings, MintOptions};
use edgeproof_fixtures::spec::{Spec, Version};
use miette::Diagnostic;
use rstest::rstest;

#[rstest]
#[case::no_service_url(
    "SERVICE_URL",
    "",
    "SERVICE_URL is not set; help: set SERVICE_URL=https://service.example"
)]
#[case::no_url(
    "SERVICE_URL",
    "service.example",
    "SERVICE_URL is \"service.example\", which is no address of a service; help: give scheme, host and if need be port and path, such as https://service.example; relative URL without a base"
)]
#[case::other_scheme(
    "SERVICE_URL",
    "ftp://service.example",
    "SERVICE_URL is \"ftp://service.example\", which is no address of a service; help: give scheme, host and if need be port and path, such as https://service.example; it is neither https nor http"
)]
#[case::password(
    "SERVICE_URL",
    "https://me:secret@service.example",
    "SERVICE_URL is \"…@service.example\", which is no address of a service; help: give scheme, host and if need be port and path, such as https://service.example; it holds a user or a password, which goes nowhere"
)]
#[case::query(
    "SERVICE_URL",
    "https://service.example/?a=b",
    "SERVICE_URL is \"https://service.example/?a=b\", which is no address of a service; help: give scheme, host and if need be port and path, such as https://service.example; it holds a query or a fragment, which goes nowhere"
)]
#[case::license_with_line_end(
    "LICENSE",
    "secret\n",
    "LICENSE holds what cannot go into an HTTP header; help: it must be one line of printable ASCII; a line end at its end is a common cause"
)]
#[case::origin_with_line_end(
    "ALLOWED_ORIGIN",
    "https://shop.example\n",
    "ALLOWED_ORIGIN holds what cannot go into an HTTP header; help: it must be one line of printable ASCII; a line end at its end is a common cause"
)]
#[case::no_ca_file(
    "SERVICE_CA_FILE",
    "missing.pem",
    "SERVICE_CA_FILE: missing.pem cannot be read: No such file or directory (os error 2); help: SERVICE_CA_FILE names a PEM file with certificates (BEGIN CERTIFICATE)"
)]
#[case::key_in_place_of_ca(
    "SERVICE_CA_FILE",
    "[folder]/service-server.key",
    "SERVICE_CA_FILE: [folder]/service-server.key holds none; help: SERVICE_CA_FILE names a PEM file with certificates (BEGIN CERTIFICATE)"
)]
#[case::certificate_in_place_of_key(
    "EDGE_CLIENT_KEY_FILE",
    "[folder]/client-for-license.pem",
    "EDGE_CLIENT_KEY_FILE: [folder]/client-for-license.pem holds none; help: EDGE_CLIENT_KEY_FILE names a PEM file with a private key (BEGIN PRIVATE KEY)"
)]
#[case::key_of_another_certificate(
    "EDGE_CLIENT_KEY_FILE",
    "[folder]/client-revoked.key",
    "EDGE_CLIENT_CERT_FILE and EDGE_CLIENT_KEY_FILE cannot be used together: keys may not be consistent: KeyMismatch; help: check that the key is the one that the certificate was issued for"
)]
#[tokio::test]
async fn a_setting_of_no_use_is_named(#[case] setting: &str, #[case] value: &str, #[case] message: &str) {
    let credentials = Credentials::mint(&MintOptions::default()).unwrap();
    let files = CredentialFiles::write(&credentials).unwrap();
    let folder = files.folder().display().to_string();
    let proper = files.settings(&credentials, "https://service.example", "https://shop.example").env();
    let settings = EdgeSettings::from_env(|name| {
        let proper = || proper.iter().find(|(proper, _)| *proper == name)?.1.to_str().map(str::to_owned);
        if name == setting { Some(value.replace("[folder]", &folder)) } else { proper() }
    });
    let options = EdgeOptions::new(Arc::new(Spec::builtin(Version::Current)), settings, LogSink::new(drop));
    let error = Edge::start(options).await.unwrap_err();
    let said = format!("{error}; help: {}", error.help().unwrap());
    assert_eq!(said.replace(&folder, "[folder]"), message);
    assert!(!format!("{error:?}").contains("secret"));
}

#[tokio::test]
async fn a_port_in_use_is_named() {
    let taken = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let spec = Arc::new(Spec::builtin(Version::Current));
    let settings = crate::support::plain_settings("http://127.0.0.1:1");
    let mut options = EdgeOptions::new(spec, settings, LogSink::new(drop));
    options.listen = taken.local_addr().unwrap();
    let error = Edge::start(options).await.unwrap_err();
    assert_eq!(error.to_string(), format!("failed to listen on {}", taken.local_addr().unwrap()));
}
