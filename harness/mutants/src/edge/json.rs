use std::fmt::Write as _;

use serde_json::value::RawValue;

/// Deepest nesting that a parser reads.
const MAX_DEPTH: usize = 600;
/// Deepest nesting that serde reads.
const SERDE_DEPTH: usize = 127;

/// JSON library, which decides how JSON looks after it was parsed and serialised again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    /// `JSON.parse` and `JSON.stringify`.
    JavaScript,
    /// `json.loads` and `json.dumps`.
    Python,
    /// `json.loads`, and the argument `json` of httpx.
    Httpx,
    /// `encoding/json` with `map[string]any`.
    Go,
    /// `json_decode` with arrays, and `json_encode`.
    Php,
    /// Jackson with a `Map`.
    Jackson,
    /// `serde_json::Value` in Rust.
    Serde,
}

/// Parsed JSON. Numbers keep their spelling, because dialects read them differently.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Json {
    Null,
    Bool(bool),
    Number(String),
    Text(String),
    /// Token of a text that contains a lone surrogate, with its quotes.
    LoneSurrogate(String),
    List(Vec<Json>),
    /// Members, without repeated names: the first place and the last value count.
    Object(Vec<(String, Json)>),
}

impl Json {
    /// Parses a complete text. `None`: it is not JSON, or nested too deeply.
    pub(super) fn parse(text: &str, dialect: Dialect) -> Option<Self> {
        let depth = if dialect == Dialect::Serde { SERDE_DEPTH } else { MAX_DEPTH };
        let mut parser = Parser(text);
        let value = parser.value(depth)?;
        parser.skip_space();
        parser.0.is_empty().then_some(value)
    }

    /// Serialises the value. `None`: the library raises an error.
    pub(super) fn serialise(&self, dialect: Dialect) -> Option<String> {
        let mut out = String::new();
        self.write(dialect, &mut out)?;
        Some(out)
    }

    /// Whether a text contains a lone surrogate.
    pub(super) fn has_lone_surrogate(&self) -> bool {
        match self {
            Self::LoneSurrogate(_) => true,
            Self::List(items) => items.iter().any(Self::has_lone_surrogate),
            Self::Object(members) => members.iter().any(|(_, value)| value.has_lone_surrogate()),
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::Text(_) => false,
        }
    }

    fn write(&self, dialect: Dialect, out: &mut String) -> Option<()> {
        use Dialect as D;
        let comma = if dialect == D::Python { ", " } else { "," };
        let colon = if dialect == D::Python { ": " } else { ":" };
        match self {
            Self::Null => out.push_str("null"),
            Self::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Self::Number(token) => out.push_str(&number(token, dialect)?),
            Self::Text(text) => out.push_str(&quoted(text, dialect)?),
            Self::LoneSurrogate(token) => match dialect {
                D::JavaScript | D::Python => out.push_str(token),
                D::Go => {
                    let text: String = serde_json::from_str(&without_surrogates(token)).ok()?;
                    out.push_str(&quoted(&text, dialect)?);
                }
                D::Httpx | D::Php | D::Jackson | D::Serde => return None,
            },
            Self::List(items) => {
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    out.push_str(if index > 0 { comma } else { "" });
                    item.write(dialect, out)?;
                }
                out.push(']');
            }
            Self::Object(members) if dialect == D::Php && are_indexes(members) => {
                Self::List(members.iter().map(|(_, value)| value.clone()).collect()).write(dialect, out)?;
            }
            Self::Object(members) => {
                let mut members: Vec<_> = members.iter().collect();
                match dialect {
                    // The sort is stable: other names keep their order.
                    D::JavaScript => members.sort_by_key(|(name, _)| index(name).unwrap_or(u32::MAX)),
                    D::Go | D::Serde => members.sort_by(|(a, _), (b, _)| a.cmp(b)),
                    D::Python | D::Httpx | D::Php | D::Jackson => {}
                }
                out.push('{');
                for (at, (name, value)) in members.into_iter().enumerate() {
                    out.push_str(if at > 0 { comma } else { "" });
                    out.push_str(&quoted(name, dialect)?);
                    out.push_str(colon);
                    value.write(dialect, out)?;
                }
                out.push('}');
            }
        }
        Some(())
    }
}

/// Rest of the text.
struct Parser<'a>(&'a str);

impl<'a> Parser<'a> {
    fn skip_space(&mut self) {
        self.0 = self.0.trim_start_matches([' ', '\t', '\r', '\n']);
    }

    fn takes(&mut self, token: &str) -> bool {
        self.skip_space();
        self.0.strip_prefix(token).inspect(|rest| self.0 = rest).is_some()
    }

