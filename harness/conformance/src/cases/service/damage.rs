use std::ops::Range;

use edgeproof_fixtures::credentials::READ_PREFIX;
use edgeproof_fixtures::spec::Stimulus;

/// Ways to damage a read token of which nothing is known but that it begins as read tokens do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Damage {
    /// Its second half is cut off.
    Truncated,
    /// A character of its payload is another.
    Payload,
    /// A character of its signature is another.
    Signature,
    /// A character of its footer is another; of a token without one, of its header.
    Footer,
    /// Its last part is left out.
    WithoutLastPart,
    /// Something is added at its end.
    Appended,
    /// Only its beginning is there.
    PrefixAlone,
    /// After its beginning comes a sentence.
    Invented,
}

impl Damage {
    pub(super) const ALL: [Self; 8] = [
        Self::Truncated,
        Self::Payload,
        Self::Signature,
        Self::Footer,
        Self::WithoutLastPart,
        Self::Appended,
        Self::PrefixAlone,
        Self::Invented,
    ];

    /// A slug, and what it says of the token.
    pub(super) fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Truncated => ("truncated", "cut in its middle"),
            Self::Payload => ("payload-altered", "with an altered payload"),
            Self::Signature => ("signature-altered", "with an altered signature"),
            Self::Footer => ("footer-altered", "with an altered footer or header"),
            Self::WithoutLastPart => ("last-part-missing", "without its last part"),
            Self::Appended => ("appended", "with something added at its end"),
            Self::PrefixAlone => ("prefix-alone", "of which only the beginning is there"),
            Self::Invented => ("invented", "that only begins like one"),
        }
    }

    /// The cause of the refusal where the service is ours: what is altered below a signature breaks the signature.
    pub(super) fn mock_cause(self) -> Option<Stimulus> {
        match self {
            Self::Truncated => Some(Stimulus::ReadTokenTruncated),
            Self::Payload | Self::Signature => Some(Stimulus::ReadTokenSignatureAltered),
            Self::Invented => Some(Stimulus::ReadTokenMalformed),
            Self::Footer | Self::WithoutLastPart | Self::Appended | Self::PrefixAlone => None,
        }
    }

    /// The token, damaged so; none if it has no such place.
    pub(super) fn apply(self, token: &str) -> Option<String> {
        let parts = TokenParts::of(token);
        match self {
            Self::Truncated => {
                let rest = token.len() - parts.beginning;
                Some(chars_up_to(token, parts.beginning + rest / 2))
            }
            Self::Payload => alter(token, &parts.payload),
            Self::Signature => alter(token, &parts.signature),
            Self::Footer => alter(token, &parts.beside?),
            Self::WithoutLastPart => {
                let dot = token[parts.beginning..].rfind('.')?;
                Some(token[..parts.beginning + dot].to_owned())
            }
            Self::Appended => Some(format!("{token}.edgeproof")),
            Self::PrefixAlone => Some(READ_PREFIX.to_owned()),
            Self::Invented => Some(format!("{READ_PREFIX}not-a-token-but-edgeproof")),
        }
    }
}

/// Where the parts of a token are.
struct TokenParts {
    /// Where its prefix ends.
    beginning: usize,
    payload: Range<usize>,
    signature: Range<usize>,
    /// Footer or header.
    beside: Option<Range<usize>>,
}

impl TokenParts {
    /// PASETO and JWS are known; of any other, the payload is the longest part's first half and the signature its end.
    fn of(token: &str) -> Self {
        /// Length of an Ed25519 signature in base64url, at the end of what a public PASETO signs.
        const SIGNATURE: usize = 86;
        let beginning = if token.starts_with(READ_PREFIX) { READ_PREFIX.len() } else { 0 };
        let parts = parts(token, beginning);
        let text = |index: usize| &token[parts[index].clone()];
        let is_paseto = parts.len() >= 3 && text(0).starts_with('v') && matches!(text(1), "public" | "local");
        if is_paseto {
            let body = parts[2].clone();
            let signature = body.end.saturating_sub(SIGNATURE).max(body.start);
            return Self {
                beginning,
                payload: body.start..signature.max(body.start + 1).min(body.end),
                signature: signature..body.end,
                beside: parts.get(3).cloned().filter(|footer| !footer.is_empty()),
            };
        }
        if let [header, payload, signature] = parts.as_slice() {
            let beside = Some(header.clone());
            return Self { beginning, payload: payload.clone(), signature: signature.clone(), beside };
        }
        let longest = parts.iter().max_by_key(|part| part.len()).cloned().unwrap_or(beginning..token.len());
        let middle = longest.start + longest.len() / 2;
        let last = parts.last().cloned().filter(|_| parts.len() > 1);
        Self { beginning, payload: longest.start..middle, signature: middle..longest.end, beside: last }
    }
}

