use std::collections::{BTreeMap, BTreeSet};

use edgeproof_fixtures::key_set::{Jwk, KeySet};
use edgeproof_fixtures::register::Message;
use edgeproof_http::{Answer, Body, Draft};
use edgeproof_reports::difference::{DifferenceKind, KeyRule, KeySetValue, OneKeyFault, Statuses};
use edgeproof_reports::{CaseLevel, Hop};

use super::shape::parse_key_set;
use super::{KeySetExchange, KeySetRule};
use crate::cases::service::{forms, is_blocked, status, visit};
use crate::cases::{CaseList, Keys, PUBLISHED, ServiceCaseContext, UnfamiliarFields, published_status};
use crate::judge::{self, AnswerResult, Check, is_gzip};

/// Header fields with which clients and caches request the key set: name, value.
const HEADERS: [(&str, &str); 22] = [
    ("Accept", "*/*"),
    ("Accept", "application/jwk-set+json"),
    ("Accept", "text/html,application/xhtml+xml,*/*;q=0.8"),
    ("Accept-Encoding", "identity"),
    ("Accept-Language", "de"),
    ("Authorization", "Bearer service_read_none"),
    ("Authorization", "Basic bm9uZTpub25l"),
    ("Cookie", "session=1"),
    ("Origin", "https://shop.example"),
    ("User-Agent", "Mozilla/5.0"),
    ("User-Agent", "Java/21"),
    ("Cache-Control", "no-cache"),
    ("Cache-Control", "max-age=0"),
    ("Pragma", "no-cache"),
    ("Connection", "close"),
    ("X-Forwarded-Proto", "http"),
    ("X-HTTP-Method-Override", "DELETE"),
    ("If-None-Match", "\"edgeproof\""),
    ("If-None-Match", "W/\"edgeproof\", \"other\""),
    ("If-None-Match", "edgeproof"),
    ("If-Modified-Since", "Sun, 06 Nov 1994 08:49:37 GMT"),
    ("If-Modified-Since", "yesterday"),
];
/// Number of requests over one connection.
const MANY: usize = 24;

/// Other forms of a request for the key set, other states of a connection, and what JOSE libraries require of each key.
pub(super) fn add(cases: &mut CaseList<'_, Keys>) {
    requests(cases);
    conditions(cases);
    head(cases);
    connection(cases);
    visitors(cases);
    jose(cases);
}

fn requests(cases: &mut CaseList<'_, Keys>) {
    cases.case(PUBLISHED, "vary.keys.request", "each form of a GET returns the key set").steps(steps!(
        async |context| {
            let Some(keys) = published(context).await else { return };
            let plain = context.key_set();
            let query = |query: &str| Draft { path: format!("{}?{query}", plain.path), ..plain.clone() };
            let mut drafts = vec![
                ("a query".to_owned(), query("v=1")),
                ("a query without parameters".to_owned(), query("")),
                ("a time in the query".to_owned(), query("_=1700000000000&kid=edgeproof")),
                ("no Accept".to_owned(), Draft::new("GET", &plain.path)),
            ];
            drafts.extend(HEADERS.iter().map(|(name, value)| {
                let mut draft = plain.clone();
                draft.headers.retain(|(other, _)| !other.eq_ignore_ascii_case(name));
                (format!("{name}: {value}"), draft.header(name, value))
            }));
            let drafts = drafts.into_iter().map(|(name, draft)| (name, draft, CaseLevel::Must));
            let fields = UnfamiliarFields::registered(Message::Request).into_iter();
            let fields = fields.chain(UnfamiliarFields::unregistered()).map(|fields| {
                let draft = fields.on(plain.clone());
                (fields.name, draft, fields.level)
            });
            let drafts = drafts.chain(fields);
            let forms = forms().map(|form| (form.name.clone(), form.apply(plain.clone()), form.level));
            for (name, draft, level) in drafts.chain(forms) {
                context.weakest = level;
                let reply = context.fetch_key_set(&draft).await;
                context.found.varied += 1;
                let mut checks = judge::transport(&draft, &reply);
                checks.extend([status(context.spec(), PUBLISHED, &reply), same_keys(&keys, &reply)]);
                checks.push(judge::json_content_type(&reply).at(CaseLevel::Should));
                for check in checks {
                    let level = check.level.max(level);
                    context.check(check.of(&name).at(level));
                }
            }
        }
    ));
}

