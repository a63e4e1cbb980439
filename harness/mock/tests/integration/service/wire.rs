//! Bytes on the wire, prepared for snapshots.

use std::fmt::Write;

/// A request and its answer, with placeholders for values that differ between runs.
pub(crate) fn shown(request: &str, answer: &str, secrets: &[(&str, &str)]) -> String {
    let mut text = format!("{request}\n\n{answer}\n\n");
    for (secret, label) in secrets {
        text = text.replace(secret, label);
    }
    if let Some(start) = text.find("xxxxxxxx") {
        let length = text[start..].bytes().take_while(|byte| *byte == b'x').count();
        text.replace_range(start..start + length, &format!("[{length} × x]"));
    }
    for (before, after, label) in [
        ("\"issuedAt\":\"", "\"", "[time]"),
        ("\"token\":\"", "\"", "[token]"),
        ("unknown_kid:", "\"", "[key id]"),
        ("etag: ", "\r", "[entity tag]"),
        ("\"kid\":\"", "\"", "[key id]"),
        ("\"x\":\"", "\"", "[key]"),
    ] {
        if let Some(start) = text.find(before).map(|start| start + before.len()) {
            let length = text[start..].find(after).unwrap();
            text.replace_range(start..start + length, label);
        }
    }
    let mut shown = String::new();
    let lines = text.lines().filter(|line| !line.starts_with("date: "));
    lines.for_each(|line| writeln!(shown, "{line}").unwrap());
    shown
}
