//! A service behind TLS with a private CA.

use std::sync::Arc;

use edgeproof_fixtures::credentials::{
    CredentialFiles, Credentials, LicenseForm, MintOptions, ReadTokenForm, Role,
};
use edgeproof_fixtures::spec::{Spec, Version};
use edgeproof_mock::{MockService, NewSession, ServiceOptions};

use super::program::conformance;

/// The mock as an external service: edgeproof knows only the given inputs.
#[tokio::test(flavor = "multi_thread")]
async fn service_ca_option_attaches_to_a_private_ca() {
    let credentials = Arc::new(Credentials::mint(&MintOptions::default()).unwrap());
    let files = CredentialFiles::write(&credentials).unwrap();
    let spec = Arc::new(Spec::builtin(Version::Current));
    let mock = MockService::start_with(ServiceOptions::new(spec, Arc::clone(&credentials))).await.unwrap();
    mock.add_session(NewSession::new("cart 7"));
    let (url, ca) = (mock.url(), files.certificate(Role::ServiceAuthority));
    let ca = ca.to_str().unwrap();
    let (expired, license) =
        (credentials.read_token(ReadTokenForm::Expired), credentials.license(LicenseForm::Valid));
    let token = credentials.read_token(ReadTokenForm::Valid);
    let given = ["--base-url", &url, "--service-ca", ca, "--expired-token", &expired, "--license", &license];
    let given = [&given[..], &["--session-ref", "cart 7", "--strict"]].concat();
    let run = conformance(&[&["service"], &given[..]].concat(), Some(&token));
    assert_eq!((run.exit, run.ended("fail"), run.ended("warn")), (0, vec![], vec![]), "{}", run.out);
    let run = conformance(&[&["keys", "--keys-url", &url], &given[..]].concat(), Some(&token));
    let with_states = [
        "keys.during-outage",
        "keys.token-renewed",
        "keys.token-id",
        "keys.token-claims.numbers",
        "keys.rotation.verifies",
        "keys.rotation.twice",
        "keys.rotation.second",
        "keys.rotation.during",
        "keys.rotation.cached",
    ];
    let with_states = with_states.map(str::to_owned).to_vec();
    assert_eq!((run.exit, run.ended("not-applicable")), (0, with_states), "{}", run.out);

    let run = conformance(&["service", "--base-url", &url], Some(&token));
    assert_eq!(run.exit, 3);
    assert!(
        run.report["findings"][0].as_str().unwrap().contains("--service-ca FILE"),
        "{}",
        run.report["findings"]
    );
}
