use owo_colors::{OwoColorize as _, Style};

use crate::detail::{Ink, Line};

/// A line as it goes out: painted or plain, without blanks at its end.
pub(super) fn paint(line: &Line, color: bool) -> String {
    let mut out = String::new();
    for (ink, text) in line {
        match style(*ink) {
            Some(style) if color && !text.is_empty() => out.push_str(&text.style(style).to_string()),
            _ => out.push_str(text),
        }
    }
    out.truncate(out.trim_end_matches(' ').len());
    defuse(out)
}

/// The first `width` characters of a line, with `…` where there were more.
pub(super) fn clip(line: Line, width: usize) -> Line {
    let whole: usize = line.iter().map(|(_, text)| text.chars().count()).sum();
    if whole <= width {
        return line;
    }
    let mut left = width.saturating_sub(1);
    let mut clipped = Line::new();
    for (ink, text) in line {
        let piece: String = text.chars().take(left).collect();
        left -= piece.chars().count();
        clipped.push((ink, piece));
    }
    clipped.push((Ink::Dim, "…".to_owned()));
    clipped
}

/// Build servers take a line that begins with `::` for a command, blanks before it or not. None of ours is one.
fn defuse(line: String) -> String {
    let text = line.trim_start();
    if !text.starts_with("::") {
        return line;
    }
    format!("{}\\x3a{}", &line[..line.len() - text.len()], &text[1..])
}

fn style(ink: Ink) -> Option<Style> {
    match ink {
        Ink::Plain => None,
        Ink::Strong => Some(Style::new().bold()),
        Ink::Dim => Some(Style::new().dimmed()),
        Ink::Good => Some(Style::new().green()),
        Ink::Bad => Some(Style::new().red()),
        Ink::Odd => Some(Style::new().yellow()),
        Ink::Info => Some(Style::new().cyan()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detail::line;

    #[test]
    fn no_line_is_a_command_of_a_build_server() {
        assert_eq!(paint(&line(Ink::Plain, "  ::error::x"), false), "  \\x3a:error::x");
        assert_eq!(paint(&line(Ink::Plain, "  a::b"), false), "  a::b");
    }

    #[test]
    fn clips_to_the_width() {
        let clipped = clip(vec![(Ink::Plain, "abc".into()), (Ink::Bad, "defg".into())], 6);
        assert_eq!(paint(&clipped, false), "abcde…");
        assert_eq!(paint(&clip(line(Ink::Plain, "abcdef"), 6), false), "abcdef");
    }
}
