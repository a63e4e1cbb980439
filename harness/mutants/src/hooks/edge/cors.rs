use edgeproof_edge::{EdgeAnswer, EdgeRequest, RelayResult};
use http::header::{ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue, LOCATION, VARY};
use http::{HeaderMap, Method, StatusCode};

use super::state::EdgeMutant;
use crate::mutation::{EdgeBehaviour, remove_cors};

/// Statuses to which `add_header` of nginx applies without `always`.
const ADD_HEADER: [u16; 10] = [200, 201, 204, 206, 301, 302, 303, 304, 307, 308];

impl EdgeMutant {
    /// Changes the CORS headers.
    pub(super) fn change_cors(
        &self,
        request: &EdgeRequest<'_>,
        relayed: Option<&RelayResult>,
        answer: &mut EdgeAnswer,
    ) {
        use EdgeBehaviour as B;
        let headers = &mut answer.headers;
        if self.behaviour == B::GrantsStar {
            headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
            return;
        }
        if let Some(origin) = request.facts.origin.as_ref().filter(|origin| self.wrongly_allows(origin)) {
            headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
        }
        let is_of_framework = match relayed {
            None => !answer.status.is_success(),
            Some(relayed) => *relayed == RelayResult::BodyBroken,
        };
        let preflight = request.facts.method == Method::OPTIONS;
        match self.behaviour {
            B::NoContentType if preflight => {
                headers.remove(ACCESS_CONTROL_ALLOW_HEADERS);
            }
            B::RedirectsPreflight if preflight => {
                answer.status = StatusCode::TEMPORARY_REDIRECT;
                let location = HeaderValue::from_str(&format!("{}/", self.signals_path));
                headers.extend(location.ok().map(|location| (LOCATION, location)));
            }
            B::CorsOnSuccess if !answer.status.is_success() => remove_cors(headers),
            B::CorsOnPreflight if !preflight => remove_cors(headers),
            B::CorsWithoutServerErrors if answer.status.is_server_error() => remove_cors(headers),
            B::CorsOnOwnAnswers if is_of_framework => remove_cors(headers),
            B::CorsByAddHeader if !ADD_HEADER.contains(&answer.status.as_u16()) => remove_cors(headers),
            B::NoCors => {
                remove_cors(headers);
                headers.remove(VARY);
            }
            B::GrantsTwice => repeat_grant(headers, None),
            B::GrantsListed => {
                if let Some(grant) =
                    headers.get(ACCESS_CONTROL_ALLOW_ORIGIN).and_then(|grant| grant.to_str().ok())
                {
                    let list = HeaderValue::from_str(&format!("{grant}, {grant}"));
                    headers.extend(list.ok().map(|list| (ACCESS_CONTROL_ALLOW_ORIGIN, list)));
                }
            }
            B::GrantsWithStar => repeat_grant(headers, Some(HeaderValue::from_static("*"))),
            B::OverwritesVary => {
                headers.insert(VARY, HeaderValue::from_static("Accept-Encoding"));
            }
            B::NoVary => {
                headers.remove(VARY);
            }
            _ => {}
        }
    }

    /// Whether the mutant allows this origin against the rules.
    fn wrongly_allows(&self, origin: &HeaderValue) -> bool {
        use EdgeBehaviour as B;
        let (Ok(origin), allowed) = (origin.to_str(), self.allowed_origin.as_str()) else { return false };
        let host = |origin: &str| origin.split_once("://").map_or(origin, |(_, host)| host).to_owned();
        let portless = |origin: &str| match origin.rsplit_once(':') {
            Some((rest, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => rest.to_owned(),
            _ => origin.to_owned(),
        };
        match self.behaviour {
            B::ReflectsOrigin => true,
            B::GrantsNull => origin == "null",
            B::ByPrefix => origin.starts_with(allowed),
            B::BySuffix => origin.ends_with(&host(allowed)),
            B::BySubdomain => origin.ends_with(&format!(".{}", host(allowed))),
            B::WithoutScheme => host(origin) == host(allowed),
            B::WithoutPort => portless(origin) == portless(allowed),
            B::ByPattern => {
                origin.len() == allowed.len()
                    && origin.bytes().zip(allowed.bytes()).all(|(a, b)| a == b || b == b'.')
            }
            _ => false,
        }
    }
}

/// Adds a second grant to an answer with a grant: another value, or the same one.
fn repeat_grant(headers: &mut HeaderMap, other: Option<HeaderValue>) {
    if let Some(grant) = headers.get(ACCESS_CONTROL_ALLOW_ORIGIN).cloned() {
        headers.append(ACCESS_CONTROL_ALLOW_ORIGIN, other.unwrap_or(grant));
    }
}
