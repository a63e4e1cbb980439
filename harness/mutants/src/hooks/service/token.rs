use std::time::SystemTime;

use edgeproof_fixtures::credentials::{READ_PREFIX, ReadClaims, ReadTokenFault};
use edgeproof_fixtures::spec::Stimulus;
use edgeproof_mock::{ServiceDecision, ServiceRequest};
use http::header::{CACHE_CONTROL, HeaderValue, WWW_AUTHENTICATE};
use serde_json::json;

use super::state::{ServiceMutant, authorization};
use crate::mutation::{ServiceBehaviour, edit_object};

/// Changes the `Authorization` value that the service reads the token from.
pub(super) fn change_authorization(behaviour: ServiceBehaviour, given: Option<String>) -> Option<String> {
    use ServiceBehaviour as B;
    let value = given?;
    let token = value.split_once(' ').map_or("", |(_, token)| token);
    Some(match behaviour {
        B::AnyScheme if !token.is_empty() => format!("Bearer {token}"),
        B::FindsToken => match value.find(READ_PREFIX) {
            Some(at) => format!("Bearer {}", &value[at..]),
            None => value,
        },
        B::AcceptsWithoutPrefix if token.starts_with("v4.") => format!("Bearer {READ_PREFIX}{token}"),
        B::TakesCapitalPrefix if token.len() > READ_PREFIX.len() && token.is_ascii() => {
            let (prefix, rest) = token.split_at(READ_PREFIX.len());
            format!("Bearer {}{rest}", prefix.to_lowercase())
        }
        B::TakesExtendedToken => {
            let parts: Vec<&str> = value.split('.').take(4).collect();
            parts.join(".")
        }
        B::CaseSensitiveScheme if !value.starts_with("Bearer ") => format!("x{value}"),
        _ => value,
    })
}

impl ServiceMutant {
    /// Accepts or refuses a read token.
    pub(super) fn judge_token(
        &self,
        authorization: Option<&str>,
        license_id: &str,
        right: Result<ReadClaims, ReadTokenFault>,
    ) -> Result<ReadClaims, ReadTokenFault> {
        use ServiceBehaviour as B;
        let accepted = || ReadClaims { license_id: license_id.to_owned(), expires: SystemTime::now() };
        match (self.behaviour, right) {
            (B::RefusesAll, _) => Err(Stimulus::ReadTokenMissing.into()),
            (B::AcceptsLicense, Err(fault)) if fault.stimulus == Stimulus::ReadTokenIsLicense => {
                Ok(accepted())
            }
            (B::AcceptsRevokedToken, Err(fault)) if fault.stimulus == Stimulus::ReadTokenRevoked => {
                Ok(accepted())
            }
            (B::AcceptsRevokedLicense, Err(fault)) if fault.stimulus == Stimulus::ReadTokenLicenseRevoked => {
                Ok(accepted())
            }
            (B::AcceptsOnce, Ok(_))
                if !self.used.lock().insert(authorization.unwrap_or_default().to_owned()) =>
            {
                Err(Stimulus::ReadTokenMissing.into())
            }
            (B::LooksUpFirst, Err(_)) => {
                self.refused.lock().insert(authorization.unwrap_or_default().to_owned());
                Ok(accepted())
            }
            (_, right) => right,
        }
    }

    /// Whether the mock service refuses this token.
    pub(super) fn has_refused(&self, request: &ServiceRequest<'_>) -> bool {
        self.refused.lock().contains(authorization(request).unwrap_or_default())
    }

    /// Returns the token.
    pub(super) fn echo_token(&self, request: &ServiceRequest<'_>, decision: &mut ServiceDecision) {
        use ServiceBehaviour as B;
        let Some(value) = authorization(request) else { return };
        let refused = decision.status != 200 && decision.stimulus != Some(Stimulus::ReferenceUnknown);
        match self.behaviour {
            B::EchoesRefused if refused => {
                edit_object(&mut decision.body, |body| drop(body.insert("detail".into(), json!(value))));
            }
            B::EchoesAccepted if !refused => {
                let value = HeaderValue::from_str(value);
                decision
                    .headers
                    .extend(value.ok().map(|value| (http::HeaderName::from_static("x-token"), value)));
            }
            B::EchoesEncoded => {
                let hex = value.bytes().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"));
                let value = HeaderValue::from_str(&hex);
                decision
                    .headers
                    .extend(value.ok().map(|value| (http::HeaderName::from_static("x-trace"), value)));
            }
            _ => {}
        }
    }

    /// Changes the authentication challenge and the cache control.
    pub(super) fn change_headers(&self, decision: &mut ServiceDecision) {
        match self.behaviour {
            ServiceBehaviour::NoChallenge => drop(decision.headers.remove(WWW_AUTHENTICATE)),
            ServiceBehaviour::BasicChallenge => {
                if let Some(challenge) = decision.headers.get_mut(WWW_AUTHENTICATE) {
                    *challenge = HeaderValue::from_static("Basic realm=\"verdicts\"");
                }
            }
            ServiceBehaviour::AllowsSharedCaching => {
                let value = HeaderValue::from_static("public, max-age=60");
                decision.headers.insert(CACHE_CONTROL, value);
            }
            _ => {}
        }
    }
}
