use serde::{Deserialize, Serialize};

/// What a failed case did when it was played again alone: on a new target that edgeproof starts, or on the same one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Confirmation {
    /// It failed each time. Number of plays.
    Always(u64),
    /// Alone it passes. It fails after these cases, in this order, on the same target. None of them can be left out.
    OnlyAfter(Vec<String>),
    /// It failed in some plays.
    Sometimes {
        /// Number of plays that failed.
        failed: u64,
        /// Number of plays.
        plays: u64,
    },
    /// It did not fail again. Number of plays.
    Once(u64),
}

impl std::fmt::Display for Confirmation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Always(plays) => write!(f, "failed in each of {} alone", more(*plays)),
            Self::OnlyAfter(cases) => write!(f, "only after {} on the same target", cases.join(", ")),
            Self::Sometimes { failed, plays } => {
                write!(f, "sometimes: failed in {failed} of {} alone", more(*plays))
            }
            Self::Once(plays) => write!(f, "seen once: passed in {}", more(*plays)),
        }
    }
}

fn more(plays: u64) -> String {
    format!("{plays} more {}", if plays == 1 { "play" } else { "plays" })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(Confirmation::Always(2), "failed in each of 2 more plays alone")]
    #[case(Confirmation::OnlyAfter(vec!["a".into(), "b".into()]), "only after a, b on the same target")]
    #[case(Confirmation::Sometimes { failed: 1, plays: 3 }, "sometimes: failed in 1 of 3 more plays alone")]
    #[case(Confirmation::Once(1), "seen once: passed in 1 more play")]
    fn confirmation_reads_as_a_sentence(#[case] confirmation: Confirmation, #[case] text: &str) {
        assert_eq!(confirmation.to_string(), text);
    }
}