/// Requests that a server refuses change nothing for the next backend.
fn visitors(cases: &mut CaseList<'_, Keys>) {
    cases
        .case(
            PUBLISHED,
            "keys.visitors",
            "the key set is the same after visitors that send unusual heads or another protocol",
        )
        .steps(steps!(async |context| {
            let Some(keys) = published(context).await else { return };
            let (address, plain) = (context.keys().clone(), context.key_set());
            visit(context, Hop::ClientKeys, &address, &plain).await;
            let reply = context.fetch_key_set(&plain).await;
            if is_blocked(context, &reply) {
                return;
            }
            context.checks(vec![status(context.spec(), PUBLISHED, &reply), same_keys(&keys, &reply)]);
        }));
}

fn conditions(cases: &mut CaseList<'_, Keys>) {
    cases
        .case(
            "keys.not-modified",
            "vary.keys.not-modified",
            "a conditional request gets 304 or the key set, as its entity tag requires",
        )
        .steps(steps!(async |context| {
            let first = context.fetch_key_set(&context.key_set()).await;
            let tag = first.as_ref().ok().and_then(|answer| answer.headers.get("etag")?.to_str().ok());
            let Some(tag) = tag.map(str::to_owned) else {
                context.found.not_applicable =
                    Some("the key set has no entity tag; see keys.cache.etag".into());
                return;
            };
            let opaque = tag.strip_prefix("W/").unwrap_or(&tag);
            let inner = opaque.trim_matches('"');
            let whole = published_status(context.spec());
            // Nobody notices a full answer in place of 304. A 304 in place of other keys hides them.
            let matching: &[u16] = &[whole, 304];
            for (condition, statuses) in [
                (tag.clone(), &[304][..]),
                (format!("W/{opaque}"), matching),
                (format!("\"edgeproof\", {tag}"), matching),
                (format!("{tag},\"edgeproof\""), matching),
                ("*".to_owned(), matching),
                (format!("\"{inner}x\""), &[whole]),
                (format!("\"x{inner}\""), &[whole]),
                ("\"\"".to_owned(), &[whole]),
                ("\"a\", \"b\"".to_owned(), &[whole]),
            ] {
                let name = format!("If-None-Match: {condition}");
                let reply =
                    context.fetch_key_set(&context.key_set().header("If-None-Match", &condition)).await;
                context.found.varied += 1;
                context.check(judge::status_in(Statuses::OneOf(statuses.to_vec()), &reply).of(&name));
                let Ok(answer) = &reply else { return };
                if answer.status == 304 {
                    let same = answer.headers.get("etag").is_none_or(|other| *other == *tag);
                    context.check(judge::same_header("etag", Some(tag.as_str()), answer, same).of(&name));
                    context.check(judge::has_no_body(answer).of(&name));
                    context
                        .checks(length_of(&first, answer).map(|check| check.of(&name)).into_iter().collect());
                }
            }
        }));
}

/// A 304 has the `Content-Length` of the answer that it stands for, or none (RFC 9110 §8.6).
fn length_of(full: &AnswerResult, not_modified: &Answer) -> Option<Check> {
    let full = full.as_ref().ok()?;
    let length = not_modified.headers.get("content-length")?;
    let expected = match full.headers.get("content-length") {
        Some(length) => length.to_str().ok()?.to_owned(),
        None => full.body.len().to_string(),
    };
    let same = length.as_bytes() == expected.as_bytes();
    Some(judge::same_header("content-length", Some(&expected), not_modified, same).at(CaseLevel::Should))
}

fn head(cases: &mut CaseList<'_, Keys>) {
    cases.case("keys.head", "vary.keys.head", "HEAD returns the header fields of GET and no body").steps(
        steps!(async |context| {
            let get = context.fetch_key_set(&context.key_set()).await;
            let head = context.fetch_key_set(&Draft { method: "HEAD".into(), ..context.key_set() }).await;
            context.check(status(context.spec(), PUBLISHED, &head));
            context.check(judge::head_length(&get, &head));
            let (Ok(get), Ok(head)) = (get, head) else { return };
            for name in ["content-type", "etag", "cache-control", "last-modified", "expires"] {
                let expected = get.headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()));
                let (of_get, of_head) = (get.headers.get(name), head.headers.get(name));
                let same = of_get == of_head || name == "expires" && of_get.is_some() && of_head.is_some();
                context.check(judge::same_header(name, expected.as_deref(), &head, same));
            }
        }),
    );
}

