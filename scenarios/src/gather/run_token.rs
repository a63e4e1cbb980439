use http::HeaderValue;
use sha2::{Digest as _, Sha256};

/// The secret that the shards of a run and its gather share. It is never shown.
#[derive(Clone)]
pub struct RunToken(HeaderValue);

/// Why a text is no token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// Empty.
    #[error("it is empty")]
    Empty,
    /// A line break, or another byte that no header field has.
    #[error("it has bytes that no header field may have")]
    Invalid,
}

impl RunToken {
    /// A token. White space around it is left out.
    pub fn new(text: &str) -> Result<Self, TokenError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(TokenError::Empty);
        }
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(TokenError::Invalid);
        }
        let mut value = HeaderValue::try_from(format!("Bearer {text}")).map_err(|_| TokenError::Invalid)?;
        value.set_sensitive(true);
        Ok(Self(value))
    }

    /// The value of the `Authorization` field.
    pub(super) fn header(&self) -> &str {
        self.0.to_str().expect("a token has visible characters only")
    }

    /// Whether this `Authorization` field has the token. The time does not tell how much of it is right.
    pub(super) fn is(&self, given: Option<&HeaderValue>) -> bool {
        let digest = |value: &HeaderValue| Sha256::digest(value.as_bytes());
        given.is_some_and(|given| digest(given) == digest(&self.0))
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::plain("s3cret", true)]
    #[case::of_a_file("s3cret\n", true)]
    #[case::empty(" \n", false)]
    #[case::two_lines("a\nb", false)]
    #[case::not_ascii("pässword", false)]
    fn token_is_one_visible_word(#[case] text: &str, #[case] valid: bool) {
        assert_eq!(RunToken::new(text).is_ok(), valid);
    }

    #[test]
    fn only_the_same_token_is_right() {
        let token = RunToken::new("s3cret").unwrap();
        let is = |value: &'static str| token.is(Some(&HeaderValue::from_static(value)));
        assert!(is("Bearer s3cret") && !is("Bearer s3cre") && !is("s3cret") && !is("") && !token.is(None));
    }
}
