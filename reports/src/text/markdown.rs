//! Escaping for Markdown.

use super::escape::one_line;

/// A code block whose fence is longer than any run of backticks in the text.
pub(crate) fn fenced(text: &str) -> String {
    let longest_run = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest_run.max(2) + 1);
    format!("{fence}text\n{}\n{fence}\n", text.trim_end_matches('\n'))
}

/// Inline code, also for a table cell. HTML instead of backticks: a `|` in the text would end the cell.
pub(crate) fn code(text: &str) -> String {
    format!("<code>{}</code>", literal(text))
}

/// Text on one line in which no character means anything to Markdown or HTML.
pub(crate) fn literal(text: &str) -> String {
    let mut escaped = String::new();
    for c in one_line(text).chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            // Markdown interprets these even between HTML tags.
            '\'' | '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '!' | ':' | '@' | '#' | '$' => {
                put!(escaped, "&#{};", u32::from(c));
            }
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fence_is_longer_than_any_run_of_backticks() {
        assert_eq!(fenced("a ```` b\n"), "`````text\na ```` b\n`````\n");
        assert_eq!(fenced("plain"), "```text\nplain\n```\n");
    }

    #[test]
    fn apostrophe_is_one_character() {
        assert_eq!(literal("a verdict's #1 & \"x\""), "a verdict&#39;s &#35;1 &amp; &quot;x&quot;");
    }

    #[test]
    fn code_escapes_markdown() {
        assert_eq!(
            code("a|b`@me`\n<x>"),
            "<code>a&#124;b&#96;&#64;me&#96;\\n&lt;x&gt;</code>".replace('\\', "&#92;")
        );
    }
}
