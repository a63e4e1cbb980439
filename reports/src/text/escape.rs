//! Escaping of text from outside. Every report passes such text through here.

use std::borrow::Cow;

/// Escapes hidden characters: control characters, terminal escape sequences, changes of writing direction and
/// characters without width. Line feeds stay.
///
/// ```text
/// "\x1b[2J\rdone"  →  "\\x1b[2J\\rdone"
/// ```
pub fn visible(text: &str) -> Cow<'_, str> {
    escape(text, |c| c != '\n' && is_hidden(c))
}

/// Like [`visible`], on one line: a line feed becomes `\n`.
pub fn one_line(text: &str) -> Cow<'_, str> {
    escape(text, is_hidden)
}

/// Escapes text for an element or a quoted attribute of HTML or XML, hidden characters included.
pub fn markup(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    for c in visible(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(other),
        }
    }
    out
}

/// Like [`markup`], on one line.
pub(crate) fn markup_line(text: &str) -> String {
    markup(&one_line(text))
}

fn escape(text: &str, hidden: impl Fn(char) -> bool) -> Cow<'_, str> {
    let Some(first) = text.find(&hidden) else { return Cow::Borrowed(text) };
    let mut out = String::with_capacity(text.len() + 16);
    out.push_str(&text[..first]);
    for c in text[first..].chars() {
        match c {
            c if !hidden(c) => out.push(c),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if u32::from(c) < 0x100 => put!(out, "\\x{:02x}", u32::from(c)),
            c => put!(out, "\\u{{{:x}}}", u32::from(c)),
        }
    }
    Cow::Owned(out)
}

fn is_hidden(c: char) -> bool {
    let code = u32::from(c);
    c.is_control()
        || code & 0xfffe == 0xfffe // noncharacters, invalid in XML
        || matches!(code,
            0xad | 0x61c | 0x180e | 0xfeff            // soft hyphen, Arabic mark, Mongolian separator, BOM
            | 0x200b..=0x200f | 0x2028..=0x202e       // zero width, separators, direction
            | 0x2060..=0x206f | 0xfdd0..=0xfdef       // joiners, isolates, noncharacters
            | 0xfff9..=0xfffb | 0xe0000..=0xe007f) // annotations, tags
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("plain, naïve, 日本", "plain, naïve, 日本")]
    #[case("\x1b[2J\x1b]0;title\x07", "\\x1b[2J\\x1b]0;title\\x07")]
    #[case("a\r\nb\tc\0", "a\\r\nb\\tc\\x00")]
    #[case("\u{9b}31m\u{7f}", "\\x9b31m\\x7f")]
    #[case("\u{202e}gpj.exe\u{feff}", "\\u{202e}gpj.exe\\u{feff}")]
    #[case("\u{ffff}\u{1fffe}", "\\u{ffff}\\u{1fffe}")]
    fn hidden_characters_are_escaped(#[case] text: &str, #[case] escaped: &str) {
        assert_eq!(visible(text), escaped);
    }

    #[test]
    fn line_feeds_are_escaped_on_one_line() {
        assert_eq!(one_line("a\nb"), "a\\nb");
        assert_eq!(markup("<a href='x'>\x1b&\"</a>"), "&lt;a href=&#39;x&#39;&gt;\\x1b&amp;&quot;&lt;/a&gt;");
    }

    proptest! {
        #[test]
        fn no_hidden_character_is_left(text: String) {
            prop_assert!(!visible(&text).chars().any(|c| c != '\n' && is_hidden(c)));
            prop_assert!(!one_line(&text).chars().any(is_hidden));
            prop_assert!(!markup(&text).contains(['<', '>', '"', '\'']));
        }

        #[test]
        fn escaping_is_idempotent(text: String) {
            let once = visible(&text);
            prop_assert_eq!(visible(&once), &*once);
        }
    }
}
