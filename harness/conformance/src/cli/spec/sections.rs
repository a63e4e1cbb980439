use edgeproof_fixtures::spec::{Row, Spec};

/// A section of the interface with its rows.
pub(super) struct Section<'a> {
    pub(super) number: &'a str,
    pub(super) title: &'a str,
    pub(super) rows: Vec<&'a Row>,
}

/// The sections that have rows: 2 before 7.2 before 7.10. Rows stay in the order of their tables.
pub(super) fn sections(spec: &Spec) -> Vec<Section<'_>> {
    let mut sections: Vec<Section<'_>> = Vec::new();
    for row in spec.rows() {
        if let Some(section) = sections.iter_mut().find(|section| section.number == row.section) {
            section.rows.push(row);
            continue;
        }
        let title = spec.section_title(&row.section).unwrap_or_default();
        sections.push(Section { number: &row.section, title, rows: vec![row] });
    }
    sections.sort_by_key(|section| order(section.number));
    sections
}

impl Section<'_> {
    /// Number and title.
    pub(super) fn heading(&self) -> String {
        format!("{} {}", self.number, self.title)
    }
}

/// Numbers by value, other text after them.
fn order(number: &str) -> Vec<(u64, &str)> {
    number.split('.').map(|part| (part.parse().unwrap_or(u64::MAX), part)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn section_numbers_sort_by_value() {
        let mut numbers = ["7.10", "general", "7.2", "10", "7", "2"];
        numbers.sort_by_key(|number| order(number));
        assert_eq!(numbers, ["2", "7", "7.2", "7.10", "10", "general"]);
    }
}
