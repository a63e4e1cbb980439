use std::path::PathBuf;
use std::time::SystemTime;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use edgeproof_cli::Failure;
use edgeproof_fixtures::seal::{Collection, CollectionForm, CollectorMode};

use super::forms::form_parser;
use super::output::{Item, MintOutput};
use super::source::{ServiceSource, seal_key_file};

/// How to use the body, shown in the help.
const USAGE: &str = "\
Send the body with `curl --data-binary @FILE`. The service accepts each body once: mint another body for a second
collection of the same session.";

#[derive(Debug, Args)]
#[command(after_help = USAGE)]
pub(super) struct CollectionArgs {
    #[command(flatten)]
    source: ServiceSource,
    /// Seal to this key, from the admin API of a mock service (default: the service's first key)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["settings", "mock"])]
    seal_key: Option<PathBuf>,
    /// Reference of the session, also used to request the verdict
    #[arg(long, value_name = "REF")]
    session_ref: String,
    /// Form of the collection (repeatable with --out)
    #[arg(long, value_name = "FORM", default_value = "valid", value_parser = collection_forms())]
    form: Vec<CollectionForm>,
    /// All forms
    #[arg(long, requires = "out", conflicts_with = "form")]
    all: bool,
    /// Amount of measurements; fewer lower the confidence of the verdict
    #[arg(long, value_name = "MODE", default_value = "full", value_parser = modes())]
    mode: CollectorMode,
    /// Seed of measurements and nonce (default: random)
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    #[command(flatten)]
    output: MintOutput,
}

/// Seals and writes the collections.
pub(super) fn run(args: &CollectionArgs) -> Result<(), Failure> {
    let (key, retired) = match &args.seal_key {
        Some(file) => (seal_key_file(file)?, None),
        None => args.source.seal_keys()?,
    };
    let seed = args.seed.unwrap_or_else(rand::random);
    let contents = Collection::generated(args.session_ref.as_str(), seed, SystemTime::now()).mode(args.mode);
    let forms = if args.all { CollectionForm::ALL.to_vec() } else { args.form.clone() };
    let item = |form: CollectionForm| Item {
        name: format!("collection-{}.json", form.label()),
        content: form.body_to(&contents, &key, retired.as_ref()),
    };
    args.output.write(&forms.into_iter().map(item).collect::<Vec<_>>())
}

fn collection_forms() -> impl TypedValueParser<Value = CollectionForm> {
    form_parser(CollectionForm::ALL.into_iter().map(|form| (form, form.label(), form.stimulus())))
}

fn modes() -> impl TypedValueParser<Value = CollectorMode> {
    PossibleValuesParser::new(CollectorMode::ALL.iter().map(|mode| mode.name()).collect::<Vec<_>>())
        .map(|given: String| given.parse::<CollectorMode>().expect("the parser accepts only these names"))
}
