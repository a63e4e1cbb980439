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
#[case::relative_url(
    "SERVICE_URL",
    "service.example",
    "SERVICE_URL \"service.example\" is invalid: relative URL without a base; help: use a base URL: scheme, host, optional port and path, such as https://service.example"
)]
#[case::other_scheme(
    "SERVICE_URL",
    "ftp://service.example",
    "SERVICE_URL \"ftp://service.example\" is invalid: the scheme is neither https nor http; help: use a base URL: scheme, host, optional port and path, such as https://service.example"
)]
#[case::password(
    "SERVICE_URL",
    "https://me:secret@service.example",
    "SERVICE_URL \"…@service.example\" is invalid: user and password are unsupported; help: use a base URL: scheme, host, optional port and path, such as https://service.example"
)]
#[case::query(
    "SERVICE_URL",
    "https://service.example/?a=b",
    "SERVICE_URL \"https://service.example/?a=b\" is invalid: query and fragment are unsupported; help: use a base URL: scheme, host, optional port and path, such as https://service.example"
)]
#[case::license_with_line_break(
    "LICENSE",
    "secret\n",
    "LICENSE cannot be sent in an HTTP header; help: use one line of printable ASCII; a common cause is a line break at the end"
)]
#[case::origin_with_line_break(
    "ALLOWED_ORIGIN",
    "https://shop.example\n",
    "ALLOWED_ORIGIN cannot be sent in an HTTP header; help: use one line of printable ASCII; a common cause is a line break at the end"
)]
#[case::missing_ca_file(
    "SERVICE_CA_FILE",
    "missing.pem",
    "SERVICE_CA_FILE: cannot read missing.pem: No such file or directory (os error 2); help: set SERVICE_CA_FILE to a PEM file with certificates (BEGIN CERTIFICATE)"
)]
#[case::key_in_place_of_ca(
    "SERVICE_CA_FILE",
    "[folder]/service-server.key",
    "SERVICE_CA_FILE: cannot read [folder]/service-server.key: the file does not contain certificates (BEGIN CERTIFICATE); help: set SERVICE_CA_FILE to a PEM file with certificates (BEGIN CERTIFICATE)"
)]
#[case::certificate_in_place_of_key(
    "EDGE_CLIENT_KEY_FILE",
    "[folder]/client-for-license.pem",
    "EDGE_CLIENT_KEY_FILE: cannot read [folder]/client-for-license.pem: the file does not contain a private key (BEGIN PRIVATE KEY); help: set EDGE_CLIENT_KEY_FILE to a PEM file with a private key (BEGIN PRIVATE KEY)"
)]
#[case::key_of_another_certificate(
    "EDGE_CLIENT_KEY_FILE",
    "[folder]/client-revoked.key",
    "EDGE_CLIENT_CERT_FILE and EDGE_CLIENT_KEY_FILE cannot be used together: keys may not be consistent: KeyMismatch; help: use the private key that belongs to the certificate"
)]
#[tokio::test]
async fn invalid_setting_is_named_in_the_error(
    #[case] setting: &str,
    #[case] value: &str,
    #[case] message: &str,
) {
    let credentials = Credentials::mint(&MintOptions::default()).unwrap();
    let files = CredentialFiles::write(&credentials).unwrap();
    let folder = files.folder().display().to_string();
    let valid = files.settings(&credentials, "https://service.example", "https://shop.example").env();
    let settings = EdgeSettings::from_env(|name| {
        if name == setting {
            return Some(value.replace("[folder]", &folder));
        }
        let (_, valid) = valid.iter().find(|(valid, _)| *valid == name)?;
        valid.to_str().map(str::to_owned)
    });
    let options = EdgeOptions::new(Arc::new(Spec::builtin(Version::Current)), settings, LogSink::new(drop));
    let error = Edge::start(options).await.unwrap_err();
    let text = format!("{error}; help: {}", error.help().unwrap());
    assert_eq!(text.replace(&folder, "[folder]"), message);
    assert!(!format!("{error:?}").contains("secret"));
}

#[tokio::test]
async fn port_in_use_is_named_in_the_error() {
    let taken = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let spec = Arc::new(Spec::builtin(Version::Current));
    let settings = crate::support::plain_settings("http://127.0.0.1:1");
    let mut options = EdgeOptions::new(spec, settings, LogSink::new(drop));
    options.listen = taken.local_addr().unwrap();
    let error = Edge::start(options).await.unwrap_err();
    assert_eq!(error.to_string(), format!("cannot listen on {}", taken.local_addr().unwrap()));
}
