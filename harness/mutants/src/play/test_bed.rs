use std::collections::HashMap;
use std::sync::Arc;

use edgeproof::cases::{self, CaseFacts, Catalog, Setup};
use edgeproof::run::{LeaseError, SelectionError};
use edgeproof_cli::{OPEN_FILES, raise_open_files};
use edgeproof_fixtures::credentials::{
    CredentialError, CredentialFiles, Credentials, EdgeSettings, MintOptions, Redactor,
};
use edgeproof_fixtures::spec::{PartName, Spec, Version};
use edgeproof_mock::ReplyShape;
use parking_lot::Mutex;

use super::part_cases::{BedPart, PartCases};

/// Tables and credentials that all mutants share. Minting keys and certificates takes time, so make one test bed only.
#[derive(Debug)]
pub struct TestBed {
    /// Tables.
    pub spec: Arc<Spec>,
    pub(super) shape: ReplyShape,
    pub(super) credentials: Arc<Credentials>,
    pub(super) files: CredentialFiles,
    pub(super) redactor: Arc<Redactor>,
    /// Settings of edges that are played without sockets. Each has a license, and signing one takes longer than a play.
    settings: Mutex<HashMap<Setup, Arc<EdgeSettings>>>,
    pub(super) parts: Vec<Box<dyn BedPart>>,
}

/// Setup error of a test bed or a run.
#[derive(Debug, thiserror::Error)]
pub enum TestBedError {
    /// Minting credentials failed.
    #[error(transparent)]
    Mint(#[from] CredentialError),
    /// Writing credentials failed.
    #[error("cannot write credentials to a temporary folder")]
    Files(#[from] std::io::Error),
    /// Starting an edge or its mock service failed.
    #[error(transparent)]
    Lease(#[from] LeaseError),
    /// No cases are planned.
    #[error(transparent)]
    Plan(#[from] SelectionError),
}

impl TestBed {
    /// Test bed for these tables. Raises the limit on open files: plays share the process, each with servers of its own.
    pub fn new(spec: Arc<Spec>) -> Result<Self, TestBedError> {
        raise_open_files(OPEN_FILES);
        let credentials = Arc::new(Credentials::mint(&MintOptions::default())?);
        let files = CredentialFiles::write(&credentials)?;
        let redactor = Arc::new(Redactor::new(&credentials));
        let shape = ReplyShape::from_profile(spec.profile());
        let catalog = Catalog::new(&spec, &shape, false).explore(true);
        let parts = vec![
            PartCases::boxed(PartName::Edge, cases::edge(catalog)),
            PartCases::boxed(PartName::Service, cases::service(catalog)),
            PartCases::boxed(PartName::Keys, cases::keys(catalog)),
        ];
        Ok(Self { spec, shape, credentials, files, redactor, settings: Mutex::default(), parts })
    }

    /// Test bed for the built-in tables.
    pub fn builtin() -> Result<Self, TestBedError> {
        Self::new(Arc::new(Spec::builtin(Version::Current)))
    }

    /// Names of the parts with mutants.
    pub fn part_names(&self) -> impl Iterator<Item = PartName> + use<'_> {
        self.parts.iter().map(|part| part.name())
    }

    /// All cases for a part.
    pub fn cases(&self, part: PartName) -> Vec<CaseFacts> {
        self.part(part).facts()
    }

    /// Whether a case may be played without sockets.
    pub(crate) fn plays_pure(&self, part: PartName, case: &CaseFacts) -> bool {
        self.part(part).plays_pure(&case.id)
    }

    /// Settings of an edge that is played without sockets.
    pub(super) fn settings(&self, setup: Setup) -> Arc<EdgeSettings> {
        let sign = || {
            let settings = setup.settings(&self.credentials, &self.files, "https://localhost");
            Arc::new(settings.expect("only forms of settings write files, and their cases need sockets"))
        };
        Arc::clone(self.settings.lock().entry(setup).or_insert_with(sign))
    }

    pub(super) fn part(&self, name: PartName) -> &dyn BedPart {
        let part = self.parts.iter().find(|part| part.name() == name);
        &**part.expect("callers name parts with mutants")
    }
}
