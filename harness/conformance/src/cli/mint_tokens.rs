//! `edgeproof mint license` and `read-token`.

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use edgeproof_fixtures::credentials::{LicenseForm, ReadTokenForm};
use edgeproof_fixtures::spec::Stimulus;

use super::mint_output::{Item, Output};
use super::mint_source::Source;
use edgeproof_cli::Failure;

/// Without --out the token goes to standard output.
#[derive(Debug, Args)]
pub(super) struct License {
    #[command(flatten)]
    source: Source,
    /// Which one (repeatable with --out)
    #[arg(long, value_name = "FORM", default_value = "valid", value_parser = license_forms())]
    form: Vec<LicenseForm>,
    /// Every form
    #[arg(long, requires = "out", conflicts_with = "form")]
    all: bool,
    #[command(flatten)]
    output: Output,
}

/// Without --out the token goes to standard output.
#[derive(Debug, Args)]
pub(super) struct ReadToken {
    #[command(flatten)]
    source: Source,
    /// Which one (repeatable with --out)
    #[arg(long, value_name = "FORM", default_value = "valid", value_parser = read_token_forms())]
    form: Vec<ReadTokenForm>,
    /// Every form
    #[arg(long, requires = "out", conflicts_with = "form")]
    all: bool,
    /// The whole header that presents it, as `curl --header @FILE` takes it
    #[arg(long)]
    header: bool,
    #[command(flatten)]
    output: Output,
}

impl License {
    /// Mints and writes.
    pub(super) fn run(&self) -> Result<(), Failure> {
        let credentials = self.source.credentials()?;
        let forms = if self.all { LicenseForm::ALL.to_vec() } else { self.form.clone() };
        let item = |form: LicenseForm| {
            Item::line(format!("license-{}.token", form.label()), &credentials.license(form))
        };
        self.output.write(&forms.into_iter().map(item).collect::<Vec<_>>())
    }
}

impl ReadToken {
    /// Mints and writes.
    pub(super) fn run(&self) -> Result<(), Failure> {
        let credentials = self.source.credentials()?;
        let forms = if self.all { mintable().collect() } else { self.form.clone() };
        let mut items = Vec::new();
        for form in forms {
            let (text, end) = match credentials.authorization(form) {
                Some(value) if self.header => (format!("Authorization: {value}"), "header"),
                // What is wrong is not in the token.
                _ if form == ReadTokenForm::OtherScheme && !self.all => {
                    return Err(Failure::usage(
                        "mint the read token other-scheme: the token is the valid one",
                        "what is wrong is the scheme in the header; add --header to get that",
                    ));
                }
                _ if form == ReadTokenForm::OtherScheme => continue,
                _ => (credentials.read_token(form), "token"),
            };
            items.push(Item::line(format!("read-token-{}.{end}", form.label()), &text));
        }
        self.output.write(&items)
    }
}

/// All but the one that is nothing at all.
fn mintable() -> impl Iterator<Item = ReadTokenForm> {
    ReadTokenForm::ALL.into_iter().filter(|form| *form != ReadTokenForm::Missing)
}

fn license_forms() -> impl TypedValueParser<Value = LicenseForm> {
    forms(LicenseForm::ALL.into_iter().map(|form| (form, form.label(), form.stimulus())))
}

fn read_token_forms() -> impl TypedValueParser<Value = ReadTokenForm> {
    forms(mintable().map(|form| (form, form.label(), form.stimulus())))
}

/// Takes the label of a form; help lists them with what they mean.
pub(super) fn forms<T: Copy + Send + Sync + 'static>(
    forms: impl Iterator<Item = (T, &'static str, Option<Stimulus>)>,
) -> impl TypedValueParser<Value = T> {
    let forms: Vec<_> = forms.collect();
    let possible = forms.iter().map(|(_, label, stimulus)| {
        let value = PossibleValue::new(*label);
        match stimulus {
            Some(stimulus) => value.help(stimulus.meaning().trim_end_matches('.')),
            None => value.help("Accepted"),
        }
    });
    let parser = PossibleValuesParser::new(possible.collect::<Vec<_>>());
    parser.map(move |given: String| {
        let found = forms.iter().find(|(_, label, _)| *label == given);
        found.expect("the parser takes these labels only").0
    })
}
