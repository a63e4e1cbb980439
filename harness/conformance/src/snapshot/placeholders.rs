/// Longest shown line, in characters.
const LONGEST: usize = 160;

/// Header fields whose values differ between runs.
const FIELDS: [(&str, &str); 4] = [
    ("date: ", "<date>"),
    ("expires: ", "<date>"),
    ("last-modified: ", "<date>"),
    ("etag: ", "<entity tag>"),
];

/// Members of JSON bodies whose values differ between runs.
const MEMBERS: [(&str, &str); 4] = [
    (r#""issuedAt":""#, "<time>"),
    (r#""token":""#, "<verdict token>"),
    (r#""kid":""#, "<key id>"),
    (r#""x":""#, "<key>"),
];

/// The line with placeholders for text that differs between runs, and shortened.
pub(super) fn with_placeholders(line: &str) -> String {
    for (name, placeholder) in FIELDS {
        if line.starts_with(name) {
            return format!("{name}{placeholder}");
        }
    }
    let mut line = line.to_owned();
    for (before, placeholder) in MEMBERS {
        replace_all(&mut line, before, placeholder, |rest| rest.find('"').unwrap_or(rest.len()));
    }
    for host in ["127.0.0.1:", "localhost:"] {
        replace_all(&mut line, host, "<port>", |rest| count(rest, |byte| byte.is_ascii_digit()));
    }
    for label in ["license ", "read-token "] {
        replace_label(&mut line, label);
    }
    replace_markers(&mut line);
    match line.char_indices().nth(LONGEST) {
        None => line,
        Some((begin, _)) => {
            let end = line.rfind('…').unwrap_or(line.len());
            format!("{} … {}", &line[..begin.min(end)], &line[end..])
        }
    }
}

/// Replaces what follows each `before`, as far as `length` says.
fn replace_all(line: &mut String, before: &str, placeholder: &str, length: impl Fn(&str) -> usize) {
    let mut done = 0;
    while let Some(at) = line[done..].find(before) {
        let from = done + at + before.len();
        let length = length(&line[from..]);
        if length > 0 {
            line.replace_range(from..from + length, placeholder);
        }
        done = from;
    }
}

/// `[license valid 1a2b3c]` becomes `<license valid>`: the digits are a digest of the secret of a run.
fn replace_label(line: &mut String, label: &str) {
    let begin = format!("[{label}");
    while let Some(open) = line.find(&begin) {
        let Some(close) = line[open..].find(']').map(|length| open + length) else { return };
        let words = line[open + 1..close].split(' ').filter(|word| !is_digest(word));
        let placeholder = format!("<{}>", words.collect::<Vec<_>>().join(" "));
        line.replace_range(open..=close, &placeholder);
    }
}

fn is_digest(word: &str) -> bool {
    word.len() == 6 && word.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// A case marks its bodies with a text such as `q00004k7`.
fn replace_markers(line: &mut String) {
    const BEGIN: &str = "q000";
    while let Some(at) = line.find(BEGIN) {
        let from = at + BEGIN.len();
        let rest = count(&line[from..], |byte| byte.is_ascii_alphanumeric()).min(4);
        line.replace_range(at..from + rest, "<marker>");
    }
}

fn count(text: &str, is_part: impl Fn(u8) -> bool) -> usize {
    text.bytes().take_while(|byte| is_part(*byte)).count()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::date("date: Tue, 15 Nov 1994 08:12:31 GMT", "date: <date>")]
    #[case::port("host: 127.0.0.1:40123", "host: 127.0.0.1:<port>")]
    #[case::no_port("host: localhost:", "host: localhost:")]
    #[case::license("authorization: Bearer [license valid 1a2b3c]", "authorization: Bearer <license valid>")]
    #[case::part("a [read-token expired 1a2b3c base64 part] b", "a <read-token expired base64 part> b")]
    #[case::marker(r#"{"v":1,"sealed":"q00004k7"}"#, r#"{"v":1,"sealed":"<marker>"}"#)]
    #[case::members(
        r#"{"issuedAt":"2026-01-01","token":"a.b"}"#,
        r#"{"issuedAt":"<time>","token":"<verdict token>"}"#
    )]
    #[case::keys(
        r#"{"keys":[{"kid":"a"},{"kid":"b"}]}"#,
        r#"{"keys":[{"kid":"<key id>"},{"kid":"<key id>"}]}"#
    )]
    fn varying_text_has_a_placeholder(#[case] line: &str, #[case] expected: &str) {
        assert_eq!(with_placeholders(line), expected);
    }

    #[test]
    fn long_line_is_shortened_and_keeps_its_length_note() {
        let line = with_placeholders(&format!("{}… (900 bytes)", "x".repeat(600)));
        assert_eq!(line, format!("{} … … (900 bytes)", "x".repeat(160)));
    }
}
