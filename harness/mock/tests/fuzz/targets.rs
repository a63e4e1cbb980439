//! What is fuzzed, each with what must hold for any input. For libFuzzer (`just fuzz`) and for the test beside this.

use std::cell::RefCell;
use std::fs;
use std::path::Path;
use std::sync::{LazyLock, OnceLock};
use std::time::{Duration, SystemTime};

use edgeproof_fixtures::credentials::{
    Credentials, MintOptions, Revocations, check_license, check_read_token,
};
use edgeproof_fixtures::key_set::KeySet;
use edgeproof_fixtures::seal::{self, SealKeys};
use edgeproof_fixtures::spec::{Spec, Version};
use edgeproof_fixtures::verdict::{VerdictKeys, verify_token};
use edgeproof_http::fuzzing::read_answer;
use edgeproof_http::{Draft, ServerAddress, send};
use edgeproof_mock::{ReplyShape, presented_licenses};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};

/// An answer. The first byte says how large the pieces are that it comes in, and whether it is one to `HEAD`.
pub(crate) fn answer(input: &[u8]) {
    let Some((first, wire)) = input.split_first() else { return };
    let method = if first & 0x80 == 0 { "POST" } else { "HEAD" };
    let piece = usize::from(first & 0x7f) + 1;
    let whole = read_answer(method, [wire]);
    assert_eq!(read_answer(method, wire.chunks(piece)), whole, "in pieces of {piece}");
    if let Ok(Some(answer)) = whole {
        assert!(answer.body.len() <= wire.len());
        assert!(method != "HEAD" || answer.body.is_empty());
    }
}

/// A server's whole answer, after which it closes.
pub(crate) fn client(input: &[u8]) {
    const LIMIT: Duration = Duration::from_secs(10);
    thread_local! {
        static RUNTIME: Runtime = Builder::new_current_thread().enable_all().build().expect("a runtime starts");
    }
    RUNTIME.with(|runtime| {
        runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
            let address = listener.local_addr().expect("it listens");
            let url = format!("http://{address}").parse().expect("an address makes a URL");
            let endpoint = ServerAddress::resolve(&url, None).await.expect("a number resolves");
            let draft = Draft::new("GET", "/health");
            let serve = async {
                let Ok((mut client, _)) = listener.accept().await else { return };
                let mut head = Vec::new();
                while !head.ends_with(b"\r\n\r\n")
                    && client.read_buf(&mut head).await.is_ok_and(|read| read > 0)
                {}
                // A client that has seen enough closes first.
                let _ = client.write_all(input).await;
            };
            let (sent, ()) = tokio::join!(send(&endpoint, &draft, LIMIT), serve);
            assert!(sent.took < LIMIT, "{:?}", sent.reply);
            if let Ok(answer) = sent.reply {
                assert!(answer.body.len() <= input.len());
            }
        });
    });
}

/// Files that the loader reads.
pub(crate) const TABLES: [&str; 10] = [
    "sections.toml",
    "edge.toml",
    "relay.toml",
    "verdict.toml",
    "endpoints.toml",
    "settings.toml",
    "limits.toml",
    "statements.toml",
    "profile.toml",
    "pre-seal.toml",
];
/// Where they are.
pub(crate) const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/spec");

/// A table in the place of one of the tables, which the first byte names.
pub(crate) fn tables(input: &[u8]) {
    thread_local! {
        static COPY: RefCell<Option<TempDir>> = const { RefCell::new(None) };
    }
    let Some((first, table)) = input.split_first() else { return };
    let name = TABLES[usize::from(*first) % TABLES.len()];
    COPY.with_borrow_mut(|copy| {
        let folder = copy.get_or_insert_with(copy_of_tables).path();
        fs::write(folder.join(name), table).expect("the copy can be written to");
        for version in Version::ALL {
            // What is wrong is said with something, and what is right has rows with ids of their own.
            match Spec::load(folder, *version) {
                Ok(spec) => {
                    assert!(spec.rows().iter().all(|row| spec.row(&row.id).is_some_and(|same| same == row)));
                }
                Err(error) => assert!(error.errors().count() > 0),
            }
        }
        fs::copy(Path::new(FOLDER).join(name), folder.join(name)).expect("the table is there");
    });
}