    /// Takes the next bytes.
    fn take(&mut self, length: usize) -> &'a str {
        let (token, rest) = self.0.split_at(length);
        self.0 = rest;
        token
    }

    fn value(&mut self, depth: usize) -> Option<Json> {
        let deeper = depth.checked_sub(1)?;
        self.skip_space();
        for (token, value) in [("null", Json::Null), ("true", Json::Bool(true)), ("false", Json::Bool(false))]
        {
            if self.takes(token) {
                return Some(value);
            }
        }
        if self.0.starts_with('"') {
            return self.text();
        }
        if self.takes("[") {
            let mut items = Vec::new();
            while !self.takes("]") {
                if !items.is_empty() && !self.takes(",") {
                    return None;
                }
                items.push(self.value(deeper)?);
            }
            return Some(Json::List(items));
        }
        if self.takes("{") {
            return self.object(deeper);
        }
        let is_of_number = |at: char| at.is_ascii_digit() || matches!(at, '-' | '+' | '.' | 'e' | 'E');
        let token = self.take(self.0.find(|at| !is_of_number(at)).unwrap_or(self.0.len()));
        serde_json::from_str::<&RawValue>(token).ok()?;
        Some(Json::Number(token.to_owned()))
    }

    fn object(&mut self, depth: usize) -> Option<Json> {
        let mut members: Vec<(String, Json)> = Vec::new();
        let mut count = 0;
        while !self.takes("}") {
            if count > 0 && !self.takes(",") {
                return None;
            }
            count += 1;
            self.skip_space();
            let (Json::Text(name) | Json::LoneSurrogate(name)) = self.text()? else { return None };
            if !self.takes(":") {
                return None;
            }
            let value = self.value(depth)?;
            match members.iter_mut().find(|(other, _)| *other == name) {
                Some((_, old)) => *old = value,
                None => members.push((name, value)),
            }
        }
        Some(Json::Object(members))
    }

    fn text(&mut self) -> Option<Json> {
        let mut escaped = false;
        let end = self.0.bytes().enumerate().skip(1).find(|(_, byte)| {
            let ends = *byte == b'"' && !escaped;
            escaped = *byte == b'\\' && !escaped;
            ends
        });
        if !self.0.starts_with('"') {
            return None;
        }
        let token = self.take(end?.0 + 1);
        if let Ok(text) = serde_json::from_str(token) {
            return Some(Json::Text(text));
        }
        let valid = serde_json::from_str::<String>(&without_surrogates(token)).is_ok();
        valid.then(|| Json::LoneSurrogate(token.to_owned()))
    }
}

/// Replaces the escapes of surrogates.
fn without_surrogates(token: &str) -> String {
    let mut out = String::new();
    let mut rest = token;
    while let Some(at) = rest.find("\\u") {
        let digits = rest.get(at + 2..at + 6).and_then(|digits| u16::from_str_radix(digits, 16).ok());
        let is_surrogate = digits.is_some_and(|unit| (0xd800..0xe000).contains(&unit));
        out.push_str(&rest[..at]);
        out.push_str(if is_surrogate { "\\ufffd" } else { &rest[at..at + 2] });
        rest = &rest[if is_surrogate { at + 6 } else { at + 2 }..];
    }
    out + rest
}

/// Names that JavaScript sorts before all others.
fn index(name: &str) -> Option<u32> {
    name.parse().ok().filter(|index: &u32| index.to_string() == name && *index < u32::MAX)
}

/// PHP writes arrays with these keys as lists, also those without members.
fn are_indexes(members: &[(String, Json)]) -> bool {
    members.iter().enumerate().all(|(at, (name, _))| at.to_string() == *name)
}

/// A number as the library writes it.
fn number(token: &str, dialect: Dialect) -> Option<String> {
    use Dialect as D;
    let value: f64 = token.parse().ok()?;
    let is_whole = !token.contains(['.', 'e', 'E']);
    match dialect {
        D::JavaScript if !value.is_finite() => Some("null".to_owned()),
        D::JavaScript if value == 0.0 => Some("0".to_owned()),
        D::Go | D::Httpx | D::Php | D::Serde if !value.is_finite() => None,
        D::JavaScript | D::Go => Some(plain(value, 1e-6, 1e21, "")),
        D::Python | D::Httpx | D::Jackson if is_whole => {
            Some(if token == "-0" { "0".to_owned() } else { token.to_owned() })
        }
        D::Python if !value.is_finite() => Some("Infinity".to_owned()),
        D::Jackson if !value.is_finite() => Some("\"Infinity\"".to_owned()),
        D::Python | D::Httpx => Some(plain(value, 1e-4, 1e16, ".0")),
        D::Jackson => Some(plain(value, 1e-3, 1e7, ".0").replace("e+", "E").replace('e', "E")),
        D::Php => match token.parse::<i64>() {
            Ok(whole) => Some(whole.to_string()),
            Err(_) => Some(plain(value, 1e-4, 1e17, "")),
        },
        D::Serde => serde_json::from_str::<serde_json::Value>(token).ok().map(|value| value.to_string()),
    }
}

