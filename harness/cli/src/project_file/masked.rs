use std::ops::Range;

use edgeproof_fixtures::credentials::{LICENSE_PREFIX, READ_PREFIX};
use strsim::osa_distance;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Letters by which the name of a key may differ from that of a credential, so that it still is taken for it.
const TYPOS: usize = 2;

/// Masks credentials in the text of a file for errors: each letter of a value becomes `*`, so that places stay. `secrets`:
/// names of the keys that take a credential.
pub(super) fn masked(text: &str, secrets: &[&str]) -> String {
    let is_secret = |name: &str| {
        let name = name.trim().replace('_', "-").to_lowercase();
        secrets.iter().any(|secret| osa_distance(&name, secret) <= TYPOS)
    };
    let mut spans = match DeTable::parse(text) {
        Ok(document) => {
            let mut spans = Vec::new();
            values(document.get_ref(), &is_secret, &mut spans);
            spans
        }
        // Where such a value ends is unknown.
        Err(_) => first_value(text, &is_secret).map(|start| start..text.len()).into_iter().collect(),
    };
    for prefix in [LICENSE_PREFIX, READ_PREFIX] {
        spans.extend(text.match_indices(prefix).map(|(start, _)| start..line_end(text, start)));
    }
    let mask = |(at, letter): (usize, char)| match letter {
        ' ' | '"' | '\'' | '\r' | '\n' => letter.to_string(),
        // As many bytes, so that spans stay.
        other if spans.iter().any(|span| span.contains(&at)) => "*".repeat(other.len_utf8()),
        other => other.to_string(),
    };
    text.char_indices().map(mask).collect()
}

/// Whether a text is a reference to a credential: `@FILE`, or `$NAME` for an environment variable.
pub fn is_reference(text: &str) -> bool {
    let is_name = |name: &str| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    match (text.strip_prefix('@'), text.strip_prefix('$')) {
        (Some(path), _) => !path.is_empty(),
        (_, Some(name)) => is_name(name),
        _ => false,
    }
}

/// Spans of the values that may be credentials.
fn values(table: &DeTable<'_>, is_secret: &dyn Fn(&str) -> bool, spans: &mut Vec<Range<usize>>) {
    for (name, value) in table {
        match value.get_ref() {
            DeValue::Table(inner) if !is_secret(name.get_ref()) => values(inner, is_secret, spans),
            _ if is_secret(name.get_ref()) && !refers(value) => spans.push(value.span()),
            _ => {}
        }
    }
}

fn refers(value: &Spanned<DeValue<'_>>) -> bool {
    let Some(text) = value.get_ref().as_str() else { return false };
    // A header has a name before its value.
    is_reference(text) || text.split_once(": ").is_some_and(|(_, value)| is_reference(value))
}

/// Where the value of the first key starts that may be a credential.
fn first_value(text: &str, is_secret: &dyn Fn(&str) -> bool) -> Option<usize> {
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        if let Some((name, _)) = line.split_once('=').filter(|(name, _)| is_secret(name)) {
            return Some(start + name.len() + 1);
        }
        start += line.len();
    }
    None
}

fn line_end(text: &str, start: usize) -> usize {
    text[start..].find('\n').map_or(text.len(), |end| start + end)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::plain("read-token = \"s3cr3t\"", "read-token = \"******\"")]
    #[case::misspelt("read_tokn = \"s3cr3t\"", "read_tokn = \"******\"")]
    #[case::several_lines(
        "read-token = \"\"\"\ns3cr3t\"\"\"\njobs = 1",
        "read-token = \"\"\"\n******\"\"\"\njobs = 1"
    )]
    #[case::no_name("read-token = \"$ecr3t-val!\"", "read-token = \"***********\"")]
    #[case::comment("state-header = \"K: s3cr3t\" # or: @FILE", "state-header = \"** ******\" # or: @FILE")]
    #[case::in_a_target("[target.a]\nlicense = \"s3cr3t\"", "[target.a]\nlicense = \"******\"")]
    #[case::no_toml("read-token = s3cr3t\"\nb", "read-token = ******\"\n*")]
    #[case::prefix("launch = \"x service_read_abc\"", "launch = \"x ****************\"")]
    #[case::file("read-token = \"@a.txt\"", "read-token = \"@a.txt\"")]
    #[case::variable("state-header = \"K: $NAME\"", "state-header = \"K: $NAME\"")]
    fn credentials_are_masked(#[case] text: &str, #[case] expected: &str) {
        assert_eq!(masked(text, &["license", "read-token", "state-header"]), expected);
    }
}
