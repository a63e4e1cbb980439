//! A collector that seals in a format of its own, and the command that opens it (`--open-with`).

use edgeproof_reports::Outcome;
use rstest::rstest;

use crate::wrapped::{Run, folder_with};

/// A collector that seals `contents` with this algorithm.
fn module(algorithm: &str, contents: &str) -> String {
    format!(
        "import * as library from './library.js';\nconst right = globalThis.fetch.bind(globalThis);\nlet reference;\n\
         const text = (bytes) => btoa(String.fromCharCode(...new Uint8Array(bytes)));\n\
         const sealed = async (contents) => {{\n  const iv = crypto.getRandomValues(new Uint8Array(16));\n  \
         const key = await crypto.subtle.importKey('raw', new Uint8Array(16), '{algorithm}', false, ['encrypt']);\n  \
         const how = {{ name: '{algorithm}', iv, counter: iv, length: 128 }};\n  \
         const data = new TextEncoder().encode(JSON.stringify(contents));\n  \
         return JSON.stringify({{ v: 9, iv: text(iv), c: text(await crypto.subtle.encrypt(how, key, data)) }});\n}};\n\
         globalThis.fetch = async (url, init) => init?.method !== 'POST' ? right(url, init) :\n  \
         right(url, {{ ...init, body: await sealed({contents}) }});\n\
         export const create = (options) => {{\n  const one = library.create(options);\n  \
         return {{ ...one, start: (ref) => {{ reference = ref; one.start(ref) }} }};\n}};\n"
    )
}

/// A command that opens these collections. `cipher`: the algorithm, as Node names it.
fn opener(cipher: &str) -> String {
    format!(
        "const crypto = require('node:crypto'); let body = '';\n\
         process.stdin.on('data', (data) => body += data).on('end', () => {{\n  try {{\n    \
         const {{ iv, c }} = JSON.parse(body); const data = Buffer.from(c, 'base64');\n    \
         const mac = '{cipher}'.endsWith('gcm') ? 16 : 0;\n    \
         const open = crypto.createDecipheriv('{cipher}', Buffer.alloc(16), Buffer.from(iv, 'base64'));\n    \
         if (mac) open.setAuthTag(data.subarray(-mac));\n    \
         const text = Buffer.concat([open.update(mac ? data.subarray(0, -mac) : data), open.final()]);\n    \
         process.stdout.write(text);\n  \
         }} catch {{ process.exit(1) }}\n}});\n"
    )
}

/// Runs these cases with the opener.
fn run(algorithm: &str, cipher: &str, contents: &str, cases: &[&str]) -> Run {
    let folder = folder_with(&module(algorithm, contents)).with("open.cjs", &opener(cipher));
    Run::in_folder(&folder, cases, &["--open-with", "node open.cjs"])
}

const CONTENTS: &str = "{ sessionRef: reference, agent: navigator.userAgent, padding: 'x'.repeat(200) }";

#[test]
fn collection_of_another_format_is_opened() {
    let run = run("AES-GCM", "aes-128-gcm", CONTENTS, &["sealed.*", "post.private", "mode.default"]);
    assert_eq!(run.exit(), 0, "{}", run.because());
    let passed = run.ended(Outcome::Pass);
    assert!(passed.contains(&"sealed.opens") && passed.contains(&"sealed.reference.unicode"), "{passed:?}");
    assert_eq!(run.ended(Outcome::NotApplicable), ["mode.default"], "{}", run.because());
}

#[rstest]
#[case::malleable("AES-CTR", "aes-128-ctr", CONTENTS, "sealed.opens")]
#[case::other_reference(
    "AES-GCM",
    "aes-128-gcm",
    "{ sessionRef: reference.trim().slice(0, 64) }",
    "sealed.reference.spaces"
)]
#[case::page_data(
    "AES-GCM",
    "aes-128-gcm",
    "{ sessionRef: reference, title: document.title }",
    "post.private"
)]
#[case::other_key("AES-GCM", "aes-256-gcm", CONTENTS, "sealed.opens")]
fn mistake_in_the_contents_is_found(
    #[case] algorithm: &str,
    #[case] cipher: &str,
    #[case] contents: &str,
    #[case] failing: &str,
) {
    let run = run(algorithm, cipher, contents, &[failing]);
    assert_eq!(run.exit(), 1, "{}", run.because());
    assert_eq!(run.ended(Outcome::Fail), [failing], "{}", run.text());
}

/// A command that fails is no finding about the collector.
#[rstest]
#[case::garbage("echo opened", "expected an object with sessionRef")]
#[case::crash("sh -c 'exit 7'", "exit status: 7")]
fn command_that_fails_exits_3_with_one_message(#[case] command: &str, #[case] text: &str) {
    let folder = folder_with(&module("AES-GCM", CONTENTS));
    let run = Run::in_folder(&folder, &["sealed.opens"], &["--open-with", command]);
    assert_eq!(run.exit(), 3, "{}", run.text());
    assert!(
        run.text().contains("the command of --open-with failed") && run.text().contains(text),
        "{}",
        run.text()
    );
}
