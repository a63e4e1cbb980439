//! `edgeproof mint collection`.

use std::path::PathBuf;
use std::time::SystemTime;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use edgeproof_fixtures::seal::{Collection as Contents, CollectionForm, Mode};

use super::mint_output::{Item, Output};
use super::mint_source::{Source, seal_key_file};
use super::mint_tokens::forms;
use edgeproof_cli::Failure;

/// Without --out the body goes to standard output, for `curl --data-binary @FILE`. Each is accepted once: a second one
/// for the same session is another body.
#[derive(Debug, Args)]
pub(super) struct Collection {
    #[command(flatten)]
    source: Source,
    /// Seal to this key, as the admin port shows it, in place of the service's first one
    #[arg(long, value_name = "FILE", conflicts_with_all = ["settings", "mock"])]
    seal_key: Option<PathBuf>,
    /// The session that it is for; the verdict is asked for by this reference
    #[arg(long, value_name = "REF")]
    session_ref: String,
    /// Which one (repeatable with --out)
    #[arg(long, value_name = "FORM", default_value = "valid", value_parser = collection_forms())]
    form: Vec<CollectionForm>,
    /// Every form
    #[arg(long, requires = "out", conflicts_with = "form")]
    all: bool,
    /// How much the collector measured; less makes a weaker verdict
    #[arg(long, value_name = "MODE", default_value = "full", value_parser = modes())]
    mode: Mode,
    /// Measurements and nonce come from this number
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    #[command(flatten)]
    output: Output,
}

impl Collection {
    /// Seals and writes.
    pub(super) fn run(&self) -> Result<(), Failure> {
        let (key, retired) = match &self.seal_key {
            Some(file) => (seal_key_file(file)?, None),
            None => self.source.seal_keys()?,
        };
        let seed = self.seed.unwrap_or_else(rand::random);
        let contents =
            Contents::generated(self.session_ref.as_str(), seed, SystemTime::now()).mode(self.mode);
        let forms = if self.all { CollectionForm::ALL.to_vec() } else { self.form.clone() };
        let item = |form: CollectionForm| Item {
            name: format!("collection-{}.json", form.label()),
            content: form.body_to(&contents, &key, retired.as_ref()),
        };
        self.output.write(&forms.into_iter().map(item).collect::<Vec<_>>())
    }
}

fn collection_forms() -> impl TypedValueParser<Value = CollectionForm> {
    forms(CollectionForm::ALL.into_iter().map(|form| (form, form.label(), form.stimulus())))
}

fn modes() -> impl TypedValueParser<Value = Mode> {
    PossibleValuesParser::new(Mode::ALL.iter().map(|mode| mode.name()).collect::<Vec<_>>())
        .map(|given: String| given.parse::<Mode>().expect("the parser takes these names only"))
}
