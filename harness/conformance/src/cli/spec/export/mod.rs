//! `edgeproof spec export`: the interface in other forms.

mod document;
mod html;
mod markdown;
mod openapi;
mod tables;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use edgeproof_cli::Failure;

use super::evidence::Evidence;
use super::interface_args::InterfaceArgs;
use super::matrices::MatrixArgs;
use document::Document;

#[derive(Debug, Subcommand)]
pub(super) enum ExportCommand {
    /// Write the tables into a folder, to be edited and given as --spec
    Tables {
        /// Folder, which is empty or does not exist
        #[arg(value_name = "DIR")]
        dir: PathBuf,
        #[command(flatten)]
        interface: InterfaceArgs,
    },
    /// Print OpenAPI 3.1: all endpoints, with the answer of each row as an example
    Openapi {
        #[command(flatten)]
        interface: InterfaceArgs,
    },
    /// Print all rows by section as Markdown, with their mutants and their outcomes in reports
    Markdown(DocumentArgs),
    /// Print all rows by section as one HTML page, with their mutants and their outcomes in reports
    Html(DocumentArgs),
}

#[derive(Debug, Args)]
pub(super) struct DocumentArgs {
    /// JSON reports of runs: edge, service, key set, collector
    #[arg(value_name = "REPORT")]
    reports: Vec<PathBuf>,
    #[command(flatten)]
    interface: InterfaceArgs,
    #[command(flatten)]
    matrix: MatrixArgs,
}

impl ExportCommand {
    /// The text for standard output.
    pub(super) fn run(&self) -> Result<String, Failure> {
        match self {
            Self::Tables { dir, interface } => tables::export(&interface.spec, dir),
            Self::Openapi { interface } => {
                let json = serde_json::to_string_pretty(&openapi::document(&interface.spec.load()?));
                json.map(|json| json + "\n")
                    .map_err(|why| Failure::of(&why, "this is a bug in edgeproof: report it"))
            }
            Self::Markdown(args) => args.with_document(|document| markdown::render(&document)),
            Self::Html(args) => args.with_document(|document| html::render(&document)),
        }
    }
}

impl DocumentArgs {
    fn with_document(&self, render: impl FnOnce(Document<'_>) -> String) -> Result<String, Failure> {
        let spec = self.interface.spec.load()?;
        let evidence = Evidence::read(&self.reports, &spec, false)?;
        let matrices = self.matrix.read(&[&spec])?;
        Ok(render(Document::new(&spec, &evidence, &matrices)))
    }
}
