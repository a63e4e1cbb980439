//! Which rules of HTTP/1 a message breaks.

use proptest::prelude::*;
use rstest::rstest;

use super::MessageRule::{self, *};
use super::request_reader::RequestReader;
use crate::answer_reader::{AnswerReader, ReadProgress};
use crate::{Body, Draft, RequestForm};

const ANSWER: &str = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";
const REQUEST: &str = "POST /v1/collect HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\n{}";

/// Rules that an answer to this request breaks, read in pieces of this size.
fn broken_by_answer(draft: &Draft, answer: &[u8], piece: usize) -> Vec<MessageRule> {
    let mut reader = AnswerReader::checking(draft);
    for piece in answer.chunks(piece) {
        match reader.push(piece) {
            ReadProgress::More => {}
            ReadProgress::Done(answer) => reader.end_answers(answer.ends_connection(&draft.method), &[]),
            ReadProgress::Broken(_) => break,
        }
    }
    reader.take_violations().iter().map(|violation| violation.rule).collect()
}

/// Rules that requests on one connection break, read in pieces of this size, each with the number of its request.
fn broken_by_requests(requests: &[u8], piece: usize) -> Vec<(usize, MessageRule)> {
    let mut reader = RequestReader::new();
    let found = requests.chunks(piece).flat_map(|piece| reader.push(piece));
    found.map(|(request, violation)| (request, violation.rule)).collect()
}

#[rstest]
#[case::length(ANSWER, &[])]
#[case::chunks("HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n2;a=\"b\"\r\n{}\r\n0\r\nX-Sum: 1\r\n\r\n", &[])]
#[case::until_the_end("HTTP/1.1 200 OK\r\n\r\n{}", &[])]
#[case::other_bytes_in_a_value("HTTP/1.1 200 OK\r\na: \u{e9}\tb\r\ncontent-length: 0\r\n\r\n", &[])]
#[case::no_reason("HTTP/1.1 200 \r\ncontent-length: 0\r\n\r\n", &[])]
#[case::interim("HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n", &[])]
#[case::http10("HTTP/1.0 200 OK\r\ncontent-length: 0\r\n\r\n", &[])]
#[case::no_space_before_the_absent_reason("HTTP/1.1 200\r\ncontent-length: 0\r\n\r\n", &[])]
#[case::bytes_before_the_close("HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n{}", &[BytesAfterLast])]
#[case::empty_line_first("\r\nHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n", &[FirstLine])]
#[case::line_feed("HTTP/1.1 200 OK\ncontent-length: 0\r\n\r\n", &[BareLineFeed])]
#[case::last_line_feed("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\n", &[BareLineFeed])]
#[case::space("HTTP/1.1 200 OK\r\na: b\r\ncontent-length: 2\r\n\r\n{}\r\n", &[BytesAfterEnd])]
#[case::both("HTTP/1.1 200 OK\r\ncontent-length: 7\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n", &[BothLengths])]
#[case::twice("HTTP/1.1 200 OK\r\ncontent-length: 2\r\nContent-Length: 2\r\n\r\n{}", &[RepeatedLength])]
#[case::list("HTTP/1.1 200 OK\r\ncontent-length: 2, 2\r\n\r\n{}", &[RepeatedLength])]
#[case::no_number("HTTP/1.1 200 OK\r\ncontent-length: +2\r\n\r\n{}", &[MalformedLength])]
#[case::chunked_twice("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked, chunked\r\n\r\n0\r\n\r\n", &[TransferCoding])]
#[case::gzip("HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n", &[TransferCoding])]
#[case::coding_in_http10("HTTP/1.0 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n", &[CodingInHttp10])]
#[case::empty_no_content("HTTP/1.1 204 No Content\r\ncontent-length: 0\r\n\r\n", &[])]
#[case::no_content("HTTP/1.1 204 No Content\r\ncontent-length: 2\r\n\r\n", &[LengthWithoutBody])]
#[case::body_of_no_content("HTTP/1.1 204 No Content\r\n\r\n{}", &[BytesAfterEnd])]
#[case::padded("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2  \r\n{}\r\n0\r\n\r\n", &[PaddedChunkLine])]
#[case::trailer("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\nContent-Length: 5\r\n\r\n", &[Trailer])]
#[case::switch("HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n", &[UnrequestedSwitch])]
#[case::two_answers(&format!("{ANSWER}{ANSWER}"), &[BytesAfterEnd])]
fn answer_breaks_rules(#[case] answer: &str, #[case] expected: &[MessageRule]) {
    let broken = broken_by_answer(&Draft::new("POST", "/"), answer.as_bytes(), answer.len());
    assert_eq!(broken, expected);
}

#[rstest]
#[case::body_of_head(Draft::new("HEAD", "/"), ANSWER, &[BytesAfterEnd])]
#[case::two_answers_to_broken_chunks(broken(), &format!("{ANSWER}{ANSWER}"), &[])]
#[case::head(Draft::new("HEAD", "/"), "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n", &[])]
#[case::switch(Draft::new("GET", "/").header("Upgrade", "websocket"), "HTTP/1.1 101 S\r\nupgrade: websocket\r\n\r\n", &[])]
#[case::interim_to_http10(http10(), "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n", &[InterimToHttp10])]
#[case::coding_to_http10(http10(), "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n", &[CodingInHttp10])]
fn answer_breaks_rules_of_its_request(
    #[case] draft: Draft,
    #[case] answer: &str,
    #[case] expected: &[MessageRule],
) {
    assert_eq!(broken_by_answer(&draft, answer.as_bytes(), answer.len()), expected);
}

