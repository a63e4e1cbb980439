use std::ops::Range;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use edgeproof_fixtures::credentials::READ_PREFIX;
use edgeproof_fixtures::spec::Stimulus;
use serde_json::Value;
use strum::VariantArray;

/// Ways to damage a read token of an unknown format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, VariantArray)]
pub enum Damage {
    /// The second half is missing.
    Truncated,
    /// One character of the payload is changed.
    Payload,
    /// One character of the signature is changed.
    Signature,
    /// One character of the footer is changed, or of the header in a token without a footer.
    Footer,
    /// The last part is missing.
    WithoutLastPart,
    /// Its letters have the other case.
    Letters,
    /// Text is appended.
    Appended,
    /// Only the prefix is left.
    PrefixAlone,
    /// Arbitrary text follows the prefix.
    Invented,
}

impl Damage {
    /// The part of the case id that names this damage.
    pub(in crate::cases) fn slug(self) -> &'static str {
        match self {
            Self::Truncated => "truncated",
            Self::Payload => "payload-altered",
            Self::Signature => "signature-altered",
            Self::Footer => "footer-altered",
            Self::WithoutLastPart => "last-part-missing",
            Self::Letters => "letters-swapped",
            Self::Appended => "appended",
            Self::PrefixAlone => "prefix-alone",
            Self::Invented => "invented",
        }
    }

    /// What follows "a read token" in a title.
    pub(in crate::cases) fn description(self) -> &'static str {
        match self {
            Self::Truncated => "without its second half",
            Self::Payload => "with a changed payload",
            Self::Signature => "with a changed signature",
            Self::Footer => "with a changed footer or header",
            Self::WithoutLastPart => "without its last part",
            Self::Letters => "with letters of the other case",
            Self::Appended => "with appended text",
            Self::PrefixAlone => "that is only the prefix",
            Self::Invented => "that is arbitrary text after the prefix",
        }
    }

    /// The refusal that a token of a usual format gets. A changed payload breaks the signature.
    pub(super) fn usual_stimulus(self) -> Option<Stimulus> {
        match self {
            Self::Truncated => Some(Stimulus::ReadTokenTruncated),
            Self::Payload | Self::Signature => Some(Stimulus::ReadTokenSignatureAltered),
            Self::Invented => Some(Stimulus::ReadTokenMalformed),
            Self::Footer | Self::WithoutLastPart | Self::Letters | Self::Appended | Self::PrefixAlone => None,
        }
    }

    /// The damaged token. None: the token has no such part.
    pub(in crate::cases) fn apply(self, token: &str) -> Option<String> {
        let parts = TokenParts::of(token);
        match self {
            Self::Truncated => {
                let rest = token.len() - parts.prefix_end;
                Some(chars_up_to(token, parts.prefix_end + rest / 2))
            }
            Self::Payload => alter(token, &parts.payload),
            Self::Signature => alter(token, &parts.signature),
            Self::Footer => alter(token, &parts.footer_or_header?),
            Self::WithoutLastPart => {
                let dot = token[parts.prefix_end..].rfind('.')?;
                Some(token[..parts.prefix_end + dot].to_owned())
            }
            Self::Letters => {
                let (prefix, rest) = token.split_at(parts.prefix_end);
                let swapped = rest.chars().map(|letter| {
                    if letter.is_ascii_lowercase() {
                        letter.to_ascii_uppercase()
                    } else {
                        letter.to_ascii_lowercase()
                    }
                });
                Some(format!("{prefix}{}", swapped.collect::<String>())).filter(|swapped| swapped != token)
            }
            Self::Appended => Some(format!("{token}.edgeproof")),
            Self::PrefixAlone => Some(READ_PREFIX.to_owned()),
            Self::Invented => Some(format!("{READ_PREFIX}not-a-token-but-edgeproof")),
        }
    }
}

/// Position of a token's signature: its last part, or the second half of its longest part, if its format is unknown.
pub(super) fn signature(token: &str) -> Range<usize> {
    TokenParts::of(token).signature
}