/// Shortest form, with an exponent outside a range. `suffix`: end of whole numbers without an exponent.
fn plain(value: f64, least: f64, limit: f64, suffix: &str) -> String {
    if value == 0.0 || (least..limit).contains(&value.abs()) {
        let text = value.to_string();
        let end = if text.contains('.') { "" } else { suffix };
        return text + end;
    }
    let text = format!("{value:e}");
    if text.contains("e-") { text } else { text.replace('e', "e+") }
}

/// A text as the library writes it.
fn quoted(text: &str, dialect: Dialect) -> Option<String> {
    use Dialect as D;
    let quoted = serde_json::to_string(text).ok()?;
    let escapes: fn(char) -> bool = match dialect {
        D::Python | D::Php => |at| !at.is_ascii(),
        D::Go => |at| matches!(at, '<' | '>' | '&' | '\u{2028}' | '\u{2029}'),
        D::JavaScript | D::Httpx | D::Jackson | D::Serde => return Some(quoted),
    };
    let mut out = String::new();
    for at in quoted.chars() {
        if dialect == D::Php && at == '/' {
            out.push_str("\\/");
        } else if escapes(at) {
            for unit in at.encode_utf16(&mut [0; 2]) {
                // Writing to a String cannot fail.
                _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(at);
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const BODY: &str = r#" {"b":1.0,"10":-0,"9":9007199254740993,"b":1e400,"u":"\u00e9/<","l":{},"e":1e25} "#;

    /// Expected texts come from Node.js 22, Python 3.11, Go 1.24 and PHP 8.2.
    #[rstest]
    #[case::javascript(
        Dialect::JavaScript,
        Some(r#"{"9":9007199254740992,"10":0,"b":null,"u":"é/<","l":{},"e":1e+25}"#)
    )]
    #[case::python(
        Dialect::Python,
        Some(r#"{"b": Infinity, "10": 0, "9": 9007199254740993, "u": "\u00e9/<", "l": {}, "e": 1e+25}"#)
    )]
    #[case::jackson(
        Dialect::Jackson,
        Some(r#"{"b":"Infinity","10":0,"9":9007199254740993,"u":"é/<","l":{},"e":1E25}"#)
    )]
    #[case::go_refuses_large_exponents(Dialect::Go, None)]
    fn serialises_as_the_library_does(#[case] dialect: Dialect, #[case] expected: Option<&str>) {
        let value = Json::parse(BODY, dialect).unwrap();
        assert_eq!(value.serialise(dialect).as_deref(), expected);
    }

    #[rstest]
    #[case::go(
        Dialect::Go,
        r#"{"z":[1.0,-0,"<&"],"a":"\ud800"}"#,
        "{\"a\":\"\u{fffd}\",\"z\":[1,-0,\"\\u003c\\u0026\"]}"
    )]
    #[case::php(
        Dialect::Php,
        r#"{"z":{},"l":{"0":1.0},"t":"é/","n":-0}"#,
        r#"{"z":[],"l":[1],"t":"\u00e9\/","n":0}"#
    )]
    #[case::serde(Dialect::Serde, r#"{"z":1.0,"a":1e2,"n":-0}"#, r#"{"a":100.0,"n":-0.0,"z":1.0}"#)]
    #[case::httpx(Dialect::Httpx, r#"{"z":1e2, "t":"é"}"#, r#"{"z":100.0,"t":"é"}"#)]
    #[case::javascript(Dialect::JavaScript, r#"["\ud800", 1e-7, 1e21]"#, r#"["\ud800",1e-7,1e+21]"#)]
    fn rewrites(#[case] dialect: Dialect, #[case] body: &str, #[case] expected: &str) {
        let value = Json::parse(body, dialect).unwrap();
        assert_eq!(value.serialise(dialect).as_deref(), Some(expected));
    }

    #[rstest]
    #[case("")]
    #[case("{} x")]
    #[case("[1,]")]
    #[case("{\"a\" 1}")]
    #[case("01")]
    #[case("\"\n\"")]
    #[case("\u{feff}{}")]
    fn refuses_other_texts(#[case] body: &str) {
        assert_eq!(Json::parse(body, Dialect::JavaScript), None);
    }
}
