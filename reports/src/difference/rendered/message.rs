use crate::difference::{MessageFault, MessageRule};

/// What a message did that breaks a rule, and where a standard states the rule.
pub(super) fn fault(fault: &MessageFault) -> String {
    let excerpt = fault.excerpt.text();
    if fault.rule == MessageRule::NotHttp {
        return format!("no HTTP: {excerpt}");
    }
    let (what, source) = described(fault.rule);
    let shown = if excerpt.is_empty() { String::new() } else { format!(": {excerpt}") };
    format!("{what}{shown} ({source})")
}

fn described(rule: MessageRule) -> (&'static str, &'static str) {
    match rule {
        MessageRule::NotHttp => ("no HTTP", "RFC 9112 §2.1"),
        MessageRule::FirstLine => ("bytes that begin no message", "RFC 9112 §3 and §4"),
        MessageRule::EmptyLineFirst => ("an empty line before the first line", "RFC 9112 §2.2"),
        MessageRule::BareLineFeed => ("a line that ends without a carriage return", "RFC 9112 §2.2"),
        MessageRule::BareCarriageReturn => ("a carriage return within a line", "RFC 9112 §2.2"),
        MessageRule::Folding => ("a header field on several lines", "RFC 9112 §5.2"),
        MessageRule::SpaceBeforeColon => ("white space before the colon of a field", "RFC 9112 §5.1"),
        MessageRule::FieldLine => ("a line that is no header field", "RFC 9112 §5.1"),
        MessageRule::NulInValue => ("a NUL in the value of a field", "RFC 9110 §5.5"),
        MessageRule::ControlInValue => ("a control character in the value of a field", "RFC 9110 §5.5"),
        MessageRule::FieldValue => {
            ("a value that the definition of its field does not permit", "RFC 9110 §2.2")
        }
        MessageRule::RepeatedField => ("a field twice that can stand once only", "RFC 9110 §5.3"),
        MessageRule::BothLengths => ("both Content-Length and Transfer-Encoding", "RFC 9112 §6.2"),
        MessageRule::RepeatedLength => ("more than one Content-Length", "RFC 9110 §8.6"),
        MessageRule::MalformedLength => ("a Content-Length that is no number", "RFC 9110 §8.6"),
        MessageRule::TransferCoding => ("a transfer coding that is not a single `chunked`", "RFC 9112 §6.1"),
        MessageRule::CodingInHttp10 => ("Transfer-Encoding with HTTP/1.0", "RFC 9112 §6.1"),
        MessageRule::LengthWithoutBody => {
            ("a length on an answer without a body", "RFC 9110 §8.6 and RFC 9112 §6.1")
        }
        MessageRule::ChunkLine => ("a malformed chunk size", "RFC 9112 §7.1"),
        MessageRule::PaddedChunkLine => ("white space after a chunk size", "RFC 9112 §7.1"),
        MessageRule::Trailer => ("a trailer field that cannot be one", "RFC 9110 §6.5.1"),
        MessageRule::BytesAfterEnd => ("bytes after the end of the message", "RFC 9112 §6.3"),
        MessageRule::BytesAfterLast => ("bytes after the end of the last message", "RFC 9112 §6.3"),
        MessageRule::NoHost => ("no Host", "RFC 9112 §3.2"),
        MessageRule::RepeatedHost => ("more than one Host", "RFC 9112 §3.2"),
        MessageRule::UnrequestedSwitch => ("101 to a request without Upgrade", "RFC 9110 §7.8"),
        MessageRule::InterimToHttp10 => ("an interim answer to a request of HTTP/1.0", "RFC 9110 §15.2"),
        MessageRule::NoContinue => ("neither 100 nor an answer to Expect: 100-continue", "RFC 9110 §10.1.1"),
    }
}
