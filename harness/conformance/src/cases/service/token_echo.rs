use std::collections::HashSet;

use edgeproof_fixtures::credentials::Redactor;

use super::damage;

/// Minimum length of a token's piece that cannot be a coincidence, in characters.
const PIECE: usize = 24;

/// Finds a token in an answer: in any encoding, or a piece of its signature.
pub(crate) fn token_echo(token: &str) -> impl Fn(&[u8]) -> bool + use<> {
    let mut redactor = Redactor::empty();
    // Claims and key ids are public, and answers share them: a code such as `unknown_kid:<suffix>` repeats one.
    let secret = if token.contains('.') { &token[damage::signature(token)] } else { token };
    redactor.add("read token", secret);
    let hex = token.bytes().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"));
    let signature = &token.as_bytes()[damage::signature(token)];
    let pieces: HashSet<Vec<u8>> =
        signature.windows(PIECE).chain(hex.as_bytes().windows(2 * PIECE)).map(<[u8]>::to_vec).collect();
    move |bytes: &[u8]| {
        redactor.finds(bytes)
            || bytes.windows(PIECE).any(|window| pieces.contains(window))
            || bytes.windows(2 * PIECE).any(|window| pieces.contains(window.to_ascii_lowercase().as_slice()))
    }
}
