use clap::Args;
use clap::builder::TypedValueParser;
use edgeproof_cli::Failure;
use edgeproof_fixtures::credentials::ReadTokenForm;

use super::forms::form_parser;
use super::output::{Item, MintOutput};
use super::source::ServiceSource;

#[derive(Debug, Args)]
pub(super) struct ReadTokenArgs {
    #[command(flatten)]
    source: ServiceSource,
    /// Form of the read token (repeatable with --out)
    #[arg(long, value_name = "FORM", default_value = "valid", value_parser = read_token_forms())]
    form: Vec<ReadTokenForm>,
    /// All forms
    #[arg(long, requires = "out", conflicts_with = "form")]
    all: bool,
    /// Write the whole Authorization header, for `curl --header @FILE`
    #[arg(long)]
    header: bool,
    #[command(flatten)]
    output: MintOutput,
}

/// Mints and writes the read tokens.
pub(super) fn run(args: &ReadTokenArgs) -> Result<(), Failure> {
    let credentials = args.source.credentials()?;
    let forms = if args.all { mintable().collect() } else { args.form.clone() };
    let mut items = Vec::new();
    for form in forms {
        let (text, extension) = match credentials.authorization(form) {
            Some(value) if args.header => (format!("Authorization: {value}"), "header"),
            // This form differs from the valid one only in its header.
            _ if form == ReadTokenForm::OtherScheme && !args.all => {
                return Err(Failure::usage(
                    "cannot mint the read token other-scheme: only its header differs from the valid token",
                    "add --header to write the header",
                ));
            }
            _ if form == ReadTokenForm::OtherScheme => continue,
            _ => (credentials.read_token(form), "token"),
        };
        items.push(Item::line(format!("read-token-{}.{extension}", form.label()), &text));
    }
    args.output.write(&items)
}

/// All forms except the missing token.
fn mintable() -> impl Iterator<Item = ReadTokenForm> {
    ReadTokenForm::ALL.into_iter().filter(|form| *form != ReadTokenForm::Missing)
}

fn read_token_forms() -> impl TypedValueParser<Value = ReadTokenForm> {
    form_parser(mintable().map(|form| (form, form.label(), form.stimulus())))
}
