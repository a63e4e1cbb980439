use std::io::{Read, Write};

use edgeproof_http::{Answer, Draft, Sent};
use flate2::Compression;
use flate2::read::{DeflateDecoder, GzDecoder, ZlibDecoder};
use flate2::write::GzEncoder;
use http::header::CONTENT_ENCODING;
use serde::de::IgnoredAny;

use super::check::AnswerResult;

/// Largest decoded body (bytes).
const MAX_DECODED: u64 = 1024 * 1024;

/// The exchange without the content coding of its answer.
pub fn without_coding(sent: Sent) -> Sent {
    Sent { reply: sent.reply.map(decoded), ..sent }
}

/// The answer without a content coding that clients decode by themselves (RFC 9110 §8.4.1). A body that is not in its
/// coding stays as it is, and is incomplete: no client can read it.
fn decoded(mut answer: Answer) -> Answer {
    let coding = answer.headers.get(CONTENT_ENCODING).map(http::HeaderValue::as_bytes).unwrap_or_default();
    let body = match coding.to_ascii_lowercase().as_slice() {
        _ if answer.body.is_empty() => return answer,
        b"gzip" | b"x-gzip" => read(GzDecoder::new(&answer.body[..])),
        // Some servers leave the zlib format out, and clients read that too.
        b"deflate" => {
            read(ZlibDecoder::new(&answer.body[..])).or_else(|| read(DeflateDecoder::new(&answer.body[..])))
        }
        // No coded text is JSON.
        b"br" | b"zstd" if serde_json::from_slice::<IgnoredAny>(&answer.body).is_ok() => None,
        _ => return answer,
    };
    match body {
        Some(body) => answer.body = body.into(),
        None => answer.complete = false,
    }
    answer
}

/// Whether the body of an answer with a content coding broke off or is not in that coding.
pub(super) fn is_miscoded(answer: &Answer) -> bool {
    !answer.complete && answer.headers.contains_key(CONTENT_ENCODING)
}

/// Whether the body is in a coding that its client accepts and edgeproof does not read.
pub(crate) fn is_unread(draft: &Draft, reply: &AnswerResult) -> bool {
    let Ok(answer) = reply else { return false };
    let coding = answer.headers.get(CONTENT_ENCODING).and_then(|coding| coding.to_str().ok());
    let accepted = draft.header_value("accept-encoding").unwrap_or_default();
    answer.complete
        && coding.is_some_and(|coding| {
            let is = |other: &str| other.trim().eq_ignore_ascii_case(coding);
            ["br", "zstd"].into_iter().any(is) && accepted.split(',').any(is)
        })
}

/// Whether data begins like gzip (RFC 1952 §2.3.1).
pub(crate) fn is_gzip(data: &[u8]) -> bool {
    data.starts_with(&[0x1f, 0x8b])
}

/// Data in gzip without compression, in which the data is readable.
pub(crate) fn gzip(data: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::none());
    encoder.write_all(data).and_then(|()| encoder.finish()).expect("a vector takes every byte")
}

/// The data that [`gzip`] coded, where it is nothing else.
pub(crate) fn gzipped(coded: &[u8]) -> Option<Vec<u8>> {
    is_gzip(coded).then(|| read(GzDecoder::new(coded)))?.filter(|data| gzip(data) == coded)
}

fn read(decoder: impl Read) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    decoder.take(MAX_DECODED).read_to_end(&mut body).ok()?;
    Some(body)
}

#[cfg(test)]
mod tests {
    use flate2::write::ZlibEncoder;
    use http::{HeaderMap, HeaderValue, Version};
    use rstest::rstest;

    use super::*;

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn deflate(text: &[u8]) -> Vec<u8> {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    #[rstest]
    #[case::gzip("gzip", gzip(b"{}"), b"{}")]
    #[case::deflate("deflate", deflate(b"{}"), b"{}")]
    #[case::no_coding("identity", b"{}".to_vec(), b"{}")]
    #[case::in_capitals("GZIP", gzip(b"{}"), b"{}")]
    #[case::unknown_coding("br", b"\x0b\x00\x80{}\x03".to_vec(), b"\x0b\x00\x80{}\x03")]
    #[case::empty("gzip", Vec::new(), b"")]
    fn body_is_decoded(#[case] coding: &'static str, #[case] body: Vec<u8>, #[case] expected: &[u8]) {
        let answer = decoded(coded(coding, body));
        assert_eq!((&answer.body[..], answer.complete), (expected, true));
    }

    #[rstest]
    #[case::not_coded("gzip", b"{}".to_vec())]
    #[case::other_coding("deflate", gzip(b"{}"))]
    #[case::cut("gzip", gzip(b"{}")[..12].to_vec())]
    #[case::json_as_brotli("br", b"{}".to_vec())]
    fn body_in_another_coding_is_incomplete(#[case] coding: &'static str, #[case] body: Vec<u8>) {
        let answer = decoded(coded(coding, body.clone()));
        assert_eq!((&answer.body[..], answer.complete), (&body[..], false));
    }

    #[rstest]
    #[case::accepted("gzip, br", "br", b"\x0b\x00\x80{}\x03", true)]
    #[case::not_accepted("gzip", "br", b"\x0b\x00\x80{}\x03", false)]
    #[case::json_with_a_label("gzip, br", "br", b"{}", false)]
    #[case::read("gzip, br", "gzip", b"{}", false)]
    fn body_in_an_accepted_coding_is_not_judged(
        #[case] accepted: &str,
        #[case] coding: &'static str,
        #[case] body: &[u8],
        #[case] expected: bool,
    ) {
        let draft = Draft::new("POST", "/").header("Accept-Encoding", accepted);
        assert_eq!(is_unread(&draft, &Ok(decoded(coded(coding, body.to_vec())))), expected);
    }

    fn coded(coding: &'static str, body: Vec<u8>) -> Answer {
        let headers = HeaderMap::from_iter([(CONTENT_ENCODING, HeaderValue::from_static(coding))]);
        Answer { status: 200, version: Version::HTTP_11, headers, body: body.into(), complete: true }
    }
}
