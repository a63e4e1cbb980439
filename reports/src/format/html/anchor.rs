//! Anchors of cases, rows and causes. They are made of ids, so that a link to an earlier report fits a later one.

/// Anchor of a case.
pub(super) fn of_case(id: &str) -> String {
    anchor("case", id)
}

/// Anchor of a row.
pub(super) fn of_row(id: &str) -> String {
    anchor("row", id)
}

/// Anchor of a cause.
pub(super) fn of_cause(id: &str) -> String {
    anchor("cause", id)
}

/// Only characters that stand in a URL and in an attribute as they are.
fn anchor(kind: &str, id: &str) -> String {
    let mut anchor = format!("{kind}-");
    for c in id.chars() {
        match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '.' | '-' | '_' | '/' | ':' => anchor.push(c),
            other => put!(anchor, "_{:x}", u32::from(other)),
        }
    }
    anchor
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anchor_is_the_id_without_characters_that_need_escapes() {
        assert_eq!(of_case("relay.body.large-numbers"), "case-relay.body.large-numbers");
        assert_eq!(of_cause("statement.vary/header"), "cause-statement.vary/header");
        assert_eq!(of_row("a \"b\"#%é"), "row-a_20_22b_22_23_25_e9");
    }
}
