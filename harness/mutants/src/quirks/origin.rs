use http::header::{ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue, LOCATION, VARY};
use http::{Method, StatusCode};

use super::Behaving;
use crate::Behaviour;
use crate::kind::without_cors;
use edgeproof_edge::{EdgeAnswer, EdgeRequest};

impl Behaving {
    /// Grants otherwise, where that is the behaviour.
    pub(super) fn origin(&self, asked: &EdgeRequest<'_>, answer: &mut EdgeAnswer) {
        use Behaviour as B;
        let headers = &mut answer.headers;
        if self.behaviour == B::GrantsStar {
            headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
            return;
        }
        if let Some(origin) = asked.facts.origin.as_ref().filter(|origin| self.likes(origin)) {
            headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
        }
        let preflight = asked.facts.method == Method::OPTIONS;
        match self.behaviour {
            B::NoContentType if preflight => {
                headers.remove(ACCESS_CONTROL_ALLOW_HEADERS);
            }
            B::RedirectsPreflight if preflight => {
                answer.status = StatusCode::TEMPORARY_REDIRECT;
                headers.insert(LOCATION, HeaderValue::from_static("/v1/signals/"));
            }
            B::CorsOnSuccess if !answer.status.is_success() => without_cors(headers),
            B::NoVary => {
                headers.remove(VARY);
            }
            _ => {}
        }
    }

    /// An origin is granted that should not be.
    fn likes(&self, origin: &HeaderValue) -> bool {
        use Behaviour as B;
        let (Ok(origin), allowed) = (origin.to_str(), self.origin.as_str()) else { return false };
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
