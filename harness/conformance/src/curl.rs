use std::fmt::Write as _;

use edgeproof_http::{Body, ChunkExtras, Draft, HeadPace, HostForm, ServerAddress, TargetForm};
use edgeproof_reports::escape::visible;
use shell_words::quote;

/// Maximum size of a body in a command, in bytes.
const MAX_BODY: usize = 2 * 1024;

/// A `curl` command that sends the same request. None: the framing is broken on purpose, curl cannot group the bytes like
/// this, or the body is too large for a command line.
pub(crate) fn curl(endpoint: &ServerAddress, draft: &Draft) -> Option<String> {
    let form = &draft.form;
    if draft.body.is_malformed()
        || matches!(draft.body, Body::Slow(..))
        || draft.body.bytes().len() > MAX_BODY
        || form.pace != HeadPace::Whole
        || form.chunks != ChunkExtras::default()
        || form.verbatim.is_some()
    {
        return None;
    }
    let mut command = String::from("curl -i");
    if form.http10 {
        command.push_str(" --http1.0");
    }
    if form.target == TargetForm::Absolute {
        _ = write!(command, " --request-target {}", quote(&endpoint.address(&draft.path)));
    }
    if draft.path.contains("/.") {
        command.push_str(" --path-as-is");
    }
    match draft.method.as_str() {
        "HEAD" => command.push_str(" -I"),
        "GET" => {}
        method => _ = write!(command, " -X {}", quote(method)),
    }
    if let Some(from) = draft.from {
        _ = write!(command, " --interface {from}");
    }
    if let Some(ca) = endpoint.ca() {
        _ = write!(command, " --cacert {}", quote(&ca.display().to_string()));
    }
    if form.host != HostForm::Authority {
        _ = write!(command, " -H {}", quote(&format!("Host: {}", form.host.value(endpoint.authority()))));
    }
    for (name, value) in &draft.headers {
        _ = write!(command, " -H {}", quote(&format!("{name}: {value}")));
    }
    let body = draft.body.bytes();
    if !matches!(draft.body, Body::None) {
        if draft.header_value("content-type").is_none() {
            // Without this, curl adds its own content type.
            command.push_str(" -H 'Content-Type:'");
        }
        match &draft.body {
            Body::Chunked(..) => command.push_str(" -H 'Transfer-Encoding: chunked'"),
            Body::Expect(_) => command.push_str(" -H 'Expect: 100-continue'"),
            _ => {}
        }
        command.push_str(" --data-binary ");
        command.push_str(&data(body));
    }
    _ = write!(command, " {}", quote(&endpoint.address(&draft.path)));
    Some(command)
}

/// One command that sends the requests of these commands in turn. curl keeps the connection.
pub(crate) fn in_turn(commands: &[&str]) -> String {
    let parts = commands.iter().map(|command| command.strip_prefix("curl ").unwrap_or(command));
    format!("curl {}", parts.collect::<Vec<_>>().join(" --next "))
}

/// The body as a shell word, in characters that a report shows unchanged. bash, zsh and ksh understand `$'…'`. A NUL is
/// not possible in a shell word, so such a body goes through a pipe.
fn data(body: &[u8]) -> String {
    match std::str::from_utf8(body) {
        Ok(text) if !text.contains(char::is_control) && visible(text) == text && !text.starts_with('@') => {
            quote(text).into_owned()
        }
        _ if body.contains(&0) || body.starts_with(b"@") => {
            let escaped = body.iter().fold(String::new(), |mut text, byte| {
                _ = write!(text, "\\{byte:03o}");
                text
            });
            format!("@<(printf '{escaped}')")
        }
        _ => format!("$'{}'", body.iter().map(|byte| escape(*byte)).collect::<String>()),
    }
}

fn escape(byte: u8) -> String {
    match byte {
        b'\'' | b'\\' => format!("\\{}", byte as char),
        b'\n' => "\\n".into(),
        b'\r' => "\\r".into(),
        b'\t' => "\\t".into(),
        0x20..0x7f => (byte as char).to_string(),
        _ => format!("\\x{byte:02x}"),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use edgeproof_http::RequestForm;
    use rstest::rstest;

    use super::*;

    async fn server() -> ServerAddress {
        ServerAddress::resolve(&"http://127.0.0.1:8080".parse().unwrap(), None).await.unwrap()
    }

    #[rstest]
    #[case::plain(RequestForm::default(), Some("curl -i http://127.0.0.1:8080/a"))]
    #[case::http10(
        RequestForm { http10: true, ..RequestForm::default() },
        Some("curl -i --http1.0 http://127.0.0.1:8080/a")
    )]
    #[case::absolute(
        RequestForm { target: TargetForm::Absolute, ..RequestForm::default() },
        Some("curl -i --request-target http://127.0.0.1:8080/a http://127.0.0.1:8080/a")
    )]
    #[case::host(
        RequestForm { host: HostForm::Other("shop.example".into()), ..RequestForm::default() },
        Some("curl -i -H 'Host: shop.example' http://127.0.0.1:8080/a")
    )]
    #[case::pace(RequestForm { pace: HeadPace::Bytes, ..RequestForm::default() }, None)]
    #[case::chunks(
        RequestForm { chunks: ChunkExtras { trailer: true, ..ChunkExtras::default() }, ..RequestForm::default() },
        None
    )]
    #[tokio::test]
    async fn form_of_a_request_is_repeated_or_nothing_is(
        #[case] form: RequestForm,
        #[case] command: Option<&str>,
    ) {
        let draft = Draft { form, ..Draft::new("GET", "/a") };
        assert_eq!(curl(&server().await, &draft).as_deref(), command);
    }

    #[tokio::test]
    async fn slow_body_has_no_command() {
        let draft = Draft::new("POST", "/a").body(Body::Slow("{}".into(), 2, Duration::from_millis(5)));
        assert_eq!(curl(&server().await, &draft), None);
    }

    #[rstest]
    #[case::json(r#"{"a":1}"#.as_bytes(), r#"'{"a":1}'"#)]
    #[case::quote(b"it's", r"'it'\''s'")]
    #[case::beyond_ascii("é😀".as_bytes(), "é😀")]
    #[case::newline(b"{}\n", r"$'{}\n'")]
    #[case::byte_order_mark("\u{feff}{}".as_bytes(), r"$'\xef\xbb\xbf{}'")]
    #[case::not_utf8(b"\xff'\\", r"$'\xff\'\\'")]
    #[case::nul(b"a\0", r"@<(printf '\141\000')")]
    #[case::looks_like_a_file(b"@etc", r"@<(printf '\100\145\164\143')")]
    fn bodies_survive_the_shell(#[case] body: &[u8], #[case] expected: &str) {
        assert_eq!(data(body), expected);
        assert_eq!(visible(expected), expected);
    }
}
