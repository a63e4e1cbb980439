//! Cases by section of the interface.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use crate::{CaseReport, Summary};

/// Names of the sections, such as `7.3` → `reasons from the service`. What is not in it is told by its number.
pub type Titles = BTreeMap<String, String>;

/// One section and its cases, in the order of the plan.
#[derive(Debug)]
pub struct Section<'a> {
    /// Its number.
    pub number: &'a str,
    /// Its cases.
    pub cases: Vec<&'a CaseReport>,
}

impl Section<'_> {
    /// How many of its cases ended how.
    pub fn summary(&self) -> Summary {
        Summary::of(self.cases.iter().map(|case| case.outcome))
    }
}

/// Groups cases by section, 2 before 7.2 before 7.10.
pub fn by_section(cases: &[CaseReport]) -> Vec<Section<'_>> {
    let mut sections: Vec<Section<'_>> = Vec::new();
    for case in cases {
        match sections.iter_mut().find(|section| section.number == case.section) {
            Some(section) => section.cases.push(case),
            None => sections.push(Section { number: &case.section, cases: vec![case] }),
        }
    }
    sections.sort_by(|a, b| natural(a.number, b.number));
    sections
}

/// Cases that share a text, such as the reason why they could not run, in the order in which the texts first occur.
pub(crate) fn by_reason<'a>(
    cases: impl IntoIterator<Item = &'a CaseReport>,
) -> Vec<(&'a str, Vec<&'a CaseReport>)> {
    let mut reasons: Vec<(&str, Vec<&CaseReport>)> = Vec::new();
    for case in cases {
        match reasons.iter_mut().find(|(reason, _)| *reason == case.because) {
            Some((_, cases)) => cases.push(case),
            None => reasons.push((&case.because, vec![case])),
        }
    }
    reasons
}

/// `7.3 reasons from the service`, or `7.3` where no name is known.
pub(crate) fn titled(number: &str, titles: &Titles) -> String {
    titles.get(number).map_or_else(|| number.to_owned(), |title| format!("{number} {title}"))
}

/// Numbers as numbers, part by part; anything else after them, by its letters.
fn natural(a: &str, b: &str) -> Ordering {
    let parts = |text: &str| -> Vec<(bool, u64, String)> {
        text.split('.')
            .map(|part| (part.parse::<u64>().is_err(), part.parse().unwrap_or(0), part.to_owned()))
            .collect()
    };
    parts(a).cmp(&parts(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_numbers_as_numbers() {
        let mut numbers = ["7.10", "general", "7.2", "10", "7", "2"];
        numbers.sort_by(|a, b| natural(a, b));
        assert_eq!(numbers, ["2", "7", "7.2", "7.10", "10", "general"]);
    }
}
