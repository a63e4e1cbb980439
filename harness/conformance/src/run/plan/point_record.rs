use std::collections::BTreeMap;
use std::fmt::Write as _;

use edgeproof_fixtures::spec::{PointValue, Profile};
use edgeproof_reports::Observation;
use edgeproof_reports::escape::one_line;
use serde::{Deserialize, Serialize};
use toml::Spanned;

const SCHEMA: &str = "edgeproof.observations/1";
const HEAD: &str = "\
# Behaviour at the open points of the interface, recorded by edgeproof. With --pin a run fails if it changes.
# To pin only some points, delete the other lines.

";

/// Behaviour at open points, as a file has it: TOML with a point in each line, or JSON.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct PointRecord {
    /// The values of each point, one or several.
    pub(super) points: BTreeMap<String, Vec<String>>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct JsonRecord {
    schema: String,
    observations: Vec<JsonPoint>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct JsonPoint {
    point: String,
    saw: String,
}

/// A point with its value, or a group of points: `relay.path = "/verify"` without quotes around the id.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a text, a whole number, or a list of texts")]
enum TomlEntry {
    Value(PointValue),
    Group(BTreeMap<String, TomlEntry>),
}

impl PointRecord {
    /// What a run observed.
    pub(super) fn of(observations: &[Observation]) -> Self {
        let mut record = Self::default();
        for Observation { point, observed, .. } in observations {
            record.points.entry(point.clone()).or_default().push(observed.clone());
        }
        record
    }

    /// Parses either form. Fails with what is wrong.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        if text.trim_start().starts_with('{') { Self::parse_json(text) } else { Self::parse_toml(text) }
    }

    /// A line for each point, with what the point is. `profile`: knows the points.
    pub(super) fn to_toml(&self, profile: &Profile) -> String {
        let mut text = HEAD.to_owned();
        for (point, values) in &self.points {
            let value = match &values[..] {
                [value] => toml::Value::from(value.as_str()),
                values => toml::Value::from(values.to_vec()),
            };
            let note = profile.point(point).map(|known| format!("  # {}", one_line(&known.note)));
            let key = toml::Value::from(point.as_str());
            _ = writeln!(text, "{key} = {value}{}", note.unwrap_or_default());
        }
        text
    }

    /// The form for programs.
    pub(super) fn to_json(&self) -> serde_json::Result<String> {
        let points =
            self.points.iter().flat_map(|(point, values)| values.iter().map(move |saw| (point, saw)));
        let observations = points.map(|(point, saw)| JsonPoint { point: point.clone(), saw: saw.clone() });
        let record = JsonRecord { schema: SCHEMA.to_owned(), observations: observations.collect() };
        Ok(serde_json::to_string_pretty(&record)? + "\n")
    }

    fn parse_json(text: &str) -> Result<Self, String> {
        let json: JsonRecord = serde_json::from_str(text).map_err(|why| why.to_string())?;
        if json.schema != SCHEMA {
            return Err(format!("its schema is {:?}, not {SCHEMA:?}", json.schema));
        }
        let mut record = Self::default();
        for JsonPoint { point, saw } in json.observations {
            record.points.entry(point).or_default().push(saw);
        }
        Ok(record)
    }

    fn parse_toml(text: &str) -> Result<Self, String> {
        let entries: BTreeMap<String, Spanned<TomlEntry>> = toml::from_str(text).map_err(|why| {
            let message = one_line(why.message()).into_owned();
            why.span().map_or(message.clone(), |span| format!("line {}: {message}", line(text, span.start)))
        })?;
        let mut record = Self::default();
        for (id, entry) in entries {
            let line = line(text, entry.span().start);
            record.insert(id, entry.into_inner()).map_err(|why| format!("line {line}: {why}"))?;
        }
        Ok(record)
    }

    fn insert(&mut self, id: String, entry: TomlEntry) -> Result<(), String> {
        match entry {
            TomlEntry::Value(PointValue::List(values)) if values.is_empty() => {
                return Err(format!("{id:?} has no value"));
            }
            TomlEntry::Value(PointValue::List(values)) => _ = self.points.insert(id, values),
            TomlEntry::Value(value) => _ = self.points.insert(id, vec![value.to_string()]),
            TomlEntry::Group(names) => {
                for (name, entry) in names {
                    self.insert(format!("{id}.{name}"), entry)?;
                }
            }
        }
        Ok(())
    }
}

/// Number of the line at this byte.
fn line(text: &str, byte: usize) -> usize {
    text.bytes().take(byte).filter(|byte| *byte == b'\n').count() + 1
}

#[cfg(test)]
mod tests {
    use edgeproof_fixtures::spec::{Spec, Version};
    use rstest::rstest;

    use super::*;

    fn record(points: &[(&str, &[&str])]) -> PointRecord {
        let owned = |values: &[&str]| values.iter().map(|value| (*value).to_owned()).collect();
        PointRecord { points: points.iter().map(|(id, values)| ((*id).to_owned(), owned(values))).collect() }
    }

    fn sample() -> PointRecord {
        record(&[
            ("accept.service-204", &[r#"200 {"ok":true}"#]),
            ("cors.post-from-other-origin", &["200", "403"]),
            ("relay.license-scheme", &[""]),
            ("verdict.wait.huge", &["it's \"a\" \\ test # no comment"]),
        ])
    }

    #[test]
    fn toml_has_a_line_for_each_point_and_is_read_again() {
        let text = sample().to_toml(Spec::builtin(Version::Current).profile());
        insta::assert_snapshot!(text);
        assert_eq!(PointRecord::parse(&text), Ok(sample()));
        let kept: Vec<&str> = text.lines().filter(|line| !line.contains("cors.")).collect();
        assert_eq!(PointRecord::parse(&kept.join("\n")).unwrap().points.len(), 3);
    }

    #[test]
    fn json_is_read_again() {
        assert_eq!(PointRecord::parse(&sample().to_json().unwrap()), Ok(sample()));
    }

    #[test]
    fn points_can_be_written_by_hand() {
        let text = "relay.path = \"/verify\"\n[preflight]\nstatus = 204\n";
        let expected = record(&[("preflight.status", &["204"]), ("relay.path", &["/verify"])]);
        assert_eq!(PointRecord::parse(text), Ok(expected));
    }

    #[rstest]
    #[case::no_toml("# points\nrelay.path = /verify", "line 2: ")]
    #[case::no_value("relay.path = true", "line 1: expected a text")]
    #[case::twice("a.b = \"1\"\na.b = \"2\"", "line 2: duplicate key")]
    #[case::no_value_in_a_list("a.b = \"1\"\nc.d = []", "line 2: \"c.d\" has no value")]
    #[case::no_json("{", "EOF while parsing")]
    #[case::other_schema(r#"{"schema": "x", "observations": []}"#, "its schema is \"x\"")]
    fn mistakes_name_their_place(#[case] text: &str, #[case] message: &str) {
        let why = PointRecord::parse(text).unwrap_err();
        assert!(why.starts_with(message), "{why}");
    }
}
