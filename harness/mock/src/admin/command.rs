use http::Method;

use super::AdminError;

/// What the admin port does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Command {
    Index,
    Health,
    ReadJournal,
    ClearJournal,
    ListScripts,
    AddScript,
    DropScripts,
    DropScript(u64),
    ReadClock,
    MoveClock,
    ReadFaults,
    SetFaults,
    AddSession,
    RotateKeys,
    AnnounceKey,
    ReadSealKey,
    RotateSealKey,
    RetireSealKey(String),
    ReadMagic,
    Reset,
}

/// Every endpoint: method, path, and what it does.
pub const ENDPOINTS: [(&str, &str, &str); 20] = [
    ("GET", "/", "this list"),
    ("GET", "/health", "200 while the mock service runs"),
    ("GET", "/journal", "requests that arrived; ?since=NUMBER and ?limit=COUNT"),
    ("DELETE", "/journal", "forget them"),
    ("GET", "/scripts", "scripts, and how many requests each was for"),
    ("POST", "/scripts", "answer some requests in another way"),
    ("DELETE", "/scripts", "end all scripts"),
    ("DELETE", "/scripts/{id}", "end one script"),
    ("GET", "/clock", "the mock service's time"),
    ("POST", "/clock", "move it"),
    ("GET", "/faults", "what is wrong with the mock service, or slow"),
    ("PUT", "/faults", "let checks fail, and verdicts take their time"),
    ("POST", "/sessions", "add a session, as if its collection had been accepted"),
    ("POST", "/keys/rotate", "sign verdicts with a new key"),
    ("POST", "/keys/announce", "publish a key that signs nothing before the next rotation"),
    ("GET", "/seal-key", "the key that collections are sealed to"),
    ("POST", "/seal-key/rotate", "let collections be sealed to a new key"),
    ("DELETE", "/seal-key/{kid}", "accept no collection any more that is sealed to this key"),
    ("GET", "/magic", "magic values and their rows"),
    ("POST", "/reset", "forget sessions, collections, journal and scripts; end faults; set the clock right"),
];

impl Command {
    /// What a request asks for.
    pub(super) fn of(method: &Method, path: &str) -> Result<Self, AdminError> {
        let segments: Vec<&str> = path.trim_start_matches('/').split('/').collect();
        // The server leaves the body out.
        let method = if method == Method::HEAD { &Method::GET } else { method };
        let command = match (method.as_str(), segments.as_slice()) {
            ("GET", [""]) => Self::Index,
            ("GET", ["health"]) => Self::Health,
            ("GET", ["journal"]) => Self::ReadJournal,
            ("DELETE", ["journal"]) => Self::ClearJournal,
            ("GET", ["scripts"]) => Self::ListScripts,
            ("POST", ["scripts"]) => Self::AddScript,
            ("DELETE", ["scripts"]) => Self::DropScripts,
            ("DELETE", ["scripts", id]) => Self::DropScript(id.parse().map_err(|_| AdminError::NotFound)?),
            ("GET", ["clock"]) => Self::ReadClock,
            ("POST", ["clock"]) => Self::MoveClock,
            ("GET", ["faults"]) => Self::ReadFaults,
            ("PUT", ["faults"]) => Self::SetFaults,
            ("POST", ["sessions"]) => Self::AddSession,
            ("POST", ["keys", "rotate"]) => Self::RotateKeys,
            ("POST", ["keys", "announce"]) => Self::AnnounceKey,
            ("GET", ["seal-key"]) => Self::ReadSealKey,
            ("POST", ["seal-key", "rotate"]) => Self::RotateSealKey,
            ("DELETE", ["seal-key", kid]) => Self::RetireSealKey((*kid).to_owned()),
            ("GET", ["magic"]) => Self::ReadMagic,
            ("POST", ["reset"]) => Self::Reset,
            _ => return Err(missing(&segments)),
        };
        Ok(command)
    }
}

fn missing(segments: &[&str]) -> AdminError {
    let allowed: Vec<_> =
        ENDPOINTS.iter().filter(|(_, path, _)| fits(path, segments)).map(|(method, ..)| *method).collect();
    if allowed.is_empty() {
        return AdminError::NotFound;
    }
    AdminError::MethodNotAllowed { allowed: allowed.join(", ") }
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
    fn the_list_is_what_there_is() {
        for (method, path, _) in ENDPOINTS {
            let path = path.replace("{id}", "7").replace("{kid}", "seal-1");
            assert!(Command::of(&method.parse().unwrap(), &path).is_ok(), "{method} {path}");
        }
    }

    #[test]
    fn other_methods_are_told_apart_from_other_paths() {
        let of = |method: Method, path| Command::of(&method, path).unwrap_err();
        let allowed = "GET, POST, DELETE".to_owned();
        assert_eq!(of(Method::PATCH, "/scripts"), AdminError::MethodNotAllowed { allowed });
        assert_eq!(of(Method::GET, "/script"), AdminError::NotFound);
        assert_eq!(of(Method::DELETE, "/scripts/x"), AdminError::NotFound);
        assert_eq!(of(Method::GET, "/clock/"), AdminError::NotFound);
    }
}
