use std::sync::Arc;
use std::time::Duration;

use edgeproof_http::ServerAddress;
use tokio::time::{sleep, timeout};

use crate::engine::UserConnection;
use crate::measure::RequestFailure;
use edgeproof_cli::Failure;

/// Number of attempts. One that fails by chance does not end the run.
const ATTEMPTS: u32 = 3;
/// Time between attempts.
const PAUSE: Duration = Duration::from_millis(100);
/// Timeout of an attempt.
const LIMIT: Duration = Duration::from_secs(5);

/// Checks that the target accepts connections. It sends no request, so the target's speed and answers are
/// left to the run.
pub(super) async fn check_reachable(endpoints: &[Arc<ServerAddress>]) -> Result<(), Failure> {
    for endpoint in endpoints {
        if let Some(failure) = cannot_connect(endpoint).await {
            return Err(Failure::usage(
                format!("cannot reach the target before the run: {failure} at {}", endpoint.authority()),
                "check its URL and that it runs; with TLS, check that its certificate covers this host and that --edge-ca or \
                 --service-ca names its CA file",
            )
            .incomplete());
        }
    }
    Ok(())
}

/// Why no attempt succeeded; `None` if one did.
async fn cannot_connect(endpoint: &Arc<ServerAddress>) -> Option<RequestFailure> {
    let mut last = None;
    for attempt in 0..ATTEMPTS {
        if attempt > 0 {
            sleep(PAUSE).await;
        }
        let mut connection = UserConnection::new(Arc::clone(endpoint));
        match timeout(LIMIT, connection.open()).await {
            Ok(Ok(())) => return None,
            Ok(Err(failure)) => last = Some(failure),
            Err(_) => last = Some(RequestFailure::Connect),
        }
    }
    last
}
