use std::io::Write as _;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::StatusCode;

/// An answer in a chosen HTTP/1.1 form. Over HTTP/2 status, headers and body are sent as usual.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShapedAnswer {
    /// Status code, 200 to 999.
    pub status: u16,
    /// Header fields besides the framing.
    pub headers: Vec<(String, String)>,
    /// Body.
    pub body: Bytes,
    /// Framing of the body.
    pub framing: AnswerFraming,
    /// How the bytes are grouped.
    pub packets: AnswerPackets,
    /// Interim answers before it: status 100 to 199 except 101, and header fields.
    pub interim: Vec<(u16, Vec<(String, String)>)>,
    /// HTTP/1.0. The connection closes after it.
    pub http10: bool,
    /// Content coding gzip, if the request accepts it.
    pub gzip: bool,
    /// `Connection: close`, and the connection closes after it.
    pub close: bool,
}

/// Framing of an answer's body (RFC 9112 §6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AnswerFraming {
    /// `Content-Length`.
    #[default]
    Length,
    /// Chunks of at most this number of bytes.
    Chunks(usize),
    /// The end of the connection ends the body.
    UntilClose,
}

/// How the bytes of an answer are grouped. Each group is a TLS record, and has a short pause before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AnswerPackets {
    /// All in one.
    #[default]
    Whole,
    /// Head, then body.
    HeadApart,
    /// Two groups, divided in the middle of the head.
    InHead,
    /// Two groups, divided in the middle of the body.
    InBody,
    /// Each byte.
    Bytes,
}

impl ShapedAnswer {
    /// The usual form of an answer.
    pub fn new(status: u16, headers: Vec<(String, String)>, body: Bytes) -> Self {
        Self {
            status,
            headers,
            body,
            framing: AnswerFraming::Length,
            packets: AnswerPackets::Whole,
            interim: Vec::new(),
            http10: false,
            gzip: false,
            close: false,
        }
    }

    /// Whether the connection closes after the answer.
    pub(crate) fn ends_connection(&self) -> bool {
        self.close || self.http10 || self.framing == AnswerFraming::UntilClose
    }

    /// The groups of bytes on an HTTP/1.1 connection. `gzip`: the request accepts gzip.
    pub(crate) fn pieces(&self, gzip: bool) -> Vec<Bytes> {
        let mut pieces: Vec<Bytes> =
            self.interim.iter().map(|(status, fields)| head("1.1", *status, fields).into()).collect();
        let coded = self.gzip && gzip && !self.body.is_empty();
        let body = if coded { compressed(&self.body) } else { self.body.clone() };
        let mut fields = self.headers.clone();
        if self.ends_connection() {
            let keeps = |name: &str| {
                name.eq_ignore_ascii_case("connection") || name.eq_ignore_ascii_case("keep-alive")
            };
            fields.retain(|(name, _)| !keeps(name));
        }
        let mut field = |name: &str, value: &str| fields.push((name.to_owned(), value.to_owned()));
        if coded {
            field("content-encoding", "gzip");
        }
        if self.close {
            field("connection", "close");
        }
        // HTTP/1.0 has no chunks.
        let framing = match self.framing {
            AnswerFraming::Chunks(_) if self.http10 => AnswerFraming::UntilClose,
            framing => framing,
        };
        match framing {
            AnswerFraming::Length => field("content-length", &body.len().to_string()),
            AnswerFraming::Chunks(_) => field("transfer-encoding", "chunked"),
            AnswerFraming::UntilClose => {}
        }
        let head = head(if self.http10 { "1.0" } else { "1.1" }, self.status, &fields);
        let body = match framing {
            AnswerFraming::Chunks(size) => chunked(&body, size),
            _ => body.to_vec(),
        };
        let length = head.len();
        let whole = Bytes::from([head.into_bytes(), body].concat());
        let at = |middle: usize| vec![whole.slice(..middle), whole.slice(middle..)];
        pieces.extend(match self.packets {
            AnswerPackets::Whole => vec![whole],
            AnswerPackets::HeadApart => at(length),
            AnswerPackets::InHead => at(length / 2),
            AnswerPackets::InBody => at(length + (whole.len() - length) / 2),
            AnswerPackets::Bytes => (0..whole.len()).map(|byte| whole.slice(byte..=byte)).collect(),
        });
        pieces.retain(|piece| !piece.is_empty());
        pieces
    }
}

