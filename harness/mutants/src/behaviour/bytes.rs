use memchr::memmem;

use super::seen::Seen;

/// Where bytes stand in an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Target,
    /// The values of the request's fields.
    Fields,
    Body,
    /// The body of the service's reply.
    Reply,
    /// The decoded session reference.
    Reference,
}

/// A class of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ByteClass {
    Nul,
    Tab,
    LineEnd,
    /// Another byte below the space.
    Control,
    Delete,
    /// A byte that no ASCII text has.
    NotAscii,
    /// A character of two bytes in UTF-8.
    TwoBytes,
    ThreeBytes,
    FourBytes,
    NotUtf8,
    ByteOrderMark,
    /// A character that changes the direction of the text.
    Direction,
    /// This text.
    Text(&'static str),
}

impl Place {
    /// Whether the place has bytes of a class.
    pub(super) fn has(self, class: ByteClass, seen: &Seen<'_>) -> bool {
        match self {
            Self::Target => [seen.target, seen.query].iter().any(|text| class.is_in(text.as_bytes())),
            Self::Fields => seen.headers.values().any(|value| class.is_in(value.as_bytes())),
            Self::Body => seen.body.is_some_and(|body| class.is_in(body)),
            Self::Reply => class.is_in(&seen.reply().1),
            Self::Reference => class.is_in(seen.reference.as_bytes()),
        }
    }
}

impl ByteClass {
    fn is_in(self, bytes: &[u8]) -> bool {
        let any = |of: fn(u8) -> bool| bytes.iter().any(|byte| of(*byte));
        let has = |text: &str| memmem::find(bytes, text.as_bytes()).is_some();
        let is_text = || std::str::from_utf8(bytes).is_ok();
        match self {
            Self::Nul => any(|byte| byte == 0),
            Self::Tab => any(|byte| byte == b'\t'),
            Self::LineEnd => any(|byte| matches!(byte, b'\r' | b'\n')),
            Self::Control => any(|byte| matches!(byte, 1..=8 | 11 | 12 | 14..=31)),
            Self::Delete => any(|byte| byte == 127),
            Self::NotAscii => any(|byte| byte >= 128),
            Self::TwoBytes => any(|byte| (0xc2..0xe0).contains(&byte)) && is_text(),
            Self::ThreeBytes => any(|byte| (0xe0..0xf0).contains(&byte)) && is_text(),
            Self::FourBytes => any(|byte| (0xf0..0xf5).contains(&byte)) && is_text(),
            Self::NotUtf8 => any(|byte| byte >= 128) && !is_text(),
            Self::ByteOrderMark => bytes.starts_with(b"\xef\xbb\xbf"),
            Self::Direction => ["\u{200f}", "\u{202e}", "\u{2066}", "\u{2067}"].into_iter().any(has),
            Self::Text(text) => has(text),
        }
    }
}
