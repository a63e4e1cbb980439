use std::fmt;

use edgeproof_fixtures::credentials::{Credentials, LICENSE_PREFIX, READ_PREFIX, Redactor};
use http::HeaderValue;

/// Removes secrets from recorded requests: credentials of the mock service become labels, other tokens `[token]`.
pub struct TokenRedactor(Redactor);

/// Prefixes of tokens.
const MARKS: [&str; 3] = [LICENSE_PREFIX, READ_PREFIX, "v4.public."];

impl TokenRedactor {
    /// A redactor for these credentials.
    pub fn new(credentials: &Credentials) -> Self {
        Self(Redactor::new(credentials))
    }

    /// Text without secrets. Magic values stay: they are not secret.
    pub fn text(&self, text: &str) -> String {
        let text = self.0.redact(text);
        if !MARKS.iter().any(|mark| text.contains(mark)) {
            return text.into_owned();
        }
        let mut shown = String::with_capacity(text.len());
        let mut rest: &str = &text;
        while !rest.is_empty() {
            let end = rest.find(|c| !is_token_char(c)).unwrap_or(rest.len());
            let (word, after) = rest.split_at(end);
            let secret = MARKS.iter().any(|mark| word.contains(mark)) && !is_magic(word);
            shown.push_str(if secret { "[token]" } else { word });
            let between = after.find(is_token_char).unwrap_or(after.len());
            let (between, next) = after.split_at(between);
            shown.push_str(between);
            rest = next;
        }
        shown
    }

    /// Header value without secrets. A sensitive value in an unknown form becomes `[hidden]`.
    pub fn header(&self, value: &HeaderValue) -> String {
        let text = String::from_utf8_lossy(value.as_bytes());
        let shown = self.text(&text);
        let magic = text.split_whitespace().last().is_some_and(is_magic);
        if value.is_sensitive() && shown == text && !magic { "[hidden]".to_owned() } else { shown }
    }
}

impl fmt::Debug for TokenRedactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenRedactor")
    }
}

fn is_token_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')
}

fn is_magic(word: &str) -> bool {
    [LICENSE_PREFIX, READ_PREFIX]
        .iter()
        .any(|prefix| word.strip_prefix(prefix).is_some_and(|rest| rest.starts_with("magic.")))
}

#[cfg(test)]
mod tests {
    use edgeproof_fixtures::credentials::{LicenseForm, MintOptions, ReadTokenForm};
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("/v1/verdict/order%204711?waitMs=5", "/v1/verdict/order%204711?waitMs=5")]
    #[case("/relay?l=service_license_v4.public.abc-_.def&x=1", "/relay?l=[token]&x=1")]
    #[case("a vendor_v4.public.x, b", "a [token], b")]
    #[case("Bearer service_read_magic.verdict.401.expired", "Bearer service_read_magic.verdict.401.expired")]
    #[case("ü service_read_ü", "ü [token]ü")]
    fn foreign_token_is_redacted(#[case] text: &str, #[case] shown: &str) {
        let credentials = Credentials::mint(&MintOptions::default()).unwrap();
        assert_eq!(TokenRedactor::new(&credentials).text(text), shown);
    }

    #[test]
    fn own_credential_becomes_its_label() {
        let credentials = Credentials::mint(&MintOptions::default()).unwrap();
        let redactor = TokenRedactor::new(&credentials);
        let (license, token) =
            (credentials.license(LicenseForm::Valid), credentials.read_token(ReadTokenForm::Expired));
        let shown = redactor.text(&format!("{license} {token}"));
        assert!(shown.starts_with("[license valid ") && shown.contains("[read-token expired "), "{shown}");
        let mut basic = HeaderValue::from_static("Digest abc");
        assert_eq!(redactor.header(&basic), "Digest abc");
        basic.set_sensitive(true);
        assert_eq!(redactor.header(&basic), "[hidden]");
    }
}
