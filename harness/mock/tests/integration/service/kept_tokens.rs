//! Tokens that the service verified before: each request judges them anew.

use std::time::Duration;

use edgeproof_fixtures::credentials::ReadTokenForm;
use edgeproof_fixtures::spec::Stimulus;
use edgeproof_mock::NewSession;

use super::support::Bench;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Stimuli of the answers to a collection and to a request for a verdict, both with valid tokens.
async fn stimuli(bench: &Bench) -> [Option<Stimulus>; 2] {
    bench.service.add_session(NewSession::new("r"));
    let mark = bench.service.mark();
    bench.post("no collection").await;
    bench.verdict("r").await;
    let arrivals = bench.service.arrivals_since(mark);
    [arrivals[0].stimulus, arrivals[1].stimulus]
}

#[tokio::test]
async fn clock_decides_on_verified_tokens_at_each_request() {
    let bench = Bench::start().await;
    let accepted = [Some(Stimulus::BodyNotJson), Some(Stimulus::VerdictReady)];
    let expired = [Some(Stimulus::LicenseExpired), Some(Stimulus::ReadTokenExpired)];
    let not_yet_valid = [Some(Stimulus::LicenseNotYetValid), Some(Stimulus::ReadTokenNotYetValid)];
    assert_eq!(stimuli(&bench).await, accepted);
    bench.service.clock().advance(DAY * 366);
    assert_eq!(stimuli(&bench).await, expired);
    bench.service.reset();
    assert_eq!(stimuli(&bench).await, accepted);
    bench.service.clock().rewind(DAY * 2);
    assert_eq!(stimuli(&bench).await, not_yet_valid);
    bench.service.clock().advance(DAY * 2);
    assert_eq!(stimuli(&bench).await, accepted);
}

#[tokio::test]
async fn verified_token_with_an_altered_signature_is_refused() {
    let bench = Bench::start().await;
    bench.service.add_session(NewSession::new("r"));
    for _ in 0..2 {
        assert_eq!(bench.verdict("r").await.0, 200);
        let refused = bench.send(bench.poll_as(ReadTokenForm::SignatureAltered, "r")).await;
        assert_eq!(refused.status(), 401);
    }
}
