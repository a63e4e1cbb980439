use proptest::prelude::*;
use rstest::rstest;

use super::*;

/// Reads `wire` in pieces of `piece` bytes and renders the result.
fn read(wire: &[u8], method: &str, piece: usize) -> String {
    let mut reader = AnswerReader::new(method);
    for bytes in wire.chunks(piece) {
        match reader.push(bytes) {
            ReadProgress::More => {}
            ReadProgress::Done(answer) => return describe(&answer),
            ReadProgress::Broken(why) => return format!("broken: {why}"),
        }
    }
    reader.end().map_or("nothing".into(), |answer| describe(&answer))
}

fn describe(answer: &Answer) -> String {
    let whole = if answer.complete { "whole" } else { "cut" };
    format!("{} {whole} {:?}", answer.status, String::from_utf8_lossy(&answer.body))
}

#[rstest]
#[case::sized("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", "200 whole \"ok\"")]
#[case::sized_cut("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok", "200 cut \"ok\"")]
#[case::same_length_twice(
    "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok",
    "200 whole \"ok\""
)]
#[case::two_lengths(
    "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok",
    "broken: two different Content-Length fields"
)]
#[case::chunked(
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\no\r\n1;x=y\r\nk\r\n0\r\nT: v\r\n\r\n",
    "200 whole \"ok\""
)]
#[case::chunked_cut("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\no\r\n", "200 cut \"o\"")]
#[case::chunk_size(
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n+1\r\no\r\n",
    "broken: chunk size is not a number"
)]
#[case::chunk_that_overflows(
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\no\r\nffffffffffffffff\r\n",
    "broken: body longer than 4194304 bytes"
)]
#[case::until_end("HTTP/1.1 200 OK\r\n\r\nok", "200 whole \"ok\"")]
#[case::no_content("HTTP/1.1 204 No Content\r\n\r\n", "204 whole \"\"")]
#[case::interim("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n", "204 whole \"\"")]
#[case::head_cut("HTTP/1.1 200 OK\r\nContent-", "nothing")]
#[case::not_http("SSH-2.0-OpenSSH\r\n", "broken: invalid HTTP version")]
fn answer_is_read_to_its_end(#[case] wire: &str, #[case] expected: &str) {
    for piece in [1, 2, 7, wire.len()] {
        assert_eq!(read(wire.as_bytes(), "POST", piece), expected, "in pieces of {piece}");
    }
}

#[rstest]
#[case::sized("HTTP/1.1 200 OK\r\nContent-Length: 5000000\r\n\r\n", "")]
#[case::chunked("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4C4B40\r\n", "\r\n0\r\n\r\n")]
#[case::until_end("HTTP/1.1 200 OK\r\n\r\n", "")]
fn long_body_is_truncated(#[case] before: &str, #[case] after: &str) {
    let wire = [before.as_bytes(), &vec![b'x'; 5_000_000], after.as_bytes()].concat();
    let mut reader = AnswerReader::new("GET").keeping(3);
    let mut last = ReadProgress::More;
    for bytes in wire.chunks(100_000) {
        assert_eq!(last, ReadProgress::More);
        last = reader.push(bytes);
    }
    let answer = if let ReadProgress::Done(answer) = last { answer } else { reader.end().unwrap() };
    assert_eq!((&answer.body[..], answer.complete), (&b"xxx"[..], true));
    assert_eq!(read(&wire, "GET", 100_000), "broken: body longer than 4194304 bytes");
}

#[rstest]
#[case::interim("", "HTTP/1.1 103 Early Hints\r\n\r\n")]
#[case::trailers("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", "a: b\r\n")]
fn lines_without_end_are_no_answer(#[case] start: &str, #[case] line: &str) {
    let wire = format!("{start}{}", line.repeat(300));
    assert!(read(wire.as_bytes(), "GET", 1000).starts_with("broken: more than 256"), "{line}");
}

#[test]
fn tiny_chunks_without_end_are_no_answer() {
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let wire = format!("{head}{}", "1\r\nx\r\n".repeat(400_000));
    assert_eq!(read(wire.as_bytes(), "GET", 8000), "broken: more than 1048576 bytes of chunk-size lines");
    let wire = format!("{head}{}0\r\n\r\n", "1\r\nx\r\n".repeat(300_000));
    assert_eq!(read(wire.as_bytes(), "GET", 8000), format!("200 whole {:?}", "x".repeat(300_000)));
}

#[test]
fn an_answer_to_head_has_no_body() {
    assert_eq!(read(b"HTTP/1.1 405 No\r\nContent-Length: 30\r\n\r\n", "HEAD", 99), "405 whole \"\"");
}

proptest! {
    #[test]
    fn any_split_of_the_bytes_gives_the_same_answer_without_panic(wire in proptest::collection::vec(any::<u8>(), 0..300), piece in 1usize..40) {
        prop_assert_eq!(read(&wire, "GET", piece), read(&wire, "GET", wire.len().max(1)));
    }

    #[test]
    fn encoded_bodies_round_trip(body in proptest::collection::vec(any::<u8>(), 0..3000), size in 1usize..500, piece in 1usize..500) {
        let mut wire = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
        for chunk in body.chunks(size) {
            wire.extend(format!("{:x}\r\n", chunk.len()).bytes());
            wire.extend(chunk);
            wire.extend(b"\r\n");
        }
        wire.extend(b"0\r\n\r\n");
        let mut reader = AnswerReader::new("POST");
        let mut last = ReadProgress::More;
        for bytes in wire.chunks(piece) {
            last = reader.push(bytes);
        }
        let ReadProgress::Done(answer) = last else { panic!("{last:?}") };
        prop_assert_eq!(answer.body.as_ref(), body);
    }
}
