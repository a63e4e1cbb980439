//! Lines in pieces, each with a style; painted for a terminal or plain.

use owo_colors::{OwoColorize as _, Style as Ansi};

use super::escape::one_line;

/// Style of a piece of text; the terminal has a colour for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextStyle {
    Plain,
    Strong,
    Dim,
    Good,
    Bad,
    Warning,
    Info,
}

/// A line in pieces, without its line feed. It contains no hidden characters.
pub(crate) type StyledLine = Vec<(TextStyle, String)>;

/// A line of one piece.
pub(crate) fn line(style: TextStyle, text: impl Into<String>) -> StyledLine {
    vec![(style, text.into())]
}

/// The line as text, coloured or plain, without trailing spaces.
pub(crate) fn paint(line: &StyledLine, color: bool) -> String {
    let mut out = String::new();
    for (style, text) in line {
        match ansi(*style) {
            Some(ansi) if color && !text.is_empty() => put!(out, "{}", text.style(ansi)),
            _ => out.push_str(text),
        }
    }
    out.truncate(out.trim_end_matches(' ').len());
    defuse(out)
}

/// All lines as text, each with a line feed.
pub(crate) fn paint_all(lines: &[StyledLine], color: bool) -> String {
    lines.iter().map(|line| paint(line, color) + "\n").collect()
}

/// The first `width` characters of a line, with `…` if it was longer.
pub(crate) fn clip(line: StyledLine, width: usize) -> StyledLine {
    let whole: usize = line.iter().map(|(_, text)| text.chars().count()).sum();
    if whole <= width {
        return line;
    }
    let mut left = width.saturating_sub(1);
    let mut clipped = StyledLine::new();
    for (style, text) in line {
        let piece: String = text.chars().take(left).collect();
        left -= piece.chars().count();
        clipped.push((style, piece));
    }
    clipped.push((TextStyle::Dim, "…".to_owned()));
    clipped
}

/// Prose in lines of at most `width` characters. A longer word gets a line of its own. Code in backticks is one word, so
/// that it can be copied.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in words(&one_line(text)) {
        let last = lines.last_mut().expect("the first line exists from the start");
        if last.is_empty() {
            last.push_str(word);
        } else if last.chars().count() + 1 + word.chars().count() <= width {
            last.push(' ');
            last.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

/// Pieces between spaces outside of backticks.
fn words(text: &str) -> Vec<&str> {
    let (mut words, mut start, mut in_code) = (Vec::new(), 0, false);
    for (at, c) in text.char_indices() {
        match c {
            '`' => in_code = !in_code && text[at + 1..].contains('`'),
            ' ' if !in_code => {
                words.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    words.push(&text[start..]);
    words
}

/// Escapes a leading `::`, even after spaces: GitHub Actions would execute the line as a workflow command.
fn defuse(line: String) -> String {
    let text = line.trim_start();
    if !text.starts_with("::") {
        return line;
    }
    format!("{}\\x3a{}", &line[..line.len() - text.len()], &text[1..])
}

fn ansi(style: TextStyle) -> Option<Ansi> {
    match style {
        TextStyle::Plain => None,
        TextStyle::Strong => Some(Ansi::new().bold()),
        TextStyle::Dim => Some(Ansi::new().dimmed()),
        TextStyle::Good => Some(Ansi::new().green()),
        TextStyle::Bad => Some(Ansi::new().red()),
        TextStyle::Warning => Some(Ansi::new().yellow()),
        TextStyle::Info => Some(Ansi::new().cyan()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leading_double_colon_is_escaped() {
        assert_eq!(paint(&line(TextStyle::Plain, "  ::error::x"), false), "  \\x3a:error::x");
        assert_eq!(paint(&line(TextStyle::Plain, "  a::b"), false), "  a::b");
    }

    #[test]
    fn prose_wraps_between_words() {
        assert_eq!(wrap("one two three\nfour", 9), ["one two", "three\\nfour"]);
        assert_eq!(wrap("two  blanks", 20), ["two  blanks"]);
        assert_eq!(wrap("", 9), [""]);
        assert_eq!(wrap("run `sh -c 'a b'` or ` it", 9), ["run", "`sh -c 'a b'`", "or ` it"]);
    }

    #[test]
    fn clip_marks_cut_lines() {
        let clipped = clip(vec![(TextStyle::Plain, "abc".into()), (TextStyle::Bad, "defg".into())], 6);
        assert_eq!(paint(&clipped, false), "abcde…");
        assert_eq!(paint(&clip(line(TextStyle::Plain, "abcdef"), 6), false), "abcdef");
    }
}
