use serde::{Deserialize, Serialize};
use strum::{IntoStaticStr, VariantArray};

/// What happened to a case between two runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[derive(IntoStaticStr, VariantArray)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[strum(serialize_all = "kebab-case")]
pub enum CaseChange {
    /// It did not fail, and now it does.
    NewlyBroken,
    /// It had no warning, and now it has one.
    NewlyWarned,
    /// It did not fail. Now it does, and the baseline lists it.
    NewlyKnown,
    /// The edgeproof of the old run did not have it.
    NewCheck,
    /// It has its first result: in the old run it was not selected, did not apply or could not run.
    FirstResult,
    /// It failed or warned, and now it does less.
    NewlyFixed,
    /// It failed before and fails now.
    StillBroken,
    /// It had a result. Now it is not selected, does not apply or cannot run.
    LostResult,
    /// edgeproof no longer has it.
    RemovedCheck,
}

impl CaseChange {
    /// Every change, in the order of the text.
    pub const ALL: &'static [Self] = Self::VARIANTS;

    /// Name in JSON, such as `newly-broken`.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Whether the old run says nothing about such a case.
    pub(super) fn is_new_to_the_reports(self) -> bool {
        matches!(self, Self::NewCheck | Self::FirstResult)
    }

    /// What a list of such cases is. `old`: name of the old report; `version`: of its edgeproof.
    pub(super) fn heading(self, old: &str, version: &str) -> String {
        match self {
            Self::NewlyBroken => format!("newly broken: did not fail in {old}"),
            Self::NewlyWarned => format!("newly warned: did not warn in {old}"),
            Self::NewlyKnown => format!("newly known: did not fail in {old}, and the baseline accepts it"),
            Self::NewCheck => {
                format!("new check: edgeproof {version} did not have it, so {old} says nothing about it")
            }
            Self::FirstResult => format!("first result: not run in {old}"),
            Self::NewlyFixed => "newly fixed".to_owned(),
            Self::StillBroken => "still broken".to_owned(),
            Self::LostResult => format!("no result now: ran in {old}"),
            Self::RemovedCheck => "removed check: edgeproof no longer has it".to_owned(),
        }
    }

    /// The number of such cases: `2 newly broken`.
    pub(super) fn counted(self, count: usize) -> String {
        let plural = if count == 1 { "" } else { "s" };
        match self {
            Self::NewlyBroken => format!("{count} newly broken"),
            Self::NewlyWarned => format!("{count} newly warned"),
            Self::NewlyKnown => format!("{count} newly known"),
            Self::NewCheck => format!("{count} new check{plural}"),
            Self::FirstResult => format!("{count} first result{plural}"),
            Self::NewlyFixed => format!("{count} newly fixed"),
            Self::StillBroken => format!("{count} still broken"),
            Self::LostResult => format!("{count} without a result now"),
            Self::RemovedCheck => format!("{count} removed check{plural}"),
        }
    }
}
