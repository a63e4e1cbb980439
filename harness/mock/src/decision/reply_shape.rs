use std::path::{Path, PathBuf};
use std::{fs, io};

use edgeproof_fixtures::spec::Profile;
use miette::{Diagnostic, NamedSource, SourceSpan};
use serde_json::Value;

/// Template of the body with which the service refuses an edge. The interface does not show this body, so an edge may
/// expect another one than the profile's.
///
/// The template is JSON with the placeholders `{reason}` and `{status}`. A text of `{status}` alone becomes a number.
#[derive(Debug, Clone, PartialEq)]
pub struct ReplyShape(Value);

/// An invalid reply shape file.
#[derive(Debug, thiserror::Error, Diagnostic)]
pub enum ReplyShapeError {
    /// The file cannot be read.
    #[error("cannot read the reply shape {}", path.display())]
    Read {
        /// Path of the file.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// The file is not JSON.
    #[error("cannot read the reply shape: it is not JSON")]
    #[diagnostic(help("write the body of a refusal, such as {{\"code\": \"{{reason}}\"}}"))]
    NotJson {
        /// Text of the file.
        #[source_code]
        text: NamedSource<String>,
        /// Position of the syntax error.
        #[label("{why}")]
        at: SourceSpan,
        /// Message of the parser.
        why: String,
    },
    /// No text contains `{reason}`.
    #[error("cannot use the reply shape: {{reason}} is missing")]
    #[diagnostic(help("write \"{{reason}}\" where the code belongs, such as {{\"code\": \"{{reason}}\"}}"))]
    WithoutReason {
        /// Text of the file.
        #[source_code]
        text: NamedSource<String>,
        /// Span of the whole text.
        #[label("no text contains {{reason}}")]
        at: SourceSpan,
    },
    /// An unknown placeholder.
    #[error("cannot use the reply shape: unknown placeholder {word}")]
    #[diagnostic(help("use {{reason}} and {{status}}"))]
    UnknownPlaceholder {
        /// Text of the file.
        #[source_code]
        text: NamedSource<String>,
        /// Position of the placeholder; the start of the file if the placeholder contains escapes.
        #[label("unknown")]
        at: SourceSpan,
        /// The placeholder, as written.
        word: String,
    },
}

impl ReplyShape {
    /// Reply shape of the profile.
    pub fn from_profile(profile: &Profile) -> Self {
        Self(with_texts(&profile.relay_refused, &|text| {
            Value::String(text.replace("<reason>", REASON).replace("<status>", STATUS))
        }))
    }

    /// Reads a reply shape from a file.
    pub fn load(path: &Path) -> Result<Self, ReplyShapeError> {
        let text = fs::read_to_string(path)
            .map_err(|source| ReplyShapeError::Read { path: path.to_owned(), source })?;
        Self::parse(&path.display().to_string(), text)
    }

    /// Parses a reply shape. Errors show `name` as the file name.
    pub fn parse(name: &str, text: String) -> Result<Self, ReplyShapeError> {
        let source = |text| NamedSource::new(name, text).with_language("JSON");
        let template: Value = match serde_json::from_str(&text) {
            Ok(template) => template,
            Err(error) => {
                let why = error.to_string();
                let why = why.rsplit_once(" at line").map_or(why.as_str(), |(why, _)| why).to_owned();
                let at = offset(&text, error.line(), error.column()).into();
                return Err(ReplyShapeError::NotJson { text: source(text), at, why });
            }
        };
        let mut words = Vec::new();
        placeholders(&template, &mut words);
        if let Some(word) = words.iter().find(|word| ![REASON, STATUS].contains(&word.as_str())) {
            let at = text.find(word.as_str()).map_or((0, 0), |start| (start, word.len())).into();
            return Err(ReplyShapeError::UnknownPlaceholder { text: source(text), at, word: word.clone() });
        }
        if !words.iter().any(|word| word == REASON) {
            let at = (0, text.trim_end().len()).into();
            return Err(ReplyShapeError::WithoutReason { text: source(text), at });
        }
        Ok(Self(template))
    }

