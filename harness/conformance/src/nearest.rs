use globset::GlobMatcher;
use strsim::osa_distance;

use crate::case_glob::case_glob;

/// Maximum number of suggestions.
const SHOWN: usize = 3;
/// Characters with a meaning in a glob.
const WILDCARDS: [char; 6] = ['*', '?', '[', ']', '{', '}'];

/// Ids and patterns that differ from `given` by a typo, nearest first. Each matches one of `ids`.
///
/// Compares segment by segment: `realy.body.*` is near `relay.body.*`.
pub(crate) fn nearest<'i>(given: &str, ids: impl IntoIterator<Item = &'i str>) -> Vec<String> {
    let ids: Vec<&str> = ids.into_iter().collect();
    let given = given.to_lowercase();
    let segments: Vec<&str> = given.split('.').collect();
    let mut found: Vec<(usize, String)> = Vec::new();
    for id in &ids {
        found.extend(corrected(&segments, id));
        found.extend(distance(&given, id).map(|cost| (cost, (*id).to_owned())));
    }
    if found.is_empty() {
        found.extend(ids.iter().filter_map(|id| shared_start(&segments, id)));
    }
    if let ([word], true) = (&segments[..], found.is_empty()) {
        found.extend(ids.iter().flat_map(|id| with_segment(word, id)));
    }
    found.sort();
    let mut near: Vec<String> = Vec::new();
    for (_, text) in found {
        if !near.contains(&text) && matches_any(&text, &ids) {
            near.push(text);
        }
        if near.len() == SHOWN {
            break;
        }
    }
    near
}

/// Ids that the nearest patterns match.
pub(crate) fn nearest_ids<'i>(given: &str, ids: impl IntoIterator<Item = &'i str>) -> Vec<String> {
    let ids: Vec<&str> = ids.into_iter().collect();
    let near = nearest(given, ids.iter().copied());
    let globs: Vec<GlobMatcher> = near.iter().filter_map(|pattern| case_glob(pattern).ok()).collect();
    let matching = globs.iter().flat_map(|glob| ids.iter().filter(|id| glob.is_match(id)));
    matching.take(SHOWN).map(|id| (*id).to_owned()).collect()
}

/// `; similar: a, b`, or nothing.
pub(crate) fn similar_text(similar: &[String]) -> String {
    if similar.is_empty() { String::new() } else { format!("; similar: {}", similar.join(", ")) }
}

/// The pattern with the segments of an id in place of its own, if each is near. Segments with wildcards stay.
fn corrected(segments: &[&str], id: &str) -> Option<(usize, String)> {
    let own: Vec<&str> = id.split('.').collect();
    let (mut cost, mut text) = (0, Vec::new());
    for (index, segment) in segments.iter().enumerate() {
        let Some(other) = own.get(index) else {
            // The last wildcard of a pattern can match nothing that is left.
            return None;
        };
        let literal = segment.trim_end_matches('*');
        if literal.contains(WILDCARDS) || literal.is_empty() {
            text.push((*segment).to_owned());
        } else if literal.len() < segment.len() {
            let start: String = other.chars().take(literal.chars().count()).collect();
            cost += distance(literal, &start)?;
            text.push(start + "*");
        } else {
            cost += segment_distance(literal, other)?;
            text.push((*other).to_owned());
        }
    }
    let whole = own.len() == segments.len() || segments.last().is_some_and(|last| last.ends_with('*'));
    let rest = if whole { "" } else { ".*" };
    Some((cost, text.join(".") + rest))
}

/// The pattern for all ids that begin with the same segments.
fn shared_start(segments: &[&str], id: &str) -> Option<(usize, String)> {
    let own = id.split('.');
    let equal = segments.iter().zip(own).take_while(|(segment, own)| *segment == own).count();
    (equal > 0).then(|| (segments.len() - equal, format!("{}.*", segments[..equal].join("."))))
}