/// Requests over one connection: GET, HEAD, conditions, other methods, other paths.
fn connection(cases: &mut CaseList<'_, Keys>) {
    cases
        .case(
            PUBLISHED,
            "vary.keys.connection",
            "the key set stays the same over one connection, also after other requests",
        )
        .steps(steps!(async |context| {
            let Some(keys) = published(context).await else { return };
            let plain = context.key_set();
            let between = [
                Draft { method: "HEAD".into(), ..plain.clone() },
                plain.clone().header("If-None-Match", "*"),
                Draft { path: format!("{}x", plain.path), ..plain.clone() },
                Draft { method: "PUT".into(), ..plain.clone() }.body(Body::Sized("{}".into())),
                Draft { method: "OPTIONS".into(), ..plain.clone() },
                plain.clone().header("Range", "bytes=0-1"),
            ];
            let drafts: Vec<Draft> = (0..MANY)
                .flat_map(|number| [plain.clone(), between[number % between.len()].clone()])
                .collect();
            let sent = context.send_in_turn(context.keys(), &drafts).await;
            for (number, (draft, sent)) in drafts.iter().zip(sent).enumerate() {
                let reply = sent.reply.clone();
                context.record_keys(draft, sent);
                // A server may close a connection after any answer.
                if number > 0 && reply.is_err() {
                    return;
                }
                if *draft == plain {
                    context.found.varied += 1;
                    let name = format!("request {number} over one connection");
                    context.check(status(context.spec(), PUBLISHED, &reply).of(&name));
                    context.check(same_keys(&keys, &reply).of(&name));
                }
            }
        }));
}

/// What JOSE libraries check before they use a key (RFC 7517 §4).
fn jose(cases: &mut CaseList<'_, Keys>) {
    let exchange =
        KeySetExchange::get().expect(KeySetRule::Keys("keys that JOSE libraries can use to verify", |set| {
            let keys = set.keys().iter().enumerate();
            let faults = keys.flat_map(|(index, key)| faults(key).into_iter().map(move |one| one.of(index)));
            vec![judge::flawless(KeyRule::Verifying, faults)]
        }));
    cases
        .case("keys.types", "vary.keys.jose", "JOSE libraries can use each key to verify")
        .exchange(exchange);
}

fn faults(key: &Jwk) -> Vec<OneKeyFault> {
    let mut faults = Vec::new();
    let members = key.members();
    for name in ["kty", "use", "alg", "kid", "crv", "x", "y", "n", "e"] {
        if members.get(name).is_some_and(|value| value.as_str().is_none_or(str::is_empty)) {
            faults.push(OneKeyFault::NotText(name.to_owned()));
        }
    }
    if key.text("use").is_some_and(|purpose| purpose != "sig") {
        faults.push(OneKeyFault::OtherUse);
    }
    let operations = members.get("key_ops").map(|value| value.as_array().cloned().unwrap_or_default());
    if operations.is_some_and(|operations| !operations.iter().any(|operation| operation == "verify")) {
        faults.push(OneKeyFault::NoVerify);
    }
    let Some(algorithm) = key.text("alg") else { return faults };
    let fits: &[&str] = match (key.kty(), key.text("crv")) {
        (Some("OKP"), Some("Ed25519")) => &["EdDSA", "Ed25519"],
        (Some("OKP"), Some("Ed448")) => &["EdDSA", "Ed448"],
        (Some("EC"), Some("P-256")) => &["ES256"],
        (Some("EC"), Some("P-384")) => &["ES384"],
        (Some("EC"), Some("P-521")) => &["ES512"],
        (Some("RSA"), _) => &["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"],
        _ => return faults,
    };
    if !fits.contains(&algorithm) {
        faults.push(OneKeyFault::OtherAlgorithm(fits.iter().map(ToString::to_string).collect()));
    }
    faults
}

/// The keys of a plain request.
async fn published(context: &mut ServiceCaseContext) -> Option<BTreeSet<String>> {
    let reply = context.fetch_key_set(&context.key_set()).await;
    parse_key_set(context, &reply)?;
    keys_in(&reply)
}

/// The answer has these keys.
fn same_keys(keys: &BTreeSet<String>, reply: &AnswerResult) -> Check {
    let found = keys_in(reply);
    let actual = match (&found, reply) {
        (Some(found), _) if found == keys => KeySetValue::Same,
        (Some(_), _) => KeySetValue::Other,
        (None, Ok(answer)) if is_gzip(&answer.body) => KeySetValue::Gzip,
        (None, _) => KeySetValue::NotASet,
    };
    let ok = actual == KeySetValue::Same;
    Check::judged(DifferenceKind::key_set(KeyRule::SameAgain, Some(actual)), ok)
}

/// The keys of an answer. None: no key set.
fn keys_in(reply: &AnswerResult) -> Option<BTreeSet<String>> {
    let set = KeySet::parse(&reply.as_ref().ok()?.body).ok()?;
    // The order of members is free.
    let sorted = |key: &Jwk| format!("{:?}", key.members().iter().collect::<BTreeMap<_, _>>());
    Some(set.keys().iter().map(sorted).collect())
}