fn copy_of_tables() -> TempDir {
    let folder = tempfile::tempdir().expect("there is a place for temporary files");
    for entry in fs::read_dir(FOLDER).expect("the tables are there").flatten() {
        if entry.path().is_file() {
            fs::copy(entry.path(), folder.path().join(entry.file_name())).expect("a table can be copied");
        }
    }
    folder
}

/// Credentials whose tokens are the same in every run.
pub(crate) fn credentials() -> &'static Credentials {
    static CREDENTIALS: OnceLock<Credentials> = OnceLock::new();
    CREDENTIALS.get_or_init(|| {
        let options = MintOptions { seed: Some(1), now: now(), ..MintOptions::default() };
        Credentials::mint(&options).expect("the usual options are good")
    })
}

fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000)
}

/// A license. One that is taken is one of those that were minted.
pub(crate) fn license(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    if check_license(Some(&text), credentials().keys(), &Revocations::default(), now()).is_ok() {
        let forms = edgeproof_fixtures::credentials::LicenseForm::ALL.iter();
        assert!(
            forms.map(|form| credentials().license(*form)).any(|license| license == text),
            "a forged license: {text}"
        );
    }
}

/// The value of `Authorization`. One that is taken holds one of the tokens that were minted.
pub(crate) fn read_token(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    if check_read_token(Some(&text), credentials().keys(), &Revocations::default(), now()).is_ok() {
        let mut forms = edgeproof_fixtures::credentials::ReadTokenForm::ALL.iter();
        assert!(forms.any(|form| text.contains(&credentials().read_token(*form))), "a forged token: {text}");
    }
}

/// A request: its target, then a header field on each line.
pub(crate) fn presented(input: &[u8]) {
    let mut lines = input.split(|byte| *byte == b'\n');
    let target = String::from_utf8_lossy(lines.next().unwrap_or_default()).into_owned();
    let headers = lines.filter_map(|line| {
        let colon = line.iter().position(|byte| *byte == b':')?;
        let name = http::HeaderName::from_bytes(&line[..colon]).ok()?;
        Some((name, http::HeaderValue::from_bytes(line[colon + 1..].trim_ascii()).ok()?))
    });
    for found in presented_licenses(&target, &headers.collect()) {
        assert!(!found.is_empty() && !found.contains('\n'));
    }
}

/// The keys that collections are opened with, the same in every run.
pub(crate) fn seal_keys() -> &'static SealKeys {
    static KEYS: LazyLock<SealKeys> =
        LazyLock::new(|| SealKeys::from_secrets(&[[7; 32]], &[[8; 32]]).expect("one is accepted"));
    &KEYS
}

/// A sealed collection. One that opens says what a whole one says, and is told from a copy of it by nothing.
pub(crate) fn collection(input: &[u8]) {
    let opened = seal::open(input, seal_keys());
    if let Ok(opened) = opened {
        assert!(seal_keys().accepts(&opened.key_id));
        assert_eq!(seal::replay_id(input), Some(opened.replay_id));
    }
}

/// A key set. One that is taken is written so that it is taken again, with the same faults.
pub(crate) fn key_set(input: &[u8]) {
    let Ok(set) = KeySet::parse(input) else { return };
    let again = KeySet::parse(set.to_json().as_bytes()).expect("what was read can be written");
    assert_eq!(again.faults(), set.faults());
    assert_eq!(again.etag(), set.etag());
}

/// A verdict's token. There is none that fresh keys have signed.
pub(crate) fn verdict_token(input: &[u8]) {
    static KEYS: OnceLock<KeySet> = OnceLock::new();
    let keys = KEYS.get_or_init(|| VerdictKeys::fresh().key_set());
    assert!(verify_token(&String::from_utf8_lossy(input), keys).is_err());
}

/// The shape of the service's reply. One that is taken holds the reason.
pub(crate) fn reply_shape(input: &[u8]) {
    let Ok(shape) = ReplyShape::parse("shape.json", String::from_utf8_lossy(input).into_owned()) else {
        return;
    };
    assert!(shape.render(401, "edgeproof_fuzzed").to_string().contains("edgeproof_fuzzed"));
}
