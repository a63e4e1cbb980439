use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use edgeproof_fixtures::spec::Stimulus;

/// Parses the label of a form. The help lists each label with its meaning.
pub(super) fn form_parser<T: Copy + Send + Sync + 'static>(
    forms: impl Iterator<Item = (T, &'static str, Option<Stimulus>)>,
) -> impl TypedValueParser<Value = T> {
    let forms: Vec<_> = forms.collect();
    let values = forms.iter().map(|(_, label, stimulus)| {
        let meaning = stimulus.map_or("Accepted", |stimulus| stimulus.meaning().trim_end_matches('.'));
        PossibleValue::new(*label).help(meaning)
    });
    let parser = PossibleValuesParser::new(values.collect::<Vec<_>>());
    parser.map(move |given: String| {
        let found = forms.iter().find(|(_, label, _)| *label == given);
        found.expect("the parser accepts only these labels").0
    })
}
