//! Expected and actual value side by side, with what differs marked.

use std::borrow::Cow;

use askama::Template;
use similar::{Algorithm, DiffOp, capture_diff_slices, get_diff_ratio};

use crate::text::case::or_nothing;
use crate::text::escape::one_line;

/// Longest value whose differences are searched, in characters.
const LONGEST: usize = 1_000;
/// Values that share less than this part differ everywhere, and nothing is marked.
const LEAST_SHARED: f32 = 0.4;
/// Fewest equal characters between two differences. A shorter piece is equal by chance.
const LEAST_EQUAL: usize = 3;

/// Two values with their labels.
#[derive(Debug, Template)]
#[template(path = "report/values.html")]
pub(super) struct Values {
    labels: [&'static str; 2],
    sides: [Vec<Piece>; 2],
}

/// Part of a value.
#[derive(Debug, PartialEq, Eq)]
struct Piece {
    /// The other value has something else here.
    differs: bool,
    /// The text stands for invisible characters.
    stands_for_hidden: bool,
    text: String,
}

impl Values {
    /// The values. None: both are empty.
    pub(super) fn new(labels: [&'static str; 2], expected: &str, actual: &str) -> Option<Self> {
        if expected.is_empty() && actual.is_empty() {
            return None;
        }
        let sides = match differences(expected, actual) {
            Some(sides) => sides,
            None => [expected, actual].map(|text| vec![(false, or_nothing(text).to_owned())]),
        };
        let sides =
            sides.map(|runs| runs.iter().flat_map(|(differs, text)| pieces(text, *differs)).collect());
        Some(Self { labels, sides })
    }
}

/// Both values, cut where they begin and cease to differ. None: they have too little in common.
fn differences(expected: &str, actual: &str) -> Option<[Vec<(bool, String)>; 2]> {
    let (old, new): (Vec<char>, Vec<char>) = (expected.chars().collect(), actual.chars().collect());
    if old.len().max(new.len()) > LONGEST || old.is_empty() || new.is_empty() {
        return None;
    }
    let operations = capture_diff_slices(Algorithm::Myers, &old, &new);
    if get_diff_ratio(&operations, old.len(), new.len()) < LEAST_SHARED {
        return None;
    }
    let last = operations.len() - 1;
    let mut sides: [Vec<(bool, String)>; 2] = Default::default();
    for (at, operation) in operations.iter().enumerate() {
        let is_short = operation.new_range().len() < LEAST_EQUAL && at > 0 && at < last;
        let differs = !matches!(operation, DiffOp::Equal { .. }) || is_short;
        let texts = [&old[operation.old_range()], &new[operation.new_range()]];
        for (side, text) in sides.iter_mut().zip(texts) {
            match side.last_mut() {
                Some((before, run)) if *before == differs => run.extend(text),
                _ => side.push((differs, text.iter().collect())),
            }
        }
    }
    Some(sides)
}

/// Cuts a run before and after each character that one does not see. Spaces and line ends are shown where values differ.
fn pieces(text: &str, differs: bool) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    for c in text.chars() {
        let own = c.to_string();
        let (stands_for_hidden, shown) = match c {
            ' ' if differs => (true, Cow::Borrowed("·")),
            '\n' if differs => (true, Cow::Borrowed("↵\n")),
            '\n' => (false, Cow::Borrowed("\n")),
            _ => match one_line(&own) {
                Cow::Borrowed(same) => (false, Cow::Borrowed(same)),
                escaped @ Cow::Owned(_) => (true, escaped),
            },
        };
        match pieces.last_mut() {
            Some(piece) if piece.stands_for_hidden == stands_for_hidden => piece.text.push_str(&shown),
            _ => pieces.push(Piece { differs, stands_for_hidden, text: shown.into_owned() }),
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    /// A side as text: differences in brackets, what stands for invisible characters in angle brackets.
    fn shown(pieces: &[Piece]) -> String {
        let shown = pieces.iter().map(|Piece { differs, stands_for_hidden, text }| {
            let text = if *stands_for_hidden { format!("<{text}>") } else { text.clone() };
            if *differs { format!("[{text}]") } else { text }
        });
        shown.collect()
    }

    #[rstest]
    #[case(
        r#"{"n":9007199254740993}"#,
        r#"{"n":9007199254740992}"#,
        r#"{"n":900719925474099[3]}"#,
        r#"{"n":900719925474099[2]}"#
    )]
    #[case(
        r#"{"a": 1, "b": 2}"#,
        r#"{"a":1,"b":2}"#,
        r#"{"a":[<·>][1,][<·>]"b":[<·>]2}"#,
        r#"{"a":[1,]"b":2}"#
    )]
    #[case("a line\n", "a line", "a line[<↵\n>]", "a line")]
    #[case("one\u{200b}two", "one two", "one[<\\u{200b}>]two", "one[<·>]two")]
    #[case("granted\t", "none", "granted<\\t>", "none")]
    #[case("", "none", "(nothing)", "none")]
    fn differences_and_hidden_characters_are_marked(
        #[case] expected: &str,
        #[case] actual: &str,
        #[case] first: &str,
        #[case] second: &str,
    ) {
        let values = Values::new(["expected", "actual"], expected, actual).unwrap();
        assert_eq!(values.sides.each_ref().map(|side| shown(side)), [first, second]);
    }
}