fn broken() -> Draft {
    Draft::new("POST", "/").header("Transfer-Encoding", "chunked").body(Body::Raw("x\r\n".into()))
}

fn http10() -> Draft {
    Draft { form: RequestForm { http10: true, ..RequestForm::default() }, ..Draft::new("POST", "/") }
}

#[rstest]
#[case::length(REQUEST, &[])]
#[case::no_body("GET /a?b HTTP/1.1\r\nHost: a\r\n\r\n", &[])]
#[case::three(&format!("{REQUEST}{CHUNKED}{REQUEST}"), &[])]
#[case::http10("POST / HTTP/1.0\r\ncontent-length: 0\r\n\r\n", &[])]
#[case::empty_line_first(&format!("\r\n{REQUEST}"), &[(0, EmptyLineFirst)])]
#[case::empty_line_after(&format!("{REQUEST}\r\n{REQUEST}"), &[(1, EmptyLineFirst)])]
#[case::two_empty_lines(&format!("\r\n\r\n{REQUEST}"), &[(0, EmptyLineFirst), (0, FirstLine)])]
#[case::no_request("{}", &[(0, FirstLine)])]
#[case::tls("\x16\x03\x01\x02\0", &[])]
#[case::longer_than_its_length(&REQUEST.replace("{}", "{}}"), &[(0, BytesAfterEnd)])]
#[case::lower_version("POST / http/1.1\r\nhost: a\r\n\r\n", &[(0, FirstLine)])]
#[case::space_in_target("POST /a b HTTP/1.1\r\nhost: a\r\n\r\n", &[(0, FirstLine)])]
#[case::no_host("POST / HTTP/1.1\r\n\r\n", &[(0, NoHost)])]
#[case::two_hosts("POST / HTTP/1.1\r\nhost: a\r\nHost: a\r\n\r\n", &[(0, RepeatedHost)])]
#[case::folding("POST / HTTP/1.1\r\nhost: a\r\nb: c\r\n d\r\n\r\n", &[(0, Folding)])]
#[case::space_before_colon("POST / HTTP/1.1\r\nhost : a\r\n\r\n", &[(0, SpaceBeforeColon)])]
#[case::no_field("POST / HTTP/1.1\r\nhost: a\r\nb\r\n\r\n", &[(0, FieldLine)])]
#[case::nul("POST / HTTP/1.1\r\nhost: a\r\nb: \0\r\n\r\n", &[(0, NulInValue)])]
#[case::control("POST / HTTP/1.1\r\nhost: a\r\nb: c\x01\r\n\r\n", &[(0, ControlInValue)])]
#[case::carriage_return("POST / HTTP/1.1\r\nhost: a\r\nb: c\rd: e\r\n\r\n", &[(0, BareCarriageReturn), (0, ControlInValue)])]
#[case::line_feed("POST / HTTP/1.1\nhost: a\n\n", &[(0, BareLineFeed)])]
#[case::both("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 0\r\ntransfer-encoding: chunked\r\n\r\n", &[(0, BothLengths)])]
#[case::identity("POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: identity\r\n\r\n", &[(0, TransferCoding)])]
#[case::other_coding(&CHUNKED.replace("encoding: ", "encoding: gzip, "), &[])]
#[case::chunked_twice(&CHUNKED.replace("encoding: ", "encoding: chunked, "), &[(0, TransferCoding)])]
#[case::padded_chunks(&CHUNKED.replace("\r\n2\r\n", "\r\n1 \r\n{\r\n1 \r\n").replace("{}\r\n", "}\r\n"), &[(0, PaddedChunkLine)])]
#[case::chunk_size(&CHUNKED.replace("\r\n2\r\n", "\r\n+2\r\n"), &[(0, ChunkLine)])]
#[case::chunk_end(&CHUNKED.replace("{}\r\n", "{}}\r\n"), &[(0, ChunkLine)])]
#[case::second(&format!("{REQUEST}POST / HTTP/1.1\r\n\r\n"), &[(1, NoHost)])]
fn requests_break_rules(#[case] requests: &str, #[case] expected: &[(usize, MessageRule)]) {
    for piece in [1, 7, requests.len()] {
        assert_eq!(broken_by_requests(requests.as_bytes(), piece), expected, "in pieces of {piece}");
    }
}

const CHUNKED: &str =
    "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nx-sum: 1\r\n\r\n";

proptest! {
    #[test]
    fn pieces_of_any_size_break_the_same_rules(text in "[A-Z ]{0,4}[\r\n:a-z0-9 ]{0,40}", piece in 1_usize..20) {
        let text = format!("{REQUEST}{text}\r\n\r\n");
        let whole = broken_by_requests(text.as_bytes(), text.len());
        prop_assert_eq!(broken_by_requests(text.as_bytes(), piece), whole);
    }

    #[test]
    fn no_bytes_stop_the_reader(bytes in prop::collection::vec(any::<u8>(), 0..200), piece in 1_usize..20) {
        broken_by_requests(&bytes, piece);
        broken_by_answer(&Draft::new("GET", "/"), &bytes, piece);
    }
}
