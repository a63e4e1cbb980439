use std::path::PathBuf;
use std::sync::Arc;

use edgeproof_browser::ChromiumOptions;
use edgeproof_fixtures::credentials::{Credentials, Redactor, Role};
use edgeproof_reports::TargetKind;

use crate::cases::SealUse;
use crate::collector::{CollectorModule, EdgeCredentials, Opener, SharedBrowser};

/// The collector under test.
pub struct CollectorRunnerOptions {
    /// The module.
    pub module: CollectorModule,
    /// Name of its maker in error texts (default: `service`).
    pub name: String,
    /// The browser.
    pub browser: Arc<SharedBrowser>,
    /// Tables and credentials of its edges.
    pub edges: Arc<EdgeCredentials>,
    /// How the module uses the seal key (default: a first session finds out). If it is set, each `create()` of the module
    /// has to make a collector of its own.
    pub seal: Option<SealUse>,
    /// Opens collections of a format of its own.
    pub opener: Option<Arc<Opener>>,
    /// Redacts all secrets of the run.
    pub redactor: Arc<Redactor>,
}

impl CollectorRunnerOptions {
    /// Name of the maker in the interface.
    pub const MAKER: &str = "service";

    /// Hosts of pages and edges, for the certificate of the credentials.
    pub const HOSTS: [&'static str; 2] = ["shop.test", "edge.test"];

    /// A browser that trusts the edges of these credentials. `executable`: Chromium (default: the usual places).
    pub fn browser(credentials: &Credentials, executable: Option<PathBuf>) -> SharedBrowser {
        let trusted_spki = vec![credentials.certificate(Role::ServiceServer).public_key_digest()];
        SharedBrowser::new(ChromiumOptions { executable, trusted_spki })
    }

    /// Kind of the target in reports.
    pub fn kind(&self) -> TargetKind {
        if self.module.is_reference() { TargetKind::Embedded } else { TargetKind::Attached }
    }
}
