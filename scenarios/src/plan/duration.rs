use std::time::Duration;

/// Parses a duration such as `500ms`, `10s` or `2m`. Zero is an error.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let duration = parse_duration_or_zero(text)?;
    if duration.is_zero() { Err("the duration must be longer than zero".into()) } else { Ok(duration) }
}

/// Parses a duration such as `500ms`, `10s` or `0s`.
pub fn parse_duration_or_zero(text: &str) -> Result<Duration, String> {
    humantime::parse_duration(text.trim()).map_err(|why| format!("{why}; write 500ms, 10s or 2m"))
}
