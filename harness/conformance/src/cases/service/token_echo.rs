use edgeproof_fixtures::credentials::Redactor;

use super::damage;

/// Finds a token in an answer: its signature or a part of that, in any encoding. Claims and key ids are public, and answers
/// share them: a code such as `unknown_kid:<suffix>` repeats one.
pub(crate) fn token_echo(token: &str) -> impl Fn(&[u8]) -> bool + use<> {
    let mut redactor = Redactor::empty();
    // A token of one part can have its signature anywhere.
    let secret = if token.contains('.') { &token[damage::signature(token)] } else { token };
    redactor.add("read token", secret);
    move |bytes: &[u8]| redactor.finds(bytes)
}
