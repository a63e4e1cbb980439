use std::path::PathBuf;
use std::sync::Arc;

use edgeproof_fixtures::credentials::{
    CredentialFiles, Credentials, LicenseForm, ReadTokenForm, Redactor, Secret,
};
use edgeproof_fixtures::spec::{Profile, Spec};
use edgeproof_launch::BaseUrl;
use edgeproof_reports::TargetKind;

use super::part::ServicePart;
use crate::cases::{ServiceInputs, ServiceNeed};
use crate::run::plan::UnmetNeed;
use crate::states::{StateNeed, States};

/// The service or key set under test.
pub struct ServiceRunnerOptions {
    /// The interface.
    pub spec: Arc<Spec>,
    /// The interface of the built-in mock. None: the same.
    pub mock_spec: Option<Arc<Spec>>,
    /// Behaviour of the mock service at open points.
    pub profile: Profile,
    /// Where the tested part runs.
    pub location: ServiceLocation,
    /// Credentials and sessions to test with.
    pub inputs: ServiceInputs,
    /// Allow cases that need minutes of real time.
    pub waits: bool,
    /// Redacts all secrets of the run.
    pub redactor: Arc<Redactor>,
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
        /// Its states, with a state hook.
        states: Option<Arc<States>>,
    },
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
    pub(super) fn name<P: ServicePart>(&self) -> String {
        match self.location {
            ServiceLocation::Mock(..) => P::BUILT_IN.into(),
            ServiceLocation::At { .. } => P::base_url(&self.location),
        }
    }

    /// Everything that the built-in mock service accepts.
    pub fn mock_inputs(credentials: &Credentials) -> ServiceInputs {
        let token = |form| Some(Secret::new(credentials.read_token(form)));
        ServiceInputs {
            read_token: token(ReadTokenForm::Valid),
            expired_token: token(ReadTokenForm::Expired),
            revoked_token: token(ReadTokenForm::Revoked),
            other_token: token(ReadTokenForm::OtherLicense),
            license: Some(Secret::new(credentials.license(LicenseForm::Valid))),
            session_ref: None,
        }
    }

    /// The need of a case, if it is not met.
    pub(super) fn unmet(&self, need: ServiceNeed) -> Option<UnmetNeed> {
        let inputs = &self.inputs;
        let ServiceLocation::At { service, states, .. } = &self.location else { return None };
        let supports = |state| states.as_ref().is_some_and(|states| states.supports(state));
        let (met, name, advice) = match need {
            ServiceNeed::ReadToken => (inputs.read_token.is_some(), "a read token", "set READ_TOKEN"),
            ServiceNeed::ExpiredToken => {
                (inputs.expired_token.is_some(), "an expired read token", "set READ_TOKEN_EXPIRED")
            }
            ServiceNeed::RevokedToken => {
                (inputs.revoked_token.is_some(), "a revoked read token", "set READ_TOKEN_REVOKED")
            }
            ServiceNeed::OtherToken => {
                (inputs.other_token.is_some(), "a read token of another license", "set READ_TOKEN_OTHER")
            }
            ServiceNeed::License => (inputs.license.is_some(), "a license", "use --license"),
            ServiceNeed::Session | ServiceNeed::SessionTrial if service.is_none() => {
                (false, "the service that signs with these keys", "use --base-url and --state-url")
            }
            ServiceNeed::Session | ServiceNeed::SessionTrial => (
                inputs.session_ref.is_some() || supports(StateNeed::Verdict),
                "a session that finished less than 2 minutes ago",
                "use --state-url or --session-ref",
            ),
            ServiceNeed::WaitsOrLater if supports(StateNeed::Later) => return None,
            ServiceNeed::Waits | ServiceNeed::WaitsOrLater => {
                (self.waits, "minutes of real time", "use --waits")
            }
            ServiceNeed::State(_) if states.is_none() => (false, "a state hook", "use --state-url"),
            ServiceNeed::State(state) => (supports(state), state.input(), "support it in the state hook"),
        };
        (!met).then_some(UnmetNeed::Input { name, advice })
    }
}