    /// Body of a refusal.
    pub fn render(&self, status: u16, reason: &str) -> Value {
        with_texts(&self.0, &|text| {
            if text == STATUS {
                return status.into();
            }
            // The reason comes last, so that a placeholder in it stays as it is.
            Value::String(text.replace(STATUS, &status.to_string()).replace(REASON, reason))
        })
    }
}

const REASON: &str = "{reason}";
const STATUS: &str = "{status}";

fn with_texts(value: &Value, change: &impl Fn(&str) -> Value) -> Value {
    match value {
        Value::String(text) => change(text),
        Value::Array(items) => items.iter().map(|item| with_texts(item, change)).collect(),
        Value::Object(members) => {
            members.iter().map(|(name, member)| (name.clone(), with_texts(member, change))).collect()
        }
        other => other.clone(),
    }
}

/// Collects the words in braces from all text values.
fn placeholders(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => {
            for (start, _) in text.match_indices('{') {
                let Some(length) = text[start..].find('}') else { continue };
                let word = &text[start..=start + length];
                if length > 1 && word[1..length].bytes().all(|byte| byte.is_ascii_alphabetic()) {
                    found.push(word.to_owned());
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| placeholders(item, found)),
        Value::Object(members) => members.values().for_each(|member| placeholders(member, found)),
        _ => {}
    }
}

/// Byte offset of a line and a column. Both count from 1, the column in bytes.
fn offset(text: &str, line: usize, column: usize) -> usize {
    let before: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    (before + column.saturating_sub(1)).min(text.len())
}

#[cfg(test)]
mod tests {
    use edgeproof_fixtures::spec::{Spec, Version};
    use insta::assert_snapshot;
    use miette::{GraphicalReportHandler, GraphicalTheme};
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::ours(r#"{"error":"{reason}","reason":"{reason}"}"#, r#"{"error":"revoked","reason":"revoked"}"#)]
    #[case::status(r#"{"code":"{reason}","http":"{status}"}"#, r#"{"code":"revoked","http":401}"#)]
    #[case::within(
        r#"{"error":{"text":"{status} {reason}!","n":1}}"#,
        r#"{"error":{"text":"401 revoked!","n":1}}"#
    )]
    #[case::list(r#"["{reason}", null, "{}"]"#, r#"["revoked",null,"{}"]"#)]
    #[case::text(r#""{reason}""#, r#""revoked""#)]
    fn placeholders_are_replaced_everywhere(#[case] template: &str, #[case] expected: &str) {
        let shape = ReplyShape::parse("shape.json", template.to_owned()).unwrap();
        assert_eq!(shape.render(401, "revoked").to_string(), expected);
    }

    #[test]
    fn shape_of_the_profile_repeats_the_code() {
        let spec = Spec::builtin(Version::Current);
        let shape = ReplyShape::from_profile(spec.profile());
        assert_eq!(shape.render(401, "x_y").to_string(), r#"{"error":"x_y","reason":"x_y"}"#);
    }

    #[test]
    fn placeholder_in_a_reason_stays() {
        let shape = ReplyShape::parse("shape.json", r#"{"a":"{reason}-{status}"}"#.to_owned()).unwrap();
        assert_eq!(shape.render(400, "{status}").to_string(), r#"{"a":"{status}-400"}"#);
    }

    fn rendered(text: &str) -> String {
        let error = ReplyShape::parse("shape.json", text.to_owned()).unwrap_err();
        let mut out = String::new();
        GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor())
            .render_report(&mut out, &error)
            .unwrap();
        out
    }

    #[test]
    fn invalid_shape_shows_its_position() {
        assert_snapshot!(rendered("{\n  \"error\": {reason}\n}"), @r#"
         × cannot read the reply shape: it is not JSON
          ╭─[shape.json:2:13]
        1 │ {
        2 │   "error": {reason}
          ·             ▲
          ·             ╰── key must be a string
        3 │ }
          ╰────
         help: write the body of a refusal, such as {"code": "{reason}"}
        "#);
        assert_snapshot!(rendered("{\"error\": \"refused\"}\n"), @r#"
         × cannot use the reply shape: {reason} is missing
          ╭─[shape.json:1:1]
        1 │ {"error": "refused"}
          · ──────────┬─────────
          ·           ╰── no text contains {reason}
          ╰────
         help: write "{reason}" where the code belongs, such as {"code": "{reason}"}
        "#);
        assert_snapshot!(rendered("{\"error\": \"{reason}\",\n \"message\": \"{text}\"}"), @r#"
         × cannot use the reply shape: unknown placeholder {text}
          ╭─[shape.json:2:14]
        1 │ {"error": "{reason}",
        2 │  "message": "{text}"}
          ·              ───┬──
          ·                 ╰── unknown
          ╰────
         help: use {reason} and {status}
        "#);
        let error = ReplyShape::load(Path::new("/nowhere/shape.json")).unwrap_err();
        assert_snapshot!(error.to_string(), @"cannot read the reply shape /nowhere/shape.json");
    }
}
