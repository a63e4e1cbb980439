use std::time::SystemTime;

use edgeproof_fixtures::credentials::{READ_PREFIX, ReadClaims, ReadTokenFault};
use edgeproof_fixtures::spec::Stimulus;
use http::header::{AUTHORIZATION, CACHE_CONTROL, HeaderValue, WWW_AUTHENTICATE};
use serde_json::json;

use super::{ServiceBehaviour, Serving};
use crate::kind::edit;
use crate::quirks::lock;
use edgeproof_mock::{ServiceDecision, ServiceRequest};

/// The `Authorization` that a service of this behaviour looks at.
pub(super) fn authorization(behaviour: ServiceBehaviour, given: Option<String>) -> Option<String> {
    use ServiceBehaviour as B;
    let value = given?;
    let token = value.split_once(' ').map_or("", |(_, token)| token);
    Some(match behaviour {
        B::AnyScheme if !token.is_empty() => format!("Bearer {token}"),
        B::FindsPrefix => match value.find(READ_PREFIX) {
            Some(at) => format!("Bearer {}", &value[at..]),
            None => value,
        },
        B::WithoutPrefix if token.starts_with("v4.") => format!("Bearer {READ_PREFIX}{token}"),
        B::SchemeByLetter if !value.starts_with("Bearer ") => format!("x{value}"),
        _ => value,
    })
}

impl Serving {
    /// What a token is taken for.
    pub(super) fn takes(
        &self,
        authorization: Option<&str>,
        license_id: &str,
        right: Result<ReadClaims, ReadTokenFault>,
    ) -> Result<ReadClaims, ReadTokenFault> {
        use ServiceBehaviour as B;
        let let_in = || ReadClaims { license_id: license_id.to_owned(), expires: SystemTime::now() };
        match (self.behaviour, right) {
            (B::RefusesAll, _) => Err(Stimulus::ReadTokenMissing.into()),
            (B::TakesLicense, Err(fault)) if fault.stimulus == Stimulus::ReadTokenIsLicense => Ok(let_in()),
            (B::TakesOnce, Ok(_))
                if !lock(&self.given).insert(authorization.unwrap_or_default().to_owned()) =>
            {
                Err(Stimulus::ReadTokenMissing.into())
            }
            (B::LooksUpFirst, Err(_)) => {
                lock(&self.refused).insert(authorization.unwrap_or_default().to_owned());
                Ok(let_in())
            }
            (_, right) => right,
        }
    }

    /// Whether this token is refused by who looks the session up first.
    pub(super) fn has_refused(&self, asked: &ServiceRequest<'_>) -> bool {
        lock(&self.refused).contains(sent(asked).unwrap_or_default())
    }

    /// Shows the token, where that is the behaviour.
    pub(super) fn echo(&self, asked: &ServiceRequest<'_>, decision: &mut ServiceDecision) {
        use ServiceBehaviour as B;
        let Some(value) = sent(asked) else { return };
        let refused = decision.status != 200 && decision.stimulus != Some(Stimulus::ReferenceUnknown);
        match self.behaviour {
            B::EchoesRefused if refused => {
                edit(&mut decision.body, |body| drop(body.insert("detail".into(), json!(value))));
            }
            B::EchoesAccepted if !refused => {
                let value = HeaderValue::from_str(value);
                decision
                    .headers
                    .extend(value.ok().map(|value| (http::HeaderName::from_static("x-token"), value)));
            }
            _ => {}
        }
    }

    /// Says otherwise what a 401 asks for and who may keep an answer, where that is the behaviour.
    pub(super) fn label(&self, decision: &mut ServiceDecision) {
        match self.behaviour {
            ServiceBehaviour::NoChallenge => drop(decision.headers.remove(WWW_AUTHENTICATE)),
            ServiceBehaviour::OffersToCaches => {
                let value = HeaderValue::from_static("public, max-age=60");
                decision.headers.insert(CACHE_CONTROL, value);
            }
            _ => {}
        }
    }
}

fn sent<'a>(asked: &ServiceRequest<'a>) -> Option<&'a str> {
    asked.headers.get(AUTHORIZATION)?.to_str().ok()
}
