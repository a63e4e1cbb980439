use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::case::CaseReport;
use super::summary::Summary;

/// Titles of the sections: `7.3` → `reasons from the service`. A section without a title shows its number alone.
pub type Titles = BTreeMap<String, String>;

/// A section and its cases, in the order of the plan.
#[derive(Debug)]
pub(crate) struct Section<'a> {
    pub(crate) number: &'a str,
    pub(crate) cases: Vec<&'a CaseReport>,
}

impl Section<'_> {
    /// Counts of its cases.
    pub(crate) fn summary(&self) -> Summary {
        Summary::of(self.cases.iter().map(|case| case.outcome))
    }
}

/// Cases by section, 2 before 7.2 before 7.10.
pub(crate) fn by_section(cases: &[CaseReport]) -> Vec<Section<'_>> {
    let mut sections: Vec<_> = grouped(cases, |case| &case.section)
        .into_iter()
        .map(|(number, cases)| Section { number, cases })
        .collect();
    sections.sort_by(|a, b| natural(a.number, b.number));
    sections
}

/// Cases by the reason for their outcome, in the order in which the reasons first occur.
pub(crate) fn by_reason<'a>(
    cases: impl IntoIterator<Item = &'a CaseReport>,
) -> Vec<(&'a str, Vec<&'a CaseReport>)> {
    grouped(cases, |case| &case.because)
}

/// `7.3 reasons from the service`, or `7.3` without a title.
pub(crate) fn titled(number: &str, titles: &Titles) -> String {
    titles.get(number).map_or_else(|| number.to_owned(), |title| format!("{number} {title}"))
}

fn grouped<'a>(
    cases: impl IntoIterator<Item = &'a CaseReport>,
    key: impl Fn(&CaseReport) -> &String,
) -> Vec<(&'a str, Vec<&'a CaseReport>)> {
    let mut groups: Vec<(&str, Vec<&CaseReport>)> = Vec::new();
    for case in cases {
        let name = key(case).as_str();
        match groups.iter_mut().find(|(known, _)| *known == name) {
            Some((_, members)) => members.push(case),
            None => groups.push((name, vec![case])),
        }
    }
    groups
}

/// Compares part by part: numbers by value, other text after all numbers.
pub(crate) fn natural(a: &str, b: &str) -> Ordering {
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
    fn section_numbers_sort_by_value() {
        let mut numbers = ["7.10", "general", "7.2", "10", "7", "2"];
        numbers.sort_by(|a, b| natural(a, b));
        assert_eq!(numbers, ["2", "7", "7.2", "7.10", "10", "general"]);
    }
}
