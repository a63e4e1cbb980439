use std::time::SystemTime;

use serde::Deserialize;
use serde_json::{Value, json};

use super::AdminError;
use super::error::{parse, span};
use crate::clock::Clock;

/// Body of `POST /clock`. Exactly one member is present.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ClockRequest {
    advance: Option<String>,
    rewind: Option<String>,
    set: Option<String>,
    stop: Option<bool>,
}

/// The clock in JSON.
pub(super) fn view(clock: &Clock) -> Value {
    let now = clock.now().max(SystemTime::UNIX_EPOCH);
    json!({ "now": humantime::format_rfc3339_millis(now).to_string(), "offset_ms": clock.offset() })
}

/// Moves or stops the clock.
pub(super) fn change(clock: &Clock, body: &[u8]) -> Result<Value, AdminError> {
    match parse(body)? {
        ClockRequest { advance: Some(by), rewind: None, set: None, stop: None } => clock.advance(span(&by)?),
        ClockRequest { advance: None, rewind: Some(by), set: None, stop: None } => clock.rewind(span(&by)?),
        ClockRequest { advance: None, rewind: None, set: Some(time), stop: None } => {
            clock.set(humantime::parse_rfc3339_weak(&time).map_err(|why| {
                AdminError::bad(format!("invalid time {time:?}: {why}; write it as 2030-01-31T12:00:00Z"))
            })?);
        }
        ClockRequest { advance: None, rewind: None, set: None, stop: Some(true) } => clock.stop(),
        ClockRequest { advance: None, rewind: None, set: None, stop: Some(false) } => {
            clock.set_offset(clock.offset());
        }
        _ => {
            return Err(AdminError::bad("give exactly one of \"advance\", \"rewind\", \"set\" and \"stop\""));
        }
    }
    Ok(view(clock))
}
