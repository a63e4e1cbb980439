use std::time::Duration;

use edgeproof_http::{NoAnswer, ServerAddress};
use edgeproof_launch::probe;
use tokio::time::sleep;

use edgeproof_cli::Failure;

/// An endpoint that this program did not start.
pub(super) struct ForeignEndpoint<'a> {
    /// `edge` or `service`.
    pub(super) part: &'static str,
    /// The option that names its CA.
    pub(super) ca_option: &'static str,
    /// The endpoint.
    pub(super) address: &'a ServerAddress,
}

/// Number of attempts. One that fails by chance does not end the run.
const ATTEMPTS: u64 = 3;
/// Time between attempts.
const PAUSE: Duration = Duration::from_millis(100);
/// Timeout of the answer.
const LIMIT: Duration = Duration::from_secs(2);

impl ForeignEndpoint<'_> {
    /// Checks with a health check that the endpoint can be reached at all. A slow or broken answer is left to
    /// the run. Yields the number of attempts.
    pub(super) async fn check_reachable(&self) -> Result<u64, Failure> {
        let mut attempt = 1;
        loop {
            let Err(why) = self.attempt().await else { return Ok(attempt) };
            // A timeout is no accident, and three of them take long.
            if attempt == ATTEMPTS || matches!(why, NoAnswer::TimedOut(_)) {
                return Err(self.unreachable(&why));
            }
            attempt += 1;
            sleep(PAUSE).await;
        }
    }

    async fn attempt(&self) -> Result<(), NoAnswer> {
        self.address.connect(None, &[b"http/1.1"]).await?;
        match probe(self.address, LIMIT).await {
            Err(NoAnswer::TimedOut(_) | NoAnswer::Closed | NoAnswer::Reset) => Ok(()),
            answered => answered,
        }
    }

    fn unreachable(&self, why: &NoAnswer) -> Failure {
        let Self { part, ca_option, address } = self;
        let advice = match why {
            NoAnswer::NoTls(why) => why.advice(ca_option, "use http://"),
            NoAnswer::NotHttp(_) => "check that it speaks HTTP; if it speaks TLS, use https://".into(),
            NoAnswer::NoSocket(_) => "raise the limit on open files (ulimit -n)".into(),
            _ => "check its URL, and that this machine can reach it".into(),
        };
        Failure::usage(format!("cannot reach the {part} at {}: {why}", address.url()), advice).incomplete()
    }
}
