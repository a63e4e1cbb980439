use base64::Engine;
use base64::alphabet;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use serde_json::Value;

/// Fewest numbers of a list that stands for bytes.
const FEWEST: usize = 16;

/// The parts of a text that can be base64, of at least this length (characters).
pub(super) fn words(text: &str, shortest: usize) -> impl Iterator<Item = &str> {
    let is_base64 = |letter: char| letter.is_ascii_alphanumeric() || "+/-_=".contains(letter);
    text.split(move |letter| !is_base64(letter)).filter(move |word| word.len() >= shortest)
}

/// The bytes of base64 in either alphabet, with or without padding. None: the word is none.
pub(super) fn base64(word: &str) -> Option<Vec<u8>> {
    let config = GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true);
    [&alphabet::URL_SAFE, &alphabet::STANDARD]
        .into_iter()
        .find_map(|alphabet| GeneralPurpose::new(alphabet, config).decode(word).ok())
}

/// The bytes of hexadecimal digits. None: the word is none.
pub(super) fn hex(word: &str) -> Option<Vec<u8>> {
    if !word.len().is_multiple_of(2) || !word.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    (0..word.len()).step_by(2).map(|at| u8::from_str_radix(&word[at..at + 2], 16).ok()).collect()
}

/// A list of numbers that are bytes. None: it is another list, or a short one.
pub(super) fn list_of_bytes(items: &[Value]) -> Option<Vec<u8>> {
    let byte = |item: &Value| item.as_u64().and_then(|number| u8::try_from(number).ok());
    if items.len() < FEWEST { None } else { items.iter().map(byte).collect() }
}
