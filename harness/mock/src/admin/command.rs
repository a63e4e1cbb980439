use http::Method;

use super::AdminError;

/// A command of the admin port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Command {
    /// Method and path of its endpoint.
    pub(super) endpoint: (&'static str, &'static str),
    /// Last part of its path: an id, if the path of the endpoint has one.
    pub(super) id: String,
}

/// Every endpoint: method, path, description.
pub const ENDPOINTS: [(&str, &str, &str); 21] = [
    ("GET", "/", "this list"),
    ("GET", "/health", "200 while the mock service runs"),
    ("GET", "/journal", "recorded requests; ?since=NUMBER and ?limit=COUNT"),
    ("DELETE", "/journal", "delete the recorded requests"),
    ("GET", "/scripts", "scripts with the number of requests that each matched"),
    ("POST", "/scripts", "replace the answers to some requests"),
    ("DELETE", "/scripts", "delete all scripts"),
    ("DELETE", "/scripts/{id}", "delete one script"),
    ("GET", "/clock", "clock of the mock service"),
    ("POST", "/clock", "move or stop the clock"),
    ("GET", "/faults", "faults and delays of the mock service"),
    ("PUT", "/faults", "set faults and delays"),
    ("POST", "/sessions", "add a session, as if its collection had been accepted"),
    ("POST", "/state", "bring the service into a state, as a test asks for it"),
    ("POST", "/keys/rotate", "sign verdicts with a new key"),
    ("POST", "/keys/announce", "publish a key for the next rotation"),
    ("GET", "/seal-key", "key that collections are sealed to"),
    ("POST", "/seal-key/rotate", "create a new key to seal collections to"),
    ("DELETE", "/seal-key/{kid}", "refuse collections sealed to this key"),
    ("GET", "/magic", "magic values and their rows"),
    (
        "POST",
        "/reset",
        "delete sessions, collections, journal and scripts; end faults; set the clock to real time",
    ),
];

impl Command {
    /// The command of a request.
    pub(super) fn of(method: &Method, path: &str) -> Result<Self, AdminError> {
        let segments: Vec<&str> = path.trim_start_matches('/').split('/').collect();
        // The server omits the body of the answer.
        let method = if method == Method::HEAD { &Method::GET } else { method };
        let fitting: Vec<_> = ENDPOINTS.iter().filter(|(_, path, _)| fits(path, &segments)).collect();
        if fitting.is_empty() {
            return Err(AdminError::NotFound);
        }
        if let Some((method, path, _)) = fitting.iter().find(|(allowed, ..)| method == allowed) {
            let id = segments.last().copied().unwrap_or_default().to_owned();
            return Ok(Self { endpoint: (method, path), id });
        }
        let allowed: Vec<_> = fitting.iter().map(|(method, ..)| *method).collect();
        Err(AdminError::MethodNotAllowed { allowed: allowed.join(", ") })
    }
}

fn fits(path: &str, segments: &[&str]) -> bool {
    let parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
    parts.len() == segments.len()
        && parts.iter().zip(segments).all(|(page, segment)| page.starts_with('{') || page == segment)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listed_endpoint_is_a_command() {
        for (method, path, _) in ENDPOINTS {
            let path = path.replace("{id}", "7").replace("{kid}", "seal-1");
            let command = Command::of(&method.parse().unwrap(), &path).unwrap();
            assert_eq!(command.endpoint.0, method);
            assert_eq!(path.rsplit('/').next(), Some(command.id.as_str()));
        }
    }

    #[test]
    fn wrong_method_is_405_and_wrong_path_is_404() {
        let of = |method: Method, path| Command::of(&method, path).unwrap_err();
        let allowed = "GET, POST, DELETE".to_owned();
        assert_eq!(of(Method::PATCH, "/scripts"), AdminError::MethodNotAllowed { allowed });
        assert_eq!(of(Method::GET, "/script"), AdminError::NotFound);
        assert_eq!(of(Method::GET, "/clock/"), AdminError::NotFound);
    }
}
