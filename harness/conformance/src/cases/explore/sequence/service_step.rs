use edgeproof_http::Draft;
use edgeproof_mock::states::StateRequest;
use edgeproof_reports::CaseLevel;
use strum::{Display, VariantArray};

use crate::cases::ServiceCaseContext;
use crate::cases::service::{
    ACCEPTS, CONDITIONS, Expected, HEADERS, INVALID_WAITS, METHODS, Probe, SHORT_WAITS, TokenChoice,
    WEAK_CONDITIONS, without_token,
};
use crate::states::StateNeed;

/// A step at a service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServiceAction {
    /// A request for a verdict.
    Verdict(VerdictStep),
    /// A request for the key set.
    KeySet,
    /// A client that leaves during a long wait.
    ClientLeft,
}

/// A request for a verdict: each part is plain or another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerdictStep {
    /// The session.
    pub session: SessionChoice,
    /// The credential.
    pub token: TokenChoice,
    /// The method.
    pub method: &'static str,
    /// The query.
    pub query: Option<&'static str>,
    /// One more header field, or another value of one.
    pub header: Option<(&'static str, &'static str)>,
}

/// The session of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Display, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum SessionChoice {
    /// A reference that no session has.
    Unknown,
    /// Another reference that no session has.
    OtherUnknown,
    /// A session with a verdict.
    Known,
    /// A session whose verdict is not ready.
    Pending,
    /// A session whose verdict is too old.
    TooOld,
    /// A session of another license, with a verdict.
    OtherLicense,
}

/// How much older than the limit a verdict is that no service returns (s).
const TOO_OLD: u64 = 3600;

impl SessionChoice {
    /// Whether requests may name such a session: its state can be made, or the user gave one.
    pub(in crate::cases) fn is_known(self, context: &ServiceCaseContext) -> bool {
        let given = self == Self::Known && context.target.inputs.session_ref.is_some();
        if self == Self::TooOld && context.spec().limit("limit.verdict-age").is_none() {
            return false;
        }
        given || self.need().is_none_or(|need| context.supports(need))
    }

    /// The state that it requires.
    pub(super) fn need(self) -> Option<StateNeed> {
        match self {
            Self::Unknown | Self::OtherUnknown => None,
            Self::Known => Some(StateNeed::Verdict),
            Self::Pending => Some(StateNeed::Pending),
            Self::TooOld => Some(StateNeed::Aged),
            Self::OtherLicense => Some(StateNeed::OtherLicense),
        }
    }

    /// Makes such a session. Yields its reference. None: it is not there; the case says why.
    pub(in crate::cases) async fn make(
        self,
        context: &mut ServiceCaseContext,
        reference: String,
    ) -> Option<String> {
        match self {
            Self::Unknown | Self::OtherUnknown => Some(reference),
            Self::Known if !context.supports(StateNeed::Verdict) => context.target.inputs.session_ref.clone(),
            Self::Known => context.made(StateRequest::verdict(reference)).await,
            Self::Pending => context.made(StateRequest::pending(reference)).await,
            Self::TooOld => {
                let limit = context.spec().limit("limit.verdict-age").unwrap_or_default();
                let age = limit.as_secs().saturating_add(TOO_OLD);
                context.made(StateRequest::aged(reference, age)).await
            }
            Self::OtherLicense => context.made(StateRequest::other_license(reference)).await,
        }
    }
}

impl VerdictStep {
    /// A plain request: `GET` of an unknown session with the read token.
    pub const PLAIN: Self = Self {
        session: SessionChoice::Unknown,
        token: TokenChoice::Valid,
        method: "GET",
        query: None,
        header: None,
    };

    /// Number of its parts that are not plain.
    pub fn variations(&self) -> usize {
        let plain = Self::PLAIN;
        [
            self.session != plain.session,
            self.token != plain.token,
            self.method != plain.method,
            self.query.is_some(),
            self.header.is_some(),
        ]
        .into_iter()
        .filter(|varies| *varies)
        .count()
    }

    /// The request with its expected answer. `reference`: that of the session. None: the token has no part to damage.
    pub(in crate::cases) fn probe(&self, context: &ServiceCaseContext, reference: &str) -> Option<Probe> {
        let mut request = context.verdict(reference).method(self.method);
        if let Some(query) = self.query {
            request = request.query(query);
        }
        if let Some(value) = self.token.authorization(context).ok()? {
            request = request.authorization(&value);
        }
        let mut draft: Draft = request.draft();
        if let Some((name, value)) = self.header {
            draft.headers.retain(|(other, _)| !other.eq_ignore_ascii_case(name));
            draft = draft.header(name, value);
        }
        let (expected, level) = self.expected(reference);
        let probe = Probe::new("", draft, expected);
        Some(if level == CaseLevel::Should { probe.should() } else { probe })
    }

    /// The expected answer, as the cases about single values have it.
    pub(in crate::cases) fn expected(&self, reference: &str) -> (Expected, CaseLevel) {
        if self.method != "GET" {
            return match (self.token, self.method) {
                (TokenChoice::Valid | TokenChoice::OtherLicense, _) | (_, "OPTIONS") => {
                    (Expected::NoServerError, CaseLevel::Should)
                }
                (_, method) => (without_token(method), CaseLevel::Must),
            };
        }
        if self.query.is_some_and(|query| INVALID_WAITS.contains(&query)) {
            return (Expected::NoServerError, CaseLevel::Must);
        }
        let is_own = matches!(
            (self.token, self.session),
            (TokenChoice::Valid | TokenChoice::LowerCaseScheme, SessionChoice::Known)
                | (TokenChoice::OtherLicense, SessionChoice::OtherLicense)
        );
        let expected = match self.token {
            _ if is_own => {
                // Other conditions and media types may lead to another success or to none.
                let plain = self
                    .header
                    .is_none_or(|field| HEADERS.contains(&field) || WEAK_CONDITIONS.contains(&field));
                if plain { Expected::Verdict } else { Expected::NoServerError }
            }
            TokenChoice::Valid | TokenChoice::LowerCaseScheme | TokenChoice::OtherLicense => {
                Expected::Pending(reference.to_owned())
            }
            TokenChoice::Missing
            | TokenChoice::Foreign
            | TokenChoice::OtherScheme
            | TokenChoice::License
            | TokenChoice::WithoutPrefix
            | TokenChoice::Value(_) => Expected::Unauthorized,
            TokenChoice::Expired => Expected::Expired,
            TokenChoice::Revoked => Expected::Revoked,
            TokenChoice::Damaged(_) => Expected::Damaged,
        };
        (expected, CaseLevel::Must)
    }
}

/// All methods, the plainest first.
pub(super) fn methods() -> Vec<&'static str> {
    std::iter::once("GET").chain(METHODS).collect()
}

/// All queries of requests that are answered soon.
pub(super) fn queries() -> Vec<&'static str> {
    SHORT_WAITS.iter().chain(&INVALID_WAITS).copied().collect()
}

/// All header fields.
pub(super) fn header_fields() -> Vec<(&'static str, &'static str)> {
    CONDITIONS.iter().chain(&ACCEPTS).chain(&HEADERS).copied().collect()
}
