use edgeproof_fixtures::spec::{Endpoint, Spec};
use url::Url;

/// Base URL of a part under test: `http` or `https`, a host, and the path that the interface's paths begin below, if
/// any.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaseUrl(Url);

/// Text that is no valid base URL.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, miette::Diagnostic)]
#[error("cannot use {given:?} as the base URL of {whose}: {why}")]
#[diagnostic(help("{advice}"))]
pub struct BaseUrlError {
    given: String,
    whose: &'static str,
    why: String,
    advice: String,
}

impl BaseUrl {
    /// Parses the base URL of an edge.
    pub fn of_edge(given: &str, spec: &Spec) -> Result<Self, BaseUrlError> {
        let url = Self::parse(
            given,
            "an edge",
            "the page presents no credential to an edge",
            "https://edge.example",
        )?;
        url.above(
            given,
            "an edge",
            "the edge's paths",
            &[spec.path(Endpoint::Signals), spec.path(Endpoint::Health)],
        )
    }

    /// Parses the base URL of a service. `http` is allowed for this machine only, because a read token travels.
    pub fn of_service(given: &str, spec: &Spec) -> Result<Self, BaseUrlError> {
        let whose = "a service";
        let url = Self::parse(given, whose, "the service takes a read token", "https://service.example")?;
        let verdicts = spec.verdict_path().prefix().trim_end_matches('/');
        url.above(given, whose, "the service's paths", &[verdicts])?.guarded(given, whose)
    }

    /// Parses the base URL of a key set.
    pub fn of_keys(given: &str, spec: &Spec) -> Result<Self, BaseUrlError> {
        let whose = "a key set";
        let url = Self::parse(
            given,
            whose,
            "the interface shows no credential for the key set",
            "https://keys.example",
        )?;
        let path = spec.path(Endpoint::KeySet);
        let folder = path.rsplit_once('/').map_or(path, |(folder, _)| folder);
        url.above(given, whose, "the key set's own paths", &[path, folder])
    }

    /// The URL.
    pub fn as_url(&self) -> &Url {
        &self.0
    }

    fn parse(
        given: &str,
        whose: &'static str,
        user_name_advice: &str,
        example: &str,
    ) -> Result<Self, BaseUrlError> {
        let refuse = |why: &str, advice: &str| refuse(given, whose, why, advice);
        let whole = format!("give a full URL, such as {example} or http://127.0.0.1:8080");
        let mut url = Url::parse(given).map_err(|why| refuse(&why.to_string(), &whole))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(refuse("its scheme is neither http nor https", &whole));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(refuse("it contains a user name", &format!("remove it: {user_name_advice}")));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(refuse("it has a query or a fragment", "remove everything from ? or # on"));
        }
        if url.port() == Some(0) {
            return Err(refuse("port 0 is invalid", &whole));
        }
        let base = url.path().trim_end_matches('/').to_owned();
        url.set_path(&base);
        Ok(Self(url))
    }

    /// Refuses a URL that already contains one of the interface's paths.
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
        let advice = format!("give the URL that the interface's paths are below: {url}");
        Err(refuse(given, whose, &format!("it already contains one of {paths}"), &advice))
    }

    /// Refuses plain `http` to another machine: credentials would travel in clear text.
    fn guarded(self, given: &str, whose: &'static str) -> Result<Self, BaseUrlError> {
        if self.0.scheme() == "https" || self.is_loopback() {
            return Ok(self);
        }
        let advice = "use https://; http:// is for services on this machine (localhost, 127.0.0.1, [::1])";
        Err(refuse(given, whose, "credentials would be sent unencrypted", advice))
    }

    fn is_loopback(&self) -> bool {
        match self.0.host() {
            Some(url::Host::Ipv4(ip)) => ip.is_loopback(),
            Some(url::Host::Ipv6(ip)) => ip.is_loopback(),
            // Names below `localhost` are loopback (RFC 6761 §6.3), but some resolvers disagree.
            Some(url::Host::Domain(name)) => name == "localhost",
            None => false,
        }
    }
}

fn refuse(given: &str, whose: &'static str, why: &str, advice: &str) -> BaseUrlError {
    BaseUrlError { given: without_password(given), whose, why: why.to_owned(), advice: advice.to_owned() }
}

/// The URL without its password, for messages.
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
    fn http_service_url_must_be_loopback(#[case] given: &str, #[case] taken: bool) {
        assert_eq!(BaseUrl::of_service(given, Spec::current()).is_ok(), taken);
    }

    #[test]
    fn invalid_base_url_names_reason_and_fix() {
        let rendered = |given| {
            let error = BaseUrl::of_service(given, Spec::current()).unwrap_err();
            format!("{error} | {}", error.advice)
        };
        insta::assert_snapshot!(rendered("http://service.example"), @r#"cannot use "http://service.example" as the base URL of a service: credentials would be sent unencrypted | use https://; http:// is for services on this machine (localhost, 127.0.0.1, [::1])"#);
        insta::assert_snapshot!(rendered("https://name:password@service.example"), @r#"cannot use "https://…@service.example" as the base URL of a service: it contains a user name | remove it: the service takes a read token"#);
        insta::assert_snapshot!(rendered("https://service.example/v1/verdict/"), @r#"cannot use "https://service.example/v1/verdict/" as the base URL of a service: it already contains one of the service's paths | give the URL that the interface's paths are below: https://service.example/"#);
    }
}
