use url::Url;

/// The address of what is to be proven: `http` or `https`, a host, and where the interface's paths begin below another
/// one, that path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaseUrl(Url);

/// A text that is not such an address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, miette::Diagnostic)]
#[error("use {given:?} as the address of {whose}: {why}")]
#[diagnostic(help("{advice}"))]
pub struct BaseUrlError {
    given: String,
    whose: &'static str,
    why: String,
    advice: String,
}

impl BaseUrl {
    /// The address of an edge.
    pub fn of_edge(given: &str) -> Result<Self, BaseUrlError> {
        let url = Self::parse(
            given,
            "an edge",
            "the interface has none between page and edge",
            "https://edge.example",
        )?;
        url.above(given, "an edge", "the edge's paths", &["/v1/signals", "/health"])
    }

    /// The address of a service that gives verdicts.
    pub fn of_service(given: &str) -> Result<Self, BaseUrlError> {
        let whose = "a service";
        let url =
            Self::parse(given, whose, "a read token is what opens a service", "https://service.example")?;
        url.above(given, whose, "the service's paths", &["/v1/verdict"])?.guarded(given, whose)
    }

    /// The address of a key set.
    pub fn of_keys(given: &str) -> Result<Self, BaseUrlError> {
        let whose = "a key set";
        let url =
            Self::parse(given, whose, "the interface shows none for the key set", "https://keys.example")?;
        let paths = ["/.well-known/browser-verdict-jwks.json", "/.well-known"];
        url.above(given, whose, "the key set's own paths", &paths)
    }

    /// The address.
    pub fn as_url(&self) -> &Url {
        &self.0
    }

    fn parse(given: &str, whose: &'static str, nobody: &str, example: &str) -> Result<Self, BaseUrlError> {
        let refuse = |why: &str, advice: &str| refuse(given, whose, why, advice);
        let whole = format!("give a whole one, such as {example} or http://127.0.0.1:8080");
        let mut url = Url::parse(given).map_err(|why| refuse(&why.to_string(), &whole))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(refuse("it is neither http nor https", &whole));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(refuse("it holds a user name", &format!("leave it out: {nobody}")));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(refuse("it goes on after its path", "leave out what begins with ? or #"));
        }
        if url.port() == Some(0) {
            return Err(refuse("nobody can listen on port 0", &whole));
        }
        let base = url.path().trim_end_matches('/').to_owned();
        url.set_path(&base);
        Ok(Self(url))
    }

    /// Refuses the address of one of the paths themselves.
    fn above(
        self,
        given: &str,
        whose: &'static str,
        paths: &str,
        own: &[&str],
    ) -> Result<Self, BaseUrlError> {
        let base = self.0.path().trim_end_matches('/');
        let Some(base) = own.iter().find_map(|path| base.strip_suffix(path)) else { return Ok(self) };
        let mut url = self.0.clone();
        url.set_path(base);
        let advice = format!("give the address that the interface's paths are below: {url}");
        Err(refuse(given, whose, &format!("it is the address of one of {paths}"), &advice))
    }

    /// Refuses to send credentials where anybody on the way can read them.
    fn guarded(self, given: &str, whose: &'static str) -> Result<Self, BaseUrlError> {
        if self.0.scheme() == "https" || self.is_loopback() {
            return Ok(self);
        }
        let advice = "use https://; http:// is for services on this machine (localhost, 127.0.0.1, [::1])";
        Err(refuse(given, whose, "credentials would travel in clear text", advice))
    }

    fn is_loopback(&self) -> bool {
        match self.0.host() {
            Some(url::Host::Ipv4(ip)) => ip.is_loopback(),
            Some(url::Host::Ipv6(ip)) => ip.is_loopback(),
            // Names below localhost are this machine as well (RFC 6761 §6.3), but not every resolver knows.
            Some(url::Host::Domain(name)) => name == "localhost",
            None => false,
        }
    }
}

fn refuse(given: &str, whose: &'static str, why: &str, advice: &str) -> BaseUrlError {
    BaseUrlError { given: without_password(given), whose, why: why.to_owned(), advice: advice.to_owned() }
}

/// For messages.
fn without_password(given: &str) -> String {
    match (given.find("://"), given.rfind('@')) {
        (Some(scheme), Some(at)) if scheme + 3 <= at => format!("{}…{}", &given[..scheme + 3], &given[at..]),
        _ => given.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("https://service.example", true)]
    #[case("https://service.example/eu/", true)]
    #[case("http://localhost:8080", true)]
    #[case("http://127.9.9.9", true)]
    #[case("http://[::1]:8080", true)]
    #[case("http://service.example", false)]
    #[case("http://localhost.example", false)]
    #[case("http://10.0.0.1", false)]
    #[case("ftp://service.example", false)]
    #[case("https://service.example/v1/verdict", false)]
    #[case("https://service.example?a=b", false)]
    #[case("service.example", false)]
    fn takes_a_service_where_credentials_are_safe(#[case] given: &str, #[case] taken: bool) {
        assert_eq!(BaseUrl::of_service(given).is_ok(), taken);
    }

    #[test]
    fn tells_why_not() {
        let told = |given| {
            let error = BaseUrl::of_service(given).unwrap_err();
            format!("{error} | {}", error.advice)
        };
        insta::assert_snapshot!(told("http://service.example"), @r#"use "http://service.example" as the address of a service: credentials would travel in clear text | use https://; http:// is for services on this machine (localhost, 127.0.0.1, [::1])"#);
        insta::assert_snapshot!(told("https://name:password@service.example"), @r#"use "https://…@service.example" as the address of a service: it holds a user name | leave it out: a read token is what opens a service"#);
        insta::assert_snapshot!(told("https://service.example/v1/verdict/"), @r#"use "https://service.example/v1/verdict/" as the address of a service: it is the address of one of the service's paths | give the address that the interface's paths are below: https://service.example/"#);
    }
}
