use std::fmt::Write as _;

use bytes::Bytes;
use edgeproof_fixtures::spec::JsonForm;
use serde_json::{Map, Value, json};

/// The same JSON in another form; unchanged if it is no object.
pub(super) fn in_form(body: &Bytes, form: JsonForm) -> Bytes {
    let Ok(Value::Object(members)) = serde_json::from_slice(body) else { return body.clone() };
    let with = |more: &[(&str, Value)]| {
        // Further members come first and last.
        let mut all = Map::new();
        for (name, value) in more.iter().take(1) {
            all.insert((*name).to_owned(), value.clone());
        }
        all.extend(members.clone());
        for (name, value) in more.iter().skip(1) {
            all.insert((*name).to_owned(), value.clone());
        }
        Value::Object(all).to_string()
    };
    let object = || Value::Object(members.clone());
    let text = match form {
        JsonForm::Reversed => object_text(members.iter().rev()),
        JsonForm::Pretty => format!("{:#}\n", object()),
        JsonForm::SpaceAround => format!("\r\n \t{}\n \r\n", object()),
        JsonForm::Escaped => escaped(&object().to_string()),
        JsonForm::Extra => with(&[
            ("message", json!("It's 100% refused: a+b & c; $d ~ ../.. // -- <e> {f}")),
            ("status", json!(200)),
            ("ok", json!(true)),
            ("code", json!("other_code")),
            ("detail", json!(null)),
        ]),
        JsonForm::Nested => with(&[
            ("context", json!({"error": "inner_error", "reason": "inner_reason", "status": 418})),
            ("errors", json!([{"error": "inner_error", "reason": "inner_reason"}])),
        ]),
        JsonForm::Unicode => {
            with(&[("message", json!("Lizenz abgelaufen – 許可證 \u{1F512} e\u{301}\u{2028}\u{202E}"))])
        }
        JsonForm::Long => with(&[("message", json!("long ".repeat(16 * 1024 / 5)))]),
        JsonForm::ByteOrderMark => format!("\u{feff}{}", object()),
        JsonForm::Twice => object_text(members.iter().chain(&members)),
    };
    text.into()
}

/// The JSON with another text in place of `old`, wherever that is a member.
pub(super) fn replace_text(body: &Bytes, old: Option<&Value>, new: &str) -> Bytes {
    let Ok(Value::Object(mut members)) = serde_json::from_slice(body) else { return body.clone() };
    for value in members.values_mut().filter(|value| Some(&**value) == old) {
        *value = json!(new);
    }
    Value::Object(members).to_string().into()
}

fn object_text<'m>(members: impl Iterator<Item = (&'m String, &'m Value)>) -> String {
    let members: Vec<_> = members.map(|(name, value)| format!("{}:{value}", json!(name))).collect();
    format!("{{{}}}", members.join(","))
}

/// Letters inside of texts as escape sequences, the first of each word.
fn escaped(json: &str) -> String {
    let mut text = String::new();
    let (mut inside, mut before) = (false, ' ');
    for letter in json.chars() {
        if letter == '"' && before != '\\' {
            inside = !inside;
        }
        if inside && letter.is_ascii_lowercase() && !before.is_ascii_alphanumeric() && before != '\\' {
            _ = write!(text, "\\u{:04x}", u32::from(letter));
        } else {
            text.push(letter);
        }
        before = letter;
    }
    text
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    fn form_means_the_same(
        #[values(
            JsonForm::Reversed,
            JsonForm::Pretty,
            JsonForm::SpaceAround,
            JsonForm::Escaped,
            JsonForm::Extra,
            JsonForm::Nested,
            JsonForm::Unicode,
            JsonForm::Long,
            JsonForm::Twice
        )]
        form: JsonForm,
    ) {
        let plain = Bytes::from_static(br#"{"error":"not_yet_valid","reason":"not_yet_valid"}"#);
        let formed = in_form(&plain, form);
        assert_ne!(formed, plain);
        let formed: Value = serde_json::from_slice(&formed).unwrap();
        assert_eq!((&formed["error"], &formed["reason"]), (&json!("not_yet_valid"), &json!("not_yet_valid")));
    }
}
