//! Services that answer with another session reference.

use percent_encoding::percent_decode_str;

use super::prelude::*;

pub(super) const MUTANTS: &[Behaviour<ServiceEffect>] = &[
    mutant("decodes-reference-twice", "Decodes the reference twice.")
        .breaks("verdict.404.pending", "reference-changed")
        .when(PENDING)
        .answers(SetMember("ref", |seen| json!(percent_decode_str(seen.reference).decode_utf8_lossy()))),
    mutant("returns-encoded-reference", "Returns the reference percent-encoded.")
        .breaks("verdict.404.pending", "reference-changed")
        .when(PENDING)
        .answers(SetMember("ref", |seen| {
            let path = seen.target.split('?').next().unwrap_or_default();
            json!(path.rsplit('/').next().unwrap_or_default())
        })),
    mutant("decodes-plus-as-space", "Decodes a plus sign in the reference as a space.")
        .breaks("verdict.404.pending", "reference-changed")
        .when(PENDING)
        .answers(SetMember("ref", |seen| json!(seen.reference.replace('+', " ")))),
    mutant("lower-cases-reference", "Returns the reference in lower case.")
        .breaks("verdict.404.pending", "reference-changed")
        .when(PENDING)
        .answers(SetMember("ref", |seen| json!(seen.reference.to_lowercase()))),
    mutant("escapes-reference", "Returns the reference HTML-escaped.")
        .breaks("verdict.404.pending", "reference-changed")
        .when(PENDING)
        .answers(SetMember("ref", |seen| {
            let text = seen.reference.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
            json!(text.replace('"', "&quot;").replace('\'', "&#39;"))
        })),
    mutant("cuts-reference-at-slash", "Cuts the reference at a slash.")
        .breaks("verdict.404.pending", "reference-changed")
        .should()
        .when(PENDING)
        .answers(SetMember("ref", |seen| json!(seen.reference.split('/').next()))),
    mutant("first-reference-of-connection", "Returns the reference of the connection's first request.")
        .breaks("verdict.404.pending", "reference-mixed")
        .when(PENDING)
        .answers(RepeatsReference(Which::First, (Same::Connection, &PENDING))),
    mutant("previous-reference", "Returns the reference of the previous request.")
        .breaks("verdict.404.pending", "reference-mixed")
        .when(PENDING)
        .answers(RepeatsReference(Which::Last, (Same::Part, &PENDING))),
    mutant("trims-reference", "Removes white space around the reference.")
        .breaks("verdict.404.pending", "reference-changed")
        .when(PENDING)
        .answers(SetMember("ref", |seen| json!(seen.reference.trim()))),
    mutant("composes-letters-of-reference", "Composes the letters of the reference.")
        .breaks("verdict.404.pending", "reference-changed")
        .when(PENDING)
        .answers(SetMember("ref", |seen| json!(seen.reference.replace("e\u{301}", "é")))),
    mutant("cuts-long-reference", "Cuts the reference after 255 characters.")
        .breaks("verdict.404.pending", "reference-changed")
        .when(PENDING)
        .answers(SetMember("ref", |seen| json!(seen.reference.chars().take(255).collect::<String>()))),
    mutant("drops-extension-of-reference", "Removes a file extension from the reference.")
        .breaks("verdict.404.pending", "reference-changed")
        .when(PENDING)
        .answers(SetMember("ref", |seen| match seen.reference.rsplit_once('.') {
            Some((name, "json" | "html")) => json!(name),
            _ => json!(seen.reference),
        })),
    mutant("reserves-names", "Answers health checks in place of references named health or constructor.")
        .breaks("verdict.404.pending", "reference-changed")
        .when(All(&[VERDICT, Reference(&["health", "constructor"])]))
        .then(Instead(Json(200, OK))),
    mutant("ignores-case-of-reference", "Returns the verdict of a reference in other letters.")
        .breaks("verdict.404.pending", "reference-changed")
        .when(PENDING)
        .answers(Repeats(Which::Last, (Same::Letters, &AVAILABLE))),
];
