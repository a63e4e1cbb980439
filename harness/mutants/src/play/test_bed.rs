use std::sync::Arc;

use edgeproof::cases::{self, Case, Catalog};
use edgeproof::run::{LeaseError, SelectionError};
use edgeproof_fixtures::credentials::{CredentialError, CredentialFiles, Credentials, MintOptions, Redactor};
use edgeproof_fixtures::spec::{Spec, Version};
use edgeproof_mock::ReplyShape;

use crate::tested_part::TestedPart;

/// Tables and credentials that all mutants share. Minting keys and certificates takes time, so make one test bed only.
#[derive(Debug)]
pub struct TestBed {
    /// Tables.
    pub spec: Arc<Spec>,
    pub(super) shape: ReplyShape,
    pub(super) credentials: Arc<Credentials>,
    pub(super) files: CredentialFiles,
    pub(super) redactor: Arc<Redactor>,
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
    /// Test bed for these tables.
    pub fn new(spec: Arc<Spec>) -> Result<Self, TestBedError> {
        let credentials = Arc::new(Credentials::mint(&MintOptions::default())?);
        let files = CredentialFiles::write(&credentials)?;
        let redactor = Arc::new(Redactor::new(&credentials));
        let shape = ReplyShape::from_profile(spec.profile());
        Ok(Self { spec, shape, credentials, files, redactor })
    }

    /// Test bed for the built-in tables.
    pub fn builtin() -> Result<Self, TestBedError> {
        Self::new(Arc::new(Spec::builtin(Version::Current)))
    }

    /// All cases for a part.
    pub fn cases(&self, part: TestedPart) -> Vec<Case> {
        let catalog = Catalog::new(&self.spec, &self.shape, false).explore(true);
        match part {
            TestedPart::Edge => cases::edge(catalog),
            TestedPart::Service => cases::service(catalog),
            TestedPart::Keys => cases::keys(catalog),
        }
    }
}
