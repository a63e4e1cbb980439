use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::difference::{Wire, with_texts};

/// An advice of the tables about a mismatch: its id, and the values of its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AdviceNote {
    /// Id in the table of advice.
    pub id: String,
    /// Values by name.
    #[serde(flatten)]
    pub values: BTreeMap<String, AdviceValue>,
}

/// A value of an advice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum AdviceValue {
    /// A number.
    Number(u64),
    /// Bytes from the wire or a text of the tables.
    Wire(Wire),
    /// An id, a name or a path.
    Id(String),
    /// Ids.
    Ids(Vec<String>),
}

/// Ids of a list that a text shows. It counts the others.
const SHOWN: usize = 4;

impl AdviceNote {
    /// The note with each of its texts replaced.
    pub fn map_texts(&self, replace: &dyn Fn(&str) -> String) -> Option<Self> {
        with_texts(self, replace)
    }
}

impl std::fmt::Display for AdviceValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Wire(wire) if wire.bytes == 0 => Ok(()),
            Self::Wire(wire) => f.write_str(&wire.excerpt()),
            Self::Id(id) => f.write_str(id),
            Self::Ids(ids) => {
                f.write_str(&ids[..ids.len().min(SHOWN)].join(", "))?;
                match ids.len().saturating_sub(SHOWN) {
                    0 => Ok(()),
                    more => write!(f, " and {more} more"),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_keep_their_types_in_json() {
        let text = r#"{"id":"x","at":3,"ids":["a","b","c","d","e"],"name":"Express","sent":{"text":"{}","bytes":2}}"#;
        let note: AdviceNote = serde_json::from_str(text).unwrap();
        let shown: Vec<_> = note.values.values().map(ToString::to_string).collect();
        assert_eq!(shown, ["3", "a, b, c, d and 1 more", "Express", "{}"]);
        assert_eq!(serde_json::to_string(&note).unwrap(), text);
    }

    #[test]
    fn every_text_is_replaced() {
        let text = r#"{"id":"x","ids":["secret"],"name":"a secret","sent":{"text":"secret","bytes":6}}"#;
        let note: AdviceNote = serde_json::from_str(text).unwrap();
        let replaced = note.map_texts(&|text| text.replace("secret", "…")).unwrap();
        assert!(!serde_json::to_string(&replaced).unwrap().contains("secret"), "{replaced:?}");
    }
}
