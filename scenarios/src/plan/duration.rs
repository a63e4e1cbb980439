use std::time::Duration;

/// Parses a duration such as `500ms`, `10s` or `2m`. Zero is an error.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let time = humantime::parse_duration(text.trim())
        .map_err(|why| format!("{why}; write it as 500ms, 10s or 2m"))?;
    if time.is_zero() { Err("it has to be more than nothing".into()) } else { Ok(time) }
}