/// The parts between dots.
fn parts(token: &str, from: usize) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let mut start = from;
    for (at, _) in token[from..].match_indices('.') {
        parts.push(start..from + at);
        start = from + at + 1;
    }
    parts.push(start..token.len());
    parts
}

/// Another character in the middle of a range: at an end, base64 may have bits that no byte needs.
fn alter(token: &str, range: &Range<usize>) -> Option<String> {
    let at = range.start + range.len() / 2;
    let byte = *token.as_bytes().get(at).filter(|_| !range.is_empty())?;
    let other = match byte {
        b'0'..=b'8' | b'a'..=b'y' | b'A'..=b'Y' => byte + 1,
        b'9' => b'0',
        b'z' => b'a',
        _ => b'A',
    };
    let mut bytes = token.as_bytes().to_vec();
    bytes[at] = other;
    // A token of other than ASCII would be none that fits into a header.
    String::from_utf8(bytes).ok()
}

fn chars_up_to(token: &str, end: usize) -> String {
    let end = (0..=end).rev().find(|end| token.is_char_boundary(*end)).unwrap_or(0);
    token[..end].to_owned()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use edgeproof_fixtures::credentials::{Credentials, MintOptions, ReadTokenForm};
    use rstest::rstest;

    use super::*;

    fn paseto() -> String {
        Credentials::mint(&MintOptions::default()).unwrap().read_token(ReadTokenForm::Valid)
    }

    #[rstest]
    #[case::paseto(paseto())]
    #[case::jws("service_read_eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJlLW9mLWl0".into())]
    #[case::paseto_without_footer("service_read_v4.public.eyJzdWIiOiJhIn0eyJzdWIiOiJhIn0".into())]
    #[case::opaque("service_read_9f86d081884c7d659a2feaa0c55ad015".into())]
    #[case::two_parts("service_read_0123456789abcdef.fedcba9876543210".into())]
    fn every_damage_makes_another_token(#[case] token: String) {
        let damaged: Vec<String> = Damage::ALL.iter().filter_map(|damage| damage.apply(&token)).collect();
        // Of a token of two parts, to cut it off and to drop its last part is the same.
        assert!(damaged.iter().collect::<BTreeSet<_>>().len() >= 6, "{damaged:?}");
        for damaged in damaged {
            assert_ne!(damaged, token);
            assert!(damaged.starts_with(READ_PREFIX));
        }
    }

    #[test]
    fn each_part_is_altered_where_it_is() {
        let token = "service_read_hhhhhh.pppppp.ssssss";
        let altered = |damage: Damage| damage.apply(token).unwrap();
        assert_eq!(altered(Damage::Payload), "service_read_hhhhhh.pppqpp.ssssss");
        assert_eq!(altered(Damage::Signature), "service_read_hhhhhh.pppppp.ssstss");
        assert_eq!(altered(Damage::Footer), "service_read_hhhihh.pppppp.ssssss");
        assert_eq!(altered(Damage::WithoutLastPart), "service_read_hhhhhh.pppppp");
    }

    #[rstest]
    #[case("service_read_")]
    #[case("service_read_.")]
    #[case("service_read_v4.public.")]
    #[case("service_read_ä.ö.ü")]
    #[case("")]
    fn nothing_is_too_short_or_too_strange(#[case] token: &str) {
        for damage in Damage::ALL {
            damage.apply(token);
        }
    }
}