/// Patterns for a word that is a segment of the id, in any position. Short words are near too many segments.
fn with_segment(word: &str, id: &str) -> Vec<(usize, String)> {
    let is_short = word.len() < 6;
    let near = id.split('.').skip(1).filter_map(|own| Some((segment_distance(word, own)?, own)));
    let near = near.filter(|(cost, _)| *cost == 0 || !is_short);
    near.flat_map(|(cost, own)| [(cost, format!("*.{own}")), (cost + 1, format!("*.{own}.*"))]).collect()
}

/// Distance of two segments of an id: `numbers` is near `large-numbers`.
fn segment_distance(given: &str, own: &str) -> Option<usize> {
    distance(given, own).or_else(|| {
        let own: Vec<&str> = own.split('-').collect();
        let mut cost = own.len();
        for word in given.split('-') {
            cost += own.iter().filter_map(|own| distance(word, own)).min()?;
        }
        // A segment of the same number of words has other words.
        (given.split('-').count() < own.len()).then_some(cost)
    })
}

/// Number of typing errors between two words; `None` if they are different words.
fn distance(a: &str, b: &str) -> Option<usize> {
    let most = match a.chars().count() {
        0..=2 => 0,
        3..=5 => 1,
        6..=9 => 2,
        _ => 3,
    };
    // Words of very different lengths need no comparison.
    if a.len().abs_diff(b.len()) > most {
        return None;
    }
    Some(osa_distance(a, b)).filter(|cost| *cost <= most)
}

fn matches_any(pattern: &str, ids: &[&str]) -> bool {
    let is_match = |glob: GlobMatcher| ids.iter().any(|id| glob.is_match(id));
    case_glob(pattern).is_ok_and(is_match)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    const IDS: [&str; 10] = [
        "relay.body.pretty",
        "relay.body.key-order",
        "relay.body.large-numbers",
        "relay.type.none",
        "refusal.401.bad-signature",
        "refusal.400.bad-signature",
        "refusal.unknown.empty",
        "accept.exact-body",
        "health.exists",
        "method.get",
    ];

    #[rstest]
    #[case::transposition("realy.body.*", &["relay.body.*"])]
    #[case::two_segments("realy.bdoy.*", &["relay.body.*"])]
    #[case::case("Relay.Body.*", &["relay.body.*"])]
    #[case::start_of_a_segment("refusal.unkonwn*", &["refusal.unknown*"])]
    #[case::missing_end("refusal.unknwon", &["refusal.unknown.*"])]
    #[case::id("accept.exact-bdoy", &["accept.exact-body"])]
    #[case::separator("accept-exact-body", &["accept.exact-body"])]
    #[case::number("refusal.402.bad-signature", &["refusal.400.bad-signature", "refusal.401.bad-signature"])]
    #[case::shared_start("health.answer", &["health.*"])]
    #[case::word("bad-signatrue", &["*.bad-signature"])]
    #[case::part_of_a_segment("relay.body.numbers", &["relay.body.large-numbers"])]
    #[case::part_with_typing_error("relay.body.numbres", &["relay.body.large-numbers"])]
    #[case::part_as_word("numbers", &["*.large-numbers"])]
    #[case::part_and_number("refusal.401.signature", &["refusal.401.bad-signature", "refusal.400.bad-signature"])]
    #[case::wildcard_first("*.exact-bdoy", &["*.exact-body"])]
    #[case::nothing("nope.*", &[])]
    #[case::short("get", &["*.get"])]
    #[case::empty("", &[])]
    fn nearest_corrects_typing_errors(#[case] given: &str, #[case] expected: &[&str]) {
        assert_eq!(nearest(given, IDS), expected);
    }

    proptest! {
        #[test]
        fn each_suggestion_matches_an_id(given in "[a-z.*?{\\[-]{0,20}") {
            for text in nearest(&given, IDS) {
                prop_assert!(matches_any(&text, &IDS), "{}", text);
            }
        }
    }
}
