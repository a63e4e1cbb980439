//! Edges that read the body as text, and that read its framing wrongly.

use super::prelude::*;

pub(super) const MUTANTS: &[Behaviour<EdgeEffect>] = &[
    mutant("reads-text", "Reads the body as text, without its byte order mark.")
        .breaks("statement.body-unchanged", "body-as-text")
        .then(Body(|body| {
            let text = String::from_utf8_lossy(body);
            text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned().into()
        })),
    mutant("reads-text-strictly", "Answers 500 to a body that is no UTF-8 text.")
        .breaks("statement.body-unchanged", "body-as-text")
        .when(Not(&BodyIsUtf8))
        .then(Refuse(Text(500, "Internal Server Error"))),
    mutant("reads-latin-1", "Reads the body as Latin-1 and relays UTF-8.")
        .breaks("statement.body-unchanged", "body-as-text")
        .then(Body(|body| body.iter().map(|byte| char::from(*byte)).collect::<String>().into())),
    mutant("counts-characters", "Sends the number of characters as Content-Length.")
        .breaks("statement.body-unchanged", "body-as-text")
        .then(Body(|body| {
            let text = String::from_utf8_lossy(body);
            text.as_bytes()[..text.encode_utf16().count()].to_vec()
        })),
    mutant("drops-chunked-body", "Relays an empty body in place of a chunked one.")
        .breaks("statement.body-unchanged", "request-framing")
        .also_late()
        .when(Has("transfer-encoding"))
        .then(BodyText("")),
    mutant("refuses-expect", "Answers 417 to Expect: 100-continue.")
        .breaks("statement.body-unchanged", "request-framing")
        .when(Has("expect"))
        .then(Instead(Json(417, "{}"))),
];
