use std::fmt::Write as _;

use edgeproof_http::{Body, ChunkExtras, Draft, HeadPace, ServerAddress, TargetForm};
use edgeproof_reports::counted;
use edgeproof_reports::escape::{one_line, visible};
use futures_util::FutureExt;

use crate::curl::curl;

/// Longest shown body, in bytes.
const BODY_SHOWN: usize = 400;

/// The request of a draft for a reader: a `curl` command, or the request itself in lines and how it is sent.
pub(crate) fn request_lines(endpoint: &ServerAddress, draft: &Draft) -> Vec<String> {
    if let Some(command) = curl(endpoint, draft) {
        return vec![command];
    }
    let mut lines = raw_lines(endpoint, draft);
    lines.push(format!("({})", manner(draft).join("; ")));
    lines
}

/// Address of the service in examples.
pub(crate) const EXAMPLE_SERVICE: &str = "https://127.0.0.1:8443";

/// The address of an example: its host is an IP address.
pub(crate) fn example_address(url: &str) -> ServerAddress {
    let url = url.parse().expect("an example is a URL");
    let resolved = ServerAddress::resolve(&url, None).now_or_never();
    resolved.and_then(Result::ok).expect("an IP address needs no resolver")
}

/// The bytes of the head in lines, then the body.
fn raw_lines(endpoint: &ServerAddress, draft: &Draft) -> Vec<String> {
    let target = match draft.form.target {
        TargetForm::Origin => draft.path.clone(),
        TargetForm::Absolute => endpoint.address(&draft.path),
    };
    let version = if draft.form.http10 { "1.0" } else { "1.1" };
    if let Some(head) = &draft.form.verbatim {
        return String::from_utf8_lossy(head).lines().map(|line| visible(line).into_owned()).collect();
    }
    let mut lines = vec![format!("{} {} HTTP/{version}", visible(&draft.method), visible(&target))];
    lines.push(format!("Host: {}", visible(&draft.form.host.value(endpoint.authority()))));
    for (name, value) in &draft.headers {
        lines.push(format!("{}: {}", visible(name), visible(value)));
    }
    let body = draft.body.bytes();
    match &draft.body {
        Body::None | Body::Raw(_) | Body::Broken(_) | Body::Aborted(_) => {}
        Body::Chunked(..) => lines.push("Transfer-Encoding: chunked".to_owned()),
        Body::Sized(_) | Body::Slow(..) | Body::Expect(_) => {
            lines.push(format!("Content-Length: {}", body.len()));
        }
    }
    if matches!(draft.body, Body::Expect(_)) {
        lines.push("Expect: 100-continue".to_owned());
    }
    lines.push(String::new());
    if !body.is_empty() {
        let shown = String::from_utf8_lossy(&body[..body.len().min(BODY_SHOWN)]);
        let mut line = one_line(&visible(&shown)).into_owned();
        if body.len() > BODY_SHOWN {
            _ = write!(line, "… ({} bytes)", body.len());
        }
        lines.push(line);
    }
    lines
}

