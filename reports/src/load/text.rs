use super::LoadReport;

/// `640 µs`, `1.30 ms`, `2.4 s`.
pub fn micros(us: u64) -> String {
    crate::figures::micros(us)
}

/// `1,234,567`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `499.8/s`.
pub fn rate(per_second: f64) -> String {
    if per_second >= 1000.0 { format!("{}/s", count(per_second.round() as u64)) } else { format!("{per_second:.1}/s") }
}

/// `0:42`, `1:02:03`.
pub fn clock(ms: u64) -> String {
    let seconds = ms / 1000;
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if hours > 0 { format!("{hours}:{minutes:02}:{seconds:02}") } else { format!("{minutes}:{seconds:02}") }
}

/// PLACEHOLDER
pub fn render(report: &LoadReport, color: bool) -> String {
    let _ = color;
    report.verdict().to_owned()
}
