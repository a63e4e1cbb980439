use std::path::PathBuf;
use std::sync::Arc;

use edgeproof_fixtures::credentials::{
    CredentialFiles, Credentials, LicenseForm, ReadTokenForm, Redactor, Secret,
};
use edgeproof_fixtures::spec::{Profile, Spec};
use edgeproof_launch::BaseUrl;
use edgeproof_reports::TargetKind;

use crate::cases::{Case, Prerequisite, ServiceInputs};
use crate::run::case_plan::{Applicability, UnmetNeed};

/// The service or key set under test.
pub struct ServiceRunnerOptions {
    /// The interface.
    pub spec: Arc<Spec>,
    /// Behaviour of the mock service at open points.
    pub profile: Profile,
    /// The tested part.
    pub part: ServicePart,
    /// Where the tested part runs.
    pub location: ServiceLocation,
    /// Credentials and sessions to test with.
    pub inputs: ServiceInputs,
    /// Allow cases that need minutes of real time.
    pub waits: bool,
    /// Redacts all secrets of the run.
    pub redactor: Arc<Redactor>,
}

/// The tested part of a service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServicePart {
    /// The verdict endpoint.
    Service,
    /// The key set.
    Keys,
}

/// Where a service and a key set run.
#[derive(Debug)]
pub enum ServiceLocation {
    /// The built-in mock service, with these credentials and their files.
    Mock(Arc<Credentials>, CredentialFiles),
    /// Any base URL.
    At {
        /// Base URL of the service.
        service: Option<BaseUrl>,
        /// Base URL of the key set.
        keys: Option<BaseUrl>,
        /// CA file for their certificates (default: system roots).
        ca: Option<PathBuf>,
    },
}

impl ServicePart {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Service => "service",
            Self::Keys => "keys",
        }
    }
}

impl ServiceRunnerOptions {
    /// Kind of the target in reports.
    pub fn kind(&self) -> TargetKind {
        match self.location {
            ServiceLocation::Mock(..) => TargetKind::Embedded,
            ServiceLocation::At { .. } => TargetKind::Attached,
        }
    }

    /// Name of the target in reports: its base URL, or the built-in part.
    pub fn name(&self) -> String {
        let text =
            |url: &Option<BaseUrl>| url.as_ref().map(|url| url.as_url().to_string()).unwrap_or_default();
        match (&self.location, self.part) {
            (ServiceLocation::Mock(..), ServicePart::Service) => "mock service".into(),
            (ServiceLocation::Mock(..), ServicePart::Keys) => "key set of the mock service".into(),
            (ServiceLocation::At { service, .. }, ServicePart::Service) => text(service),
            (ServiceLocation::At { keys, .. }, ServicePart::Keys) => text(keys),
        }
    }

    /// Everything that the built-in mock service accepts.
    pub fn mock_inputs(credentials: &Credentials) -> ServiceInputs {
        let token = |form| Some(Secret::new(credentials.read_token(form)));
        ServiceInputs {
            read_token: token(ReadTokenForm::Valid),
            expired_token: token(ReadTokenForm::Expired),
            license: Some(Secret::new(credentials.license(LicenseForm::Valid))),
            session_ref: None,
        }
    }

    /// The need, if it is not met.
    fn unmet_need(&self, need: Prerequisite) -> Option<UnmetNeed> {
        let inputs = &self.inputs;
        let ServiceLocation::At { service, .. } = &self.location else { return None };
        let (met, name, advice) = match need {
            Prerequisite::ReadToken => (inputs.read_token.is_some(), "a read token", "set READ_TOKEN"),
            Prerequisite::ExpiredToken => {
                (inputs.expired_token.is_some(), "an expired read token", "use --expired-token")
            }
            Prerequisite::License => (inputs.license.is_some(), "a license", "use --license"),
            Prerequisite::Session if service.is_none() => {
                (false, "the service that signs with these keys", "use --base-url and --session-ref")
            }
            Prerequisite::Session => (
                inputs.session_ref.is_some(),
                "a session that finished less than 2 minutes ago",
                "use --session-ref",
            ),
            Prerequisite::Waits => (self.waits, "minutes of real time", "use --waits"),
            Prerequisite::Mock => {
                let advice = match self.part {
                    ServicePart::Service => "omit --base-url",
                    ServicePart::Keys => "omit --keys-url",
                };
                (false, "the built-in mock service", advice)
            }
            Prerequisite::Service
            | Prerequisite::Origin
            | Prerequisite::Log
            | Prerequisite::LoopbackClients
            | Prerequisite::Https
            | Prerequisite::PlainReasons => {
                return Some(UnmetNeed::Property("applies to an edge: use `edgeproof conformance edge`"));
            }
        };
        (!met).then_some(UnmetNeed::Input { name, advice })
    }
}

impl Applicability for ServiceRunnerOptions {
    fn target(&self) -> &'static str {
        self.part.name()
    }

    fn unmet(&self, case: &Case) -> Vec<UnmetNeed> {
        case.prerequisites.iter().filter_map(|need| self.unmet_need(*need)).collect()
    }
}
