use edgeproof_fixtures::credentials::READ_PREFIX;
use strum::VariantArray;

use super::damage::Damage;
use crate::cases::{ServiceCaseContext, exposed};

/// The credential of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenChoice {
    /// The read token.
    Valid,
    /// No `Authorization`.
    Missing,
    /// A bearer token of another issuer.
    Foreign,
    /// The read token, with its scheme in lower case.
    LowerCaseScheme,
    /// The read token without its prefix.
    WithoutPrefix,
    /// This value of `Authorization`.
    Value(&'static str),
    /// Another scheme.
    OtherScheme,
    /// An expired read token.
    Expired,
    /// A revoked read token.
    Revoked,
    /// A license.
    License,
    /// A read token of another license.
    OtherLicense,
    /// The read token, damaged.
    Damaged(Damage),
}

/// Why a read token cannot be damaged.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("the read token has no part to damage this way")]
pub(in crate::cases) struct NoSuchPart;

impl TokenChoice {
    /// All credentials, the plainest first.
    pub(in crate::cases) fn all() -> Vec<Self> {
        let whole = [
            Self::Valid,
            Self::Missing,
            Self::Foreign,
            Self::OtherScheme,
            Self::Expired,
            Self::Revoked,
            Self::License,
            Self::OtherLicense,
        ];
        // The interface does not show whether the prefix alone is a damaged token or none.
        let damages = Damage::VARIANTS.iter().filter(|damage| **damage != Damage::PrefixAlone);
        whole.into_iter().chain(damages.map(|damage| Self::Damaged(*damage))).collect()
    }

    /// Its name in a saved file. Sequences have the credentials of [`Self::all`] only.
    pub(in crate::cases) fn name(self) -> String {
        match self {
            Self::Valid => "valid".into(),
            Self::Missing => "missing".into(),
            Self::Foreign => "foreign".into(),
            Self::OtherScheme => "other-scheme".into(),
            Self::Expired => "expired".into(),
            Self::Revoked => "revoked".into(),
            Self::License => "license".into(),
            Self::OtherLicense => "other-license".into(),
            Self::Damaged(damage) => format!("damaged-{}", damage.slug()),
            Self::LowerCaseScheme => "lower-case-scheme".into(),
            Self::WithoutPrefix => "without-prefix".into(),
            Self::Value(value) => value.into(),
        }
    }

    /// What follows "with" in a description.
    pub(in crate::cases) fn describe(self) -> String {
        match self {
            Self::Valid => "the read token".into(),
            Self::Missing => "no token".into(),
            Self::Foreign => "a bearer token that is not a read token".into(),
            Self::OtherScheme => "another scheme than Bearer".into(),
            Self::Expired => "an expired read token".into(),
            Self::Revoked => "a revoked read token".into(),
            Self::License => "a license as token".into(),
            Self::OtherLicense => "a read token of another license".into(),
            Self::Damaged(damage) => format!("a read token {}", damage.description()),
            Self::LowerCaseScheme => "the read token and the scheme bearer".into(),
            Self::WithoutPrefix => "a read token without its prefix".into(),
            Self::Value(value) => format!("the credential {value:?}"),
        }
    }

    /// The value of `Authorization`, if there is one.
    pub(in crate::cases) fn authorization(
        self,
        context: &ServiceCaseContext,
    ) -> Result<Option<String>, NoSuchPart> {
        let inputs = &context.target.inputs;
        let (expired, license) = (exposed(inputs.expired_token.as_ref()), exposed(inputs.license.as_ref()));
        let (revoked, other) = (context.revoked_token(), context.other_token());
        self.with(&context.read_token(), [&expired, &revoked, &other], &license)
    }

    /// The value of `Authorization` in examples.
    pub(in crate::cases) fn example(self) -> Option<String> {
        let token = |name: &str| format!("{READ_PREFIX}<{name}>");
        if let Self::Damaged(damage) = self {
            return Some(format!("Bearer {READ_PREFIX}<token {}>", damage.description()));
        }
        let [token, expired, revoked, other] = ["token", "expired", "revoked", "other token"].map(token);
        self.with(&token, [&expired, &revoked, &other], "<license>").unwrap_or_default()
    }

    fn with(
        self,
        token: &str,
        [expired, revoked, other]: [&str; 3],
        license: &str,
    ) -> Result<Option<String>, NoSuchPart> {
        let bearer = |token: &str| Ok(Some(format!("Bearer {token}")));
        match self {
            Self::Valid => bearer(token),
            Self::Missing => Ok(None),
            Self::Foreign => bearer("eyJhbGciOiJub25lIn0.e30."),
            Self::OtherScheme => Ok(Some("Token service_read_none".to_owned())),
            Self::Expired => bearer(expired),
            Self::Revoked => bearer(revoked),
            Self::License => bearer(license),
            Self::OtherLicense => bearer(other),
            Self::Damaged(damage) => bearer(&damage.apply(token).ok_or(NoSuchPart)?),
            Self::LowerCaseScheme => Ok(Some(format!("bearer {token}"))),
            Self::WithoutPrefix => bearer(token.strip_prefix(READ_PREFIX).unwrap_or(token)),
            Self::Value(value) => Ok(Some(value.to_owned())),
        }
    }
}
