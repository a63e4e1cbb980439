/// The bytes of a text in which `%` and two hexadecimal digits stand for a byte (RFC 3986, 2.1). Another `%` stands for
/// itself.
pub(crate) fn decode(text: &[u8]) -> Vec<u8> {
    let mut rest = text;
    let mut decoded = Vec::with_capacity(rest.len());
    while let [first, tail @ ..] = rest {
        let code = match tail {
            [high, low, after @ ..] if *first == b'%' => {
                hex(*high).zip(hex(*low)).map(|(high, low)| (high << 4 | low, after))
            }
            _ => None,
        };
        let (byte, after) = code.unwrap_or((*first, tail));
        decoded.push(byte);
        rest = after;
    }
    decoded
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).map(|digit| digit as u8)
}
