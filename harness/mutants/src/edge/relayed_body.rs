//! Edges that relay another body.

use std::io::Read;

use flate2::read::GzDecoder;
use serde_json::Value;

use super::prelude::*;

pub(super) const MUTANTS: &[Behaviour<EdgeEffect>] = &[
    mutant("reserialises", "Parses the JSON and serialises it again.")
        .breaks("statement.body-unchanged", "body-parsed")
        .also_late()
        .then(Body(|body| match serde_json::from_slice::<Value>(body) {
            Ok(value) => value.to_string().into(),
            Err(_) => body.to_vec(),
        })),
    mutant("trims-white-space", "Trims white space from the body.")
        .breaks("statement.body-unchanged", "body-as-text")
        .also_late()
        .then(Body(|body| body.trim_ascii().to_vec())),
    mutant("decompresses-bodies", "Decompresses a body that is gzip.")
        .breaks("statement.body-unchanged", "body-parsed")
        .then(Body(|body| {
            let mut decompressed = Vec::new();
            let is_gzip = GzDecoder::new(body).read_to_end(&mut decompressed).is_ok();
            if is_gzip { decompressed } else { body.to_vec() }
        })),
    mutant("decodes-lossily", "Decodes the body as UTF-8 and replaces invalid bytes.")
        .breaks("statement.body-unchanged", "body-as-text")
        .then(Body(|body| String::from_utf8_lossy(body).into_owned().into())),
    mutant("strips-bom", "Removes a byte order mark.")
        .breaks("statement.body-unchanged", "body-as-text")
        .then(Body(|body| body.strip_prefix("\u{feff}".as_bytes()).unwrap_or(body).to_vec())),
    mutant("wraps-in-object", "Wraps the body in an object.")
        .breaks("statement.body-unchanged", "body-parsed")
        .also_late()
        .then(Body(|body| [b"{\"collection\":", body, b"}"].concat())),
    mutant("serialises-as-string", "Serialises the body as a JSON string.")
        .breaks("statement.body-unchanged", "body-parsed")
        .then(Body(|body| Value::from(String::from_utf8_lossy(body)).to_string().into())),
    mutant("serialises-as-buffer", "Serialises the body as the JSON of a buffer.")
        .breaks("statement.body-unchanged", "body-parsed")
        .then(Body(|body| serde_json::json!({ "type": "Buffer", "data": body }).to_string().into())),
    mutant("normalises-unicode", "Normalises text to composed Unicode.")
        .breaks("statement.body-unchanged", "body-as-text")
        .then(Body(|body| replaced(body, "e\u{301}", "\u{e9}"))),
    mutant("cuts-at-nul", "Cuts the body at a NUL byte.")
        .breaks("statement.body-unchanged", "body-as-text")
        .then(Body(|body| body.split(|byte| *byte == 0).next().unwrap_or_default().to_vec())),
    mutant("changes-line-endings", "Changes CRLF to LF.")
        .breaks("statement.body-unchanged", "body-as-text")
        .then(Body(|body| replaced(body, "\r\n", "\n"))),
    mutant("replaces-empty-body", "Relays {} in place of an empty body.")
        .breaks("statement.body-unchanged", "body-parsed")
        .when(BodyIsEmpty)
        .then(BodyText("{}")),
];

fn replaced(body: &[u8], from: &str, to: &str) -> Vec<u8> {
    std::str::from_utf8(body).map_or_else(|_| body.to_vec(), |text| text.replace(from, to).into())
}
