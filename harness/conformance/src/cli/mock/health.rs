use std::time::Duration;

use edgeproof_cli::exit_code::BROKEN;
use edgeproof_cli::{Failure, single_threaded_runtime};
use edgeproof_http::{Draft, ServerAddress, send};
use url::Url;

/// Time for the answer. Container engines wait 30 s by default.
const LIMIT: Duration = Duration::from_secs(5);

/// Gets `url`: 0 if the answer is a success, 1 if not.
pub(super) fn check(url: &Url) -> Result<u8, Failure> {
    single_threaded_runtime()?.block_on(async {
        let server = ServerAddress::resolve(url, None).await?;
        let path = if server.base().is_empty() { "/" } else { "" };
        let sent = send(&server, &Draft::new("GET", path), LIMIT).await;
        let why = match sent.reply {
            Ok(answer) if (200..300).contains(&answer.status) => return Ok(0),
            Ok(answer) => format!("status {}", answer.status),
            Err(why) => why.to_string(),
        };
        let advice = "start `edgeproof mock` with --plain ADDR, and name its /health";
        Ok(Failure::usage(format!("{url} is not healthy: {why}"), advice).ended_by(BROKEN).print())
    })
}
