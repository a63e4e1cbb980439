use edgeproof_http::Draft;
use edgeproof_reports::CaseLevel;
use strum::{Display, VariantArray};

use crate::cases::service::{
    ACCEPTS, CONDITIONS, Damage, Expected, HEADERS, INVALID_WAITS, METHODS, Probe, SHORT_WAITS,
    WEAK_CONDITIONS,
};
use crate::cases::{ServiceCaseContext, exposed};

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
    /// A session whose verdict is not ready. Built-in mock only.
    Pending,
    /// A session whose verdict is too old. Built-in mock only.
    TooOld,
}

/// The credential of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenChoice {
    /// The read token.
    Valid,
    /// No `Authorization`.
    Missing,
    /// A bearer token of another issuer.
    Foreign,
    /// Another scheme.
    OtherScheme,
    /// An expired read token.
    Expired,
    /// A license.
    License,
    /// The read token, damaged.
    Damaged(Damage),
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
    pub(super) fn probe(&self, context: &ServiceCaseContext, reference: &str) -> Option<Probe> {
        let mut request = context.verdict(reference).method(self.method);
        if let Some(query) = self.query {
            request = request.query(query);
        }
        let request = match self.token {
            TokenChoice::Valid => request.bearer(&context.read_token()),
            TokenChoice::Missing => request,
            TokenChoice::Foreign => request.bearer("eyJhbGciOiJub25lIn0.e30."),
            TokenChoice::OtherScheme => request.authorization("Token service_read_none"),
            TokenChoice::Expired => request.bearer(&exposed(context.target.inputs.expired_token.as_ref())),
            TokenChoice::License => request.bearer(&exposed(context.target.inputs.license.as_ref())),
            TokenChoice::Damaged(damage) => request.bearer(&damage.apply(&context.read_token())?),
        };
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
    fn expected(&self, reference: &str) -> (Expected, CaseLevel) {
        if self.method != "GET" {
            return match (self.token, self.method) {
                (TokenChoice::Valid, _) | (_, "OPTIONS") => (Expected::NoServerError, CaseLevel::Should),
                (_, "HEAD") => (Expected::Status(&[401, 405, 501]), CaseLevel::Must),
                _ => (Expected::Status(&[400, 401, 403, 404, 405, 411, 415, 501]), CaseLevel::Must),
            };
        }
        if self.query.is_some_and(|query| INVALID_WAITS.contains(&query)) {
            return (Expected::NoServerError, CaseLevel::Must);
        }
        let expected = match self.token {
            TokenChoice::Valid if self.session == SessionChoice::Known => {
                // Other conditions and media types may lead to another success or to none.
                let plain = self
                    .header
                    .is_none_or(|field| HEADERS.contains(&field) || WEAK_CONDITIONS.contains(&field));
                if plain { Expected::Verdict } else { Expected::NoServerError }
            }
            TokenChoice::Valid => Expected::Pending(reference.to_owned()),
            TokenChoice::Missing | TokenChoice::Foreign | TokenChoice::OtherScheme | TokenChoice::License => {
                Expected::Unauthorized
            }
            TokenChoice::Expired => Expected::Expired,
            TokenChoice::Damaged(_) => Expected::Damaged,
        };
        (expected, CaseLevel::Must)
    }
}

impl TokenChoice {
    /// All credentials, the plainest first.
    pub(super) fn all() -> Vec<Self> {
        let whole =
            [Self::Valid, Self::Missing, Self::Foreign, Self::OtherScheme, Self::Expired, Self::License];
        // The interface does not show whether the prefix alone is a damaged token or none.
        let damages = Damage::VARIANTS.iter().filter(|damage| **damage != Damage::PrefixAlone);
        whole.into_iter().chain(damages.map(|damage| Self::Damaged(*damage))).collect()
    }

    /// Its name in a saved file.
    pub(super) fn name(self) -> String {
        match self {
            Self::Valid => "valid".into(),
            Self::Missing => "missing".into(),
            Self::Foreign => "foreign".into(),
            Self::OtherScheme => "other-scheme".into(),
            Self::Expired => "expired".into(),
            Self::License => "license".into(),
            Self::Damaged(damage) => format!("damaged-{}", damage.slug()),
        }
    }

    /// What follows "with" in a description.
    pub(super) fn describe(self) -> String {
        match self {
            Self::Valid => "the read token".into(),
            Self::Missing => "no token".into(),
            Self::Foreign => "a bearer token that is no read token".into(),
            Self::OtherScheme => "another scheme than Bearer".into(),
            Self::Expired => "an expired read token".into(),
            Self::License => "a license as token".into(),
            Self::Damaged(damage) => format!("a read token {}", damage.description()),
        }
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
