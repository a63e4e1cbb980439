use clap::Args;
use clap::builder::TypedValueParser;
use edgeproof_cli::Failure;
use edgeproof_fixtures::credentials::LicenseForm;

use super::forms::form_parser;
use super::output::{Item, MintOutput};
use super::source::ServiceSource;

#[derive(Debug, Args)]
pub(super) struct LicenseArgs {
    #[command(flatten)]
    source: ServiceSource,
    /// Form of the license (repeatable with --out)
    #[arg(long, value_name = "FORM", default_value = "valid", value_parser = license_forms())]
    form: Vec<LicenseForm>,
    /// All forms
    #[arg(long, requires = "out", conflicts_with = "form")]
    all: bool,
    #[command(flatten)]
    output: MintOutput,
}

/// Mints and writes the licenses.
pub(super) fn run(args: &LicenseArgs) -> Result<(), Failure> {
    let credentials = args.source.credentials()?;
    let forms = if args.all { LicenseForm::ALL.to_vec() } else { args.form.clone() };
    let item =
        |form: LicenseForm| Item::line(format!("license-{}.token", form.label()), &credentials.license(form));
    args.output.write(&forms.into_iter().map(item).collect::<Vec<_>>())
}

fn license_forms() -> impl TypedValueParser<Value = LicenseForm> {
    form_parser(LicenseForm::ALL.into_iter().map(|form| (form, form.label(), form.stimulus())))
}
