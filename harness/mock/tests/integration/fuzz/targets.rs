//! Fuzz targets with their invariants, for libFuzzer (`just fuzz`) and for the test in `mod.rs`.

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
use edgeproof_fixtures::spec::{Spec, file_names};
use edgeproof_fixtures::verdict::{VerdictKeys, verify_token};
use edgeproof_http::fuzzing::read_answer;
use edgeproof_http::{Draft, ServerAddress, send};
use edgeproof_mock::{ReplyShape, presented_licenses};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;

/// An answer. The first byte sets the size of its pieces, and whether it answers `HEAD`.
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

/// The bytes of a server before it closes the connection.
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
                // The client may close first.
                let _ = client.write_all(input).await;
            };
            let (sent, served) = tokio::join!(send(&endpoint, &draft, LIMIT), timeout(LIMIT * 2, serve));
            served.expect("the client connects");
            assert!(sent.took < LIMIT, "{:?}", sent.reply);
            if let Ok(answer) = sent.reply {
                assert!(answer.body.len() <= input.len());
            }
        });
    });
}

/// Folder of the tables.
pub(crate) const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/spec");

/// A replacement of the table that the first byte selects.
pub(crate) fn tables(input: &[u8]) {
    thread_local! {
        static COPY: RefCell<Option<TempDir>> = const { RefCell::new(None) };
    }
    let Some((first, table)) = input.split_first() else { return };
    let names: Vec<String> = file_names().collect();
    let name = &names[usize::from(*first) % names.len()];
    COPY.with_borrow_mut(|copy| {
        let folder = copy.get_or_insert_with(copy_of_tables).path();
        fs::write(folder.join(name), table).expect("the copy is writable");
        for path in [folder.to_owned(), folder.join("pre-seal.toml")] {
            // An error names a mistake, and the rows of valid tables have unique ids.
            match Spec::load(&path) {
                Ok(spec) => {
                    assert!(spec.rows().iter().all(|row| spec.row(&row.id).is_some_and(|same| same == row)));
                }
                Err(error) => assert!(error.errors().count() > 0),
            }
        }
        fs::copy(Path::new(FOLDER).join(name), folder.join(name)).expect("the table exists");
    });
}

fn copy_of_tables() -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder can be created");
    for entry in fs::read_dir(FOLDER).expect("the tables exist").flatten() {
        if entry.path().is_file() {
            fs::copy(entry.path(), folder.path().join(entry.file_name())).expect("a table can be copied");
        }
    }
    folder
}

/// Credentials with the same tokens in every run.
pub(crate) fn credentials() -> &'static Credentials {
    static CREDENTIALS: OnceLock<Credentials> = OnceLock::new();
    CREDENTIALS.get_or_init(|| {
        let options = MintOptions { seed: Some(1), now: now(), ..MintOptions::default() };
        Credentials::mint(&options).expect("the default options are valid")
    })
}

fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000)
}

/// A license. An accepted one was minted.
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

/// A value of `Authorization`. An accepted one contains a minted token.
pub(crate) fn read_token(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    if check_read_token(Some(&text), credentials().keys(), &Revocations::default(), now()).is_ok() {
        let mut forms = edgeproof_fixtures::credentials::ReadTokenForm::ALL.iter();
        assert!(forms.any(|form| text.contains(&credentials().read_token(*form))), "a forged token: {text}");
    }
}

/// A request: its target, then a header on each line.
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

/// Seal keys, the same in every run.
pub(crate) fn seal_keys() -> &'static SealKeys {
    static KEYS: LazyLock<SealKeys> =
        LazyLock::new(|| SealKeys::from_secrets(&[[7; 32]], &[[8; 32]]).expect("the secrets are valid"));
    &KEYS
}

/// A sealed collection. An opened one has an accepted key and the id of its copies.
pub(crate) fn collection(input: &[u8]) {
    let opened = seal::open(input, seal_keys());
    if let Ok(opened) = opened {
        assert!(seal_keys().accepts(&opened.key_id));
        assert_eq!(seal::replay_id(input), Some(opened.replay_id));
    }
}

/// A key set. A parsed one survives a round trip with the same faults.
pub(crate) fn key_set(input: &[u8]) {
    let Ok(set) = KeySet::parse(input) else { return };
    let again = KeySet::parse(set.to_json().as_bytes()).expect("a written key set parses");
    assert_eq!(again.faults(), set.faults());
    assert_eq!(again.etag(), set.etag());
}

/// A verdict token. Fresh keys verify none.
pub(crate) fn verdict_token(input: &[u8]) {
    static KEYS: OnceLock<KeySet> = OnceLock::new();
    let keys = KEYS.get_or_init(|| VerdictKeys::fresh().key_set());
    assert!(verify_token(&String::from_utf8_lossy(input), keys).is_err());
}

/// A reply shape. A parsed one renders the reason.
pub(crate) fn reply_shape(input: &[u8]) {
    let Ok(shape) = ReplyShape::parse("shape.json", String::from_utf8_lossy(input).into_owned()) else {
        return;
    };
    assert!(shape.render(401, "edgeproof_fuzzed").to_string().contains("edgeproof_fuzzed"));
}
