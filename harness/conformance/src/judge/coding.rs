use std::io::Read;

use edgeproof_http::Answer;
use flate2::read::{GzDecoder, ZlibDecoder};
use http::header::CONTENT_ENCODING;

/// Largest decoded body (bytes).
const MAX_DECODED: u64 = 1024 * 1024;

/// The answer without a content coding that clients decode by themselves (RFC 9110 §8.4.1). A body that is not in its
/// coding stays as it is.
pub fn decoded(mut answer: Answer) -> Answer {
    let body = match answer.headers.get(CONTENT_ENCODING).map(http::HeaderValue::as_bytes) {
        Some(b"gzip" | b"x-gzip") => read(GzDecoder::new(&answer.body[..])),
        Some(b"deflate") => read(ZlibDecoder::new(&answer.body[..])),
        _ => None,
    };
    if let Some(body) = body {
        answer.body = body.into();
    }
    answer
}

/// Whether data begins like gzip (RFC 1952 §2.3.1).
pub(crate) fn is_gzip(data: &[u8]) -> bool {
    data.starts_with(&[0x1f, 0x8b])
}

fn read(decoder: impl Read) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    decoder.take(MAX_DECODED).read_to_end(&mut body).ok()?;
    Some(body)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::{GzEncoder, ZlibEncoder};
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
    #[case::not_coded("gzip", b"{}".to_vec(), b"{}")]
    fn body_is_decoded(#[case] coding: &'static str, #[case] body: Vec<u8>, #[case] expected: &[u8]) {
        let headers = HeaderMap::from_iter([(CONTENT_ENCODING, HeaderValue::from_static(coding))]);
        let answer =
            Answer { status: 200, version: Version::HTTP_11, headers, body: body.into(), complete: true };
        assert_eq!(decoded(answer).body, expected);
    }
}