/// Positions of the parts of a token.
struct TokenParts {
    /// End of the prefix.
    prefix_end: usize,
    payload: Range<usize>,
    signature: Range<usize>,
    /// Footer or header.
    footer_or_header: Option<Range<usize>>,
}

impl TokenParts {
    /// Finds the parts of a PASETO, of a JWS, or of claims with a signature. Of another token with several parts, the last
    /// one is the signature if it is long enough. In any other token the payload is the first half of the longest part,
    /// and the signature its second half.
    fn of(token: &str) -> Self {
        /// Length of an Ed25519 signature in base64url. A public PASETO ends its body with it.
        const SIGNATURE: usize = 86;
        /// Length of the shortest signature of other formats: 18 bytes in base64.
        const SHORTEST_SIGNATURE: usize = 24;
        let prefix_end = if token.starts_with(READ_PREFIX) { READ_PREFIX.len() } else { 0 };
        let parts = parts(token, prefix_end);
        let text = |index: usize| &token[parts[index].clone()];
        let is_paseto = parts.len() >= 3 && text(0).starts_with('v') && matches!(text(1), "public" | "local");
        if is_paseto {
            let body = parts[2].clone();
            let signature = body.end.saturating_sub(SIGNATURE).max(body.start);
            return Self {
                prefix_end,
                payload: body.start..signature.max(body.start + 1).min(body.end),
                signature: signature..body.end,
                footer_or_header: parts.get(3).cloned().filter(|footer| !footer.is_empty()),
            };
        }
        if let [header, payload, signature] = parts.as_slice() {
            let footer_or_header = Some(header.clone());
            return Self {
                prefix_end,
                payload: payload.clone(),
                signature: signature.clone(),
                footer_or_header,
            };
        }
        if let [claims, signature] = parts.as_slice()
            && is_json(&token[claims.clone()])
        {
            let (payload, signature) = (claims.clone(), signature.clone());
            return Self { prefix_end, payload, signature, footer_or_header: None };
        }
        if let [others @ .., signature] = parts.as_slice()
            && signature.len() >= SHORTEST_SIGNATURE
            && let Some(payload) = others.iter().max_by_key(|part| part.len())
        {
            let (payload, signature) = (payload.clone(), signature.clone());
            let footer_or_header =
                others.iter().rev().find(|part| **part != payload && !part.is_empty()).cloned();
            return Self { prefix_end, payload, signature, footer_or_header };
        }
        let longest = parts.iter().max_by_key(|part| part.len()).cloned().unwrap_or(prefix_end..token.len());
        let middle = longest.start + longest.len() / 2;
        let last = parts.last().cloned().filter(|_| parts.len() > 1);
        Self {
            prefix_end,
            payload: longest.start..middle,
            signature: middle..longest.end,
            footer_or_header: last,
        }
    }
}

/// Whether a part of a token is a JSON object in base64url.
fn is_json(part: &str) -> bool {
    let bytes = URL_SAFE_NO_PAD.decode(part).unwrap_or_default();
    serde_json::from_slice::<Value>(&bytes).is_ok_and(|json| json.is_object())
}

/// Ranges of the parts between dots.
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
    // A token with other characters than ASCII does not fit into a header.
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
    #[case::four_parts("service_read_v1.eyJsaWQiOiJsaWNfb3duIn0.k1.c2lnbmF0dXJlLW9mLXRoZS10b2tlbi1pdHNlbGY".into())]
    fn every_damage_changes_the_token(#[case] token: String) {
        let damaged: Vec<String> =
            Damage::VARIANTS.iter().filter_map(|damage| damage.apply(&token)).collect();
        // In a token of two parts, some damages give the same text.
        assert!(damaged.iter().collect::<BTreeSet<_>>().len() >= 6, "{damaged:?}");
        for damaged in damaged {
            assert_ne!(damaged, token);
            assert!(damaged.starts_with(READ_PREFIX));
        }
    }

    #[test]
    fn each_damage_changes_its_own_part() {
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
    fn short_and_strange_tokens_do_not_panic(#[case] token: &str) {
        for &damage in Damage::VARIANTS {
            damage.apply(token);
        }
    }
}