fn head(version: &str, status: u16, fields: &[(String, String)]) -> String {
    let reason = StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason());
    let mut head = format!("HTTP/{version} {status} {}\r\n", reason.unwrap_or("Unlisted"));
    for (name, value) in fields {
        head.extend([name, ": ", value, "\r\n"]);
    }
    head + "\r\n"
}

fn chunked(body: &[u8], size: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    for chunk in body.chunks(size.max(1)) {
        bytes.extend(format!("{:x}\r\n", chunk.len()).bytes());
        bytes.extend(chunk);
        bytes.extend(b"\r\n");
    }
    bytes.extend(b"0\r\n\r\n");
    bytes
}

fn compressed(body: &[u8]) -> Bytes {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    let written = encoder.write_all(body).and_then(|()| encoder.finish());
    written.expect("writing to memory does not fail").into()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn answer() -> ShapedAnswer {
        ShapedAnswer::new(403, vec![("content-type".into(), "application/json".into())], "{\"a\":1}".into())
    }

    fn text(answer: &ShapedAnswer) -> Vec<String> {
        answer.pieces(false).iter().map(|piece| String::from_utf8_lossy(piece).into_owned()).collect()
    }

    #[rstest]
    #[case(AnswerFraming::Length, "content-length: 7\r\n\r\n{\"a\":1}")]
    #[case(
        AnswerFraming::Chunks(4),
        "transfer-encoding: chunked\r\n\r\n4\r\n{\"a\"\r\n3\r\n:1}\r\n0\r\n\r\n"
    )]
    #[case(AnswerFraming::UntilClose, "\r\n\r\n{\"a\":1}")]
    fn framing_follows_the_head(#[case] framing: AnswerFraming, #[case] end: &str) {
        let pieces = text(&ShapedAnswer { framing, ..answer() });
        assert_eq!(pieces.len(), 1);
        assert!(pieces[0].starts_with("HTTP/1.1 403 Forbidden\r\ncontent-type: application/json\r\n"));
        assert!(pieces[0].ends_with(end), "{pieces:?}");
    }

    #[rstest]
    #[case(AnswerPackets::Whole, 1)]
    #[case(AnswerPackets::HeadApart, 2)]
    #[case(AnswerPackets::InHead, 2)]
    #[case(AnswerPackets::InBody, 2)]
    fn packets_hold_the_same_bytes(#[case] packets: AnswerPackets, #[case] count: usize) {
        let pieces = text(&ShapedAnswer { packets, ..answer() });
        assert_eq!((pieces.len(), pieces.concat()), (count, text(&answer()).concat()));
    }

    #[test]
    fn each_byte_is_a_packet() {
        let pieces = text(&ShapedAnswer { packets: AnswerPackets::Bytes, ..answer() });
        assert!(pieces.iter().all(|piece| piece.len() == 1));
        assert_eq!(pieces.concat(), text(&answer()).concat());
    }

    #[test]
    fn gzip_is_sent_only_if_accepted() {
        let gzip = ShapedAnswer { gzip: true, ..answer() };
        assert_eq!(gzip.pieces(false), answer().pieces(false));
        let accepted = gzip.pieces(true);
        assert!(accepted[0].windows(22).any(|window| window == b"content-encoding: gzip"));
        assert!(accepted[0].windows(2).any(|window| window == b"\x1f\x8b"));
    }

    #[test]
    fn closing_answer_promises_no_open_connection() {
        let headers = vec![
            ("connection".into(), "keep-alive, x-hop".into()),
            ("keep-alive".into(), "timeout=5".into()),
        ];
        let pieces = text(&ShapedAnswer { http10: true, headers, ..answer() });
        assert!(!pieces[0].contains("keep-alive"), "{pieces:?}");
    }

    #[test]
    fn interim_answers_come_first() {
        let interim = vec![(103, vec![("link".into(), "</a.css>; rel=preload".into())])];
        let pieces = text(&ShapedAnswer { interim, ..answer() });
        assert_eq!(pieces[0], "HTTP/1.1 103 Early Hints\r\nlink: </a.css>; rel=preload\r\n\r\n");
        assert!(pieces[1].starts_with("HTTP/1.1 403 "));
    }
}