/// Why curl cannot send the request: what is unusual about its bytes or their time.
fn manner(draft: &Draft) -> Vec<String> {
    let mut manner = Vec::new();
    if draft.form.verbatim.is_some() {
        manner.push("these bytes, which are no HTTP/1.1 request".to_owned());
    }
    match draft.form.pace {
        HeadPace::Whole => {}
        HeadPace::Apart => manner.push("the head is flushed before the body begins".to_owned()),
        HeadPace::Lines => manner.push("each line of the head is flushed separately".to_owned()),
        HeadPace::Bytes => manner.push("each byte of the head is flushed separately".to_owned()),
    }
    match &draft.body {
        Body::Slow(_, parts, pause) => {
            let pause = humantime::format_duration(*pause);
            manner.push(format!("the body is sent in {}, {pause} apart", counted(*parts, "part")));
        }
        Body::Raw(_) => manner.push("the bytes after the head are sent as shown".to_owned()),
        Body::Broken(_) => manner.push("then the client ends its half of the connection".to_owned()),
        Body::Aborted(_) => manner.push("then the client resets the connection".to_owned()),
        Body::Chunked(_, size) => manner.push(format!("in chunks of at most {}", counted(*size, "byte"))),
        Body::None | Body::Sized(_) | Body::Expect(_) => {}
    }
    let ChunkExtras { extension, trailer } = draft.form.chunks;
    if extension {
        manner.push("each chunk has an extension".to_owned());
    }
    if trailer {
        manner.push("a trailer field follows the last chunk".to_owned());
    }
    if manner.is_empty() {
        let length = counted(draft.body.bytes().len(), "byte");
        manner.push(format!("a body of {length} is too long for a command line"));
    }
    manner
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use edgeproof_http::RequestForm;
    use rstest::rstest;

    use super::*;

    fn post() -> Draft {
        Draft::new("POST", "/v1/signals").header("Origin", "https://shop.example")
    }

    #[rstest]
    #[case::curl(
        Draft::new("GET", "/health"),
        &["curl -i http://127.0.0.1:8080/health"]
    )]
    #[case::slow(
        post().body(Body::Slow("{}".into(), 2, Duration::from_millis(5))),
        &[
            "POST /v1/signals HTTP/1.1", "Host: 127.0.0.1:8080", "Origin: https://shop.example", "Content-Length: 2", "",
            "{}", "(the body is sent in 2 parts, 5ms apart)",
        ]
    )]
    #[case::broken(
        post().header("Content-Length", "9").body(Body::Broken("{\n".into())),
        &[
            "POST /v1/signals HTTP/1.1", "Host: 127.0.0.1:8080", "Origin: https://shop.example", "Content-Length: 9", "",
            "{\\n", "(then the client ends its half of the connection)",
        ]
    )]
    #[case::trailer(
        Draft {
            form: RequestForm { chunks: ChunkExtras { trailer: true, ..ChunkExtras::default() }, ..RequestForm::default() },
            ..post().body(Body::Chunked("{}".into(), 1))
        },
        &[
            "POST /v1/signals HTTP/1.1", "Host: 127.0.0.1:8080", "Origin: https://shop.example",
            "Transfer-Encoding: chunked", "", "{}", "(in chunks of at most 1 byte; a trailer field follows the last chunk)",
        ]
    )]
    #[case::bytes(
        Draft { form: RequestForm { pace: HeadPace::Bytes, http10: true, ..RequestForm::default() }, ..Draft::new("GET", "/") },
        &["GET / HTTP/1.0", "Host: 127.0.0.1:8080", "", "(each byte of the head is flushed separately)"]
    )]
    #[case::verbatim(
        Draft {
            form: RequestForm { verbatim: Some("EHLO a\r\n\u{1}\r\n".into()), ..RequestForm::default() },
            ..Draft::new("GET", "/")
        },
        &["EHLO a", "\\x01", "(these bytes, which are no HTTP/1.1 request)"]
    )]
    #[tokio::test]
    async fn request_is_a_command_or_shown_with_what_curl_cannot_do(
        #[case] draft: Draft,
        #[case] expected: &[&str],
    ) {
        let server = ServerAddress::resolve(&"http://127.0.0.1:8080".parse().unwrap(), None).await.unwrap();
        assert_eq!(request_lines(&server, &draft), expected);
    }

    #[tokio::test]
    async fn long_body_is_shown_in_part() {
        let server = ServerAddress::resolve(&"http://127.0.0.1:8080".parse().unwrap(), None).await.unwrap();
        let lines = request_lines(&server, &post().body(Body::Sized("x".repeat(5000).into())));
        assert_eq!(lines.last().unwrap(), "(a body of 5000 bytes is too long for a command line)");
        assert!(lines.iter().any(|line| line.ends_with("xx… (5000 bytes)")), "{lines:?}");
    }
}
