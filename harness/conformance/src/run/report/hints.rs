use edgeproof_fixtures::spec::{KnownAdvice, Spec, fill_values};
use edgeproof_reports::{AdviceNote, AdviceValue, CaseReport};

/// Writes the texts of the advice into a report.
pub(in crate::run) fn write_hints(report: &mut CaseReport, spec: &Spec) {
    for mismatch in &mut report.mismatches {
        mismatch.hint = hint(&mismatch.advice, spec);
    }
}

/// The text of several advices, in their order. None: there is none.
pub(in crate::run) fn hint(advice: &[AdviceNote], spec: &Spec) -> Option<String> {
    let texts: Vec<String> = advice
        .iter()
        .filter_map(|note| Some(text(spec.advice().iter().find(|known| known.id == note.id)?, note)))
        .collect();
    (!texts.is_empty()).then(|| texts.join("; "))
}

fn text(known: &KnownAdvice, note: &AdviceNote) -> String {
    let framework = match note.values.get("framework") {
        Some(AdviceValue::Id(name)) => Some(name),
        _ => None,
    };
    let own = known.frameworks.iter().find(|text| framework.is_some_and(|name| text.names.contains(name)));
    let seen = framework.and_then(|_| own.map_or(known.seen.as_ref(), |own| Some(&own.text)));
    let word = |id: &String| known.names.get(id).unwrap_or(id).clone();
    let value = |value: &AdviceValue| match value {
        AdviceValue::Ids(ids) => AdviceValue::Ids(ids.iter().map(word).collect()).to_string(),
        value => value.to_string(),
    };
    let fill = |text: &String| fill_values(text, |name| note.values.get(name).map(value));
    fill(&known.text) + &seen.map(fill).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use edgeproof_fixtures::spec::Version;
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;

    #[rstest]
    #[case::values(json!([{"id": "not-relayed", "status": 404}]), Some("the edge answered 404 without relaying"))]
    #[case::no_framework(json!([{"id": "grant-missing-on-error", "status": 404}]), Some("cannot read its reason"))]
    #[case::framework(
        json!([{"id": "grant-missing-on-error", "status": 404, "framework": "Express"}]),
        Some("cannot read its reason; Express wrote this answer without it")
    )]
    #[case::framework_with_a_text_of_its_own(
        json!([{"id": "grant-missing-on-error", "status": 404, "framework": "nginx"}]),
        Some("cannot read its reason: add_header … always")
    )]
    #[case::several(
        json!([{"id": "grant-missing"}, {"id": "refusal-logged-twice"}]),
        Some("hides the status; log each refusal once, in one line: escape the line ends of what you log")
    )]
    #[case::words(
        json!([{"id": "body-rewritten", "changes": ["white-space", "numbers"]}]),
        Some("changed: white space, form or value of numbers")
    )]
    #[case::none(json!([]), None)]
    fn advice_is_a_text(#[case] advice: Value, #[case] end: Option<&str>) {
        let advice: Vec<AdviceNote> = serde_json::from_value(advice).unwrap();
        let hint = hint(&advice, &Spec::builtin(Version::Current));
        assert_eq!(hint.is_some(), end.is_some());
        assert!(hint.as_deref().unwrap_or_default().ends_with(end.unwrap_or_default()), "{hint:?}");
    }
}
