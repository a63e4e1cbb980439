use edgeproof_browser::PageRecord;
use edgeproof_fixtures::credentials::Redactor;
use edgeproof_fixtures::spec::{Advice, Table};
use edgeproof_reports::difference::{PageEffect, PageValue};
use serde_json::Value;

use crate::cases::{AVAILABLE, CaseList, Collector, CollectorCaseContext, SealUse, Unopened};
use crate::collector::{CollectorEdge, SeenRequest};
use crate::judge::{self, Check, decoded_forms, is_disguised, resolves};

const SEALED: &str = "statement.collection-sealed";
const SAME: &str = "statement.session-ref-same";
const REFERENCE: &str = "setting.collector.session-ref";

/// Sealed collections (1.1, 2, 3).
pub(super) fn add(cases: &mut CaseList<'_, Collector>) {
    if cases.spec.row(SEALED).is_some() {
        unreadable(cases);
        opens(cases);
    }
    unchanged(cases);
    verdict(cases);
    references(cases);
}

/// A session with a collection at the edge.
struct PostedSession {
    edge: std::sync::Arc<CollectorEdge>,
    post: SeenRequest,
}

/// Runs a session in the default mode, after one with a retired key. None: nothing was posted, which a check reports.
async fn posted(context: &mut CollectorCaseContext, reference: String) -> Option<PostedSession> {
    let (edge, page) = context.opened(context.edge_setup()).await?;
    // A module may keep the first key that it gets.
    let retired = context.target.edges.credentials.seal_keys().retired().last();
    let earlier = retired.filter(|_| context.target.seal == SealUse::Opens).map(|key| {
        let mut options = context.quick_options(&edge.url());
        options.insert("sealKey".into(), key.to_jwk());
        options
    });
    if let Some(options) = earlier {
        page.session(options, &context.reference("earlier")).await;
    }
    let before = edge.posts().len();
    let session = page.session(context.options(&edge.url()), &reference).await;
    let Some(post) = edge.posts().into_iter().nth(before) else {
        let actual = Some(PageValue::Session(session.value()));
        context.check(Check::page(PageEffect::CollectionArrives, actual, false));
        return None;
    };
    context.check(resolves(&session));
    Some(PostedSession { edge, post })
}

fn unreadable(cases: &mut CaseList<'_, Collector>) {
    cases
        .case(
            SEALED,
            "sealed.unreadable",
            "nobody can read the reference or a measurement in the posted collection",
        )
        .steps(steps!(async |context| {
            let Some((edge, page)) = context.opened(context.edge_setup()).await else { return };
            let reference = context.reference("unreadable");
            let session = page.session(context.options(&edge.url()), &reference).await;
            context.check(resolves(&session));
            let agent = page.evaluate("navigator.userAgent").await;
            let agent = agent.as_ref().and_then(Value::as_str).unwrap_or_default().to_owned();
            let mut secrets = Redactor::empty();
            secrets.add("reference", &reference);
            secrets.add("user agent", &agent);
            let body = edge.posts().into_iter().find_map(|post| post.body).unwrap_or_default();
            let readable = decoded_forms(&body).into_iter().find(|form| {
                secrets.finds(form) || [&reference, &agent].iter().any(|text| is_disguised(form, text))
            });
            let actual = if body.is_empty() {
                Some(PageValue::Number(0))
            } else {
                readable.as_deref().map(PageValue::text)
            };
            let ok = actual.is_none();
            let check = Check::page(PageEffect::Reference, actual, ok);
            context.check(check.advise(Advice::CollectionInClear));
            // Browsers send the user agent with each request.
            let mut reference_only = Redactor::empty();
            reference_only.add("reference", &reference);
            let outside = outside_of_bodies(&edge, &page.record().await);
            let readable = outside.into_iter().find(|text| reference_only.finds(text.as_bytes()));
            let (actual, ok) = (readable.as_ref().map(PageValue::text), readable.is_none());
            context.check(Check::page(PageEffect::ReferenceOutside, actual, ok));
        }));
}

/// URLs, headers and WebSocket messages of a page.
fn outside_of_bodies(edge: &CollectorEdge, record: &PageRecord) -> Vec<String> {
    let urls = record.requests.iter().map(|request| request.url.clone());
    let headers = edge.requests().into_iter().map(|request| format!("{:?}", request.headers));
    let sockets = record.websockets.iter().flat_map(|socket| {
        let sent = socket.sent.iter().map(|message| String::from_utf8_lossy(message).into_owned());
        sent.chain([socket.url.clone()])
    });
    urls.chain(headers).chain(sockets).collect()
}

fn opens(cases: &mut CaseList<'_, Collector>) {
    cases
        .case(
            SEALED,
            "sealed.opens",
            "the collection opens with the service's key, and its signature verifies",
        )
        .steps(steps!(async |context| {
            if !context.needs_opened() {
                return;
            }
            let Some(PostedSession { edge, post }) = posted(context, context.reference("opens")).await else {
                return;
            };
            let body = post.body.unwrap_or_default();
            if context.target.seal == SealUse::Foreign {
                return opens_unchanged(context, &edge, &body).await;
            }
            let opened = edge.open_sealed(&body).map_err(Unopened::from);
            check_opened(context, opened.as_ref().err());
            if let Ok(opened) = opened {
                let id = context.seal_key().id().to_owned();
                let is_current = opened.key_id == id;
                let actual = PageValue::text(opened.key_id);
                context.check(Check::page_is(PageEffect::SealKey, id, actual, is_current));
                context.observe("collector.version", opened.contents.collector_version);
            }
        }))
        .observes(["collector.version"]);
}

/// Number of places of a collection of another format that are changed.
const CHANGED: usize = 12;

/// A collection of another format opens. Changed, it does not: a seal proves that nobody changed what it holds. A few changes
/// may concern what an envelope says in clear.
async fn opens_unchanged(context: &mut CollectorCaseContext, edge: &CollectorEdge, body: &[u8]) {
    let Some(opened) = context.open(edge, body).await else { return };
    check_opened(context, opened.as_ref().err());
    let (Ok(opened), Some(opener)) = (opened, context.target.opener.clone()) else { return };
    let (mut same, mut other) = (0, None);
    for number in 0..CHANGED {
        let changed = with_change(body, body.len() * (2 * number + 1) / (2 * CHANGED));
        match opener.open_changed(&changed).await {
            Err(why) => return context.found.not_run = Some(why),
            Ok(Some(text)) if text == opened.text => same += 1,
            Ok(Some(text)) => other = Some(String::from_utf8_lossy(&text).into_owned()),
            Ok(None) => {}
        }
    }
    let many = (same > CHANGED / 2).then(|| format!("it opens at {same} of {CHANGED} changes"));
    let actual = other.or(many).map(PageValue::text);
    let ok = actual.is_none();
    context.check(Check::page(PageEffect::ChangedOpens, actual, ok));
}

/// The body with another letter or digit, the first from this place on, or another byte at this place.
fn with_change(body: &[u8], place: usize) -> Vec<u8> {
    let mut changed = body.to_vec();
    let next = body.iter().skip(place).position(u8::is_ascii_alphanumeric).unwrap_or(0);
    if let Some(byte) = changed.get_mut(place + next) {
        *byte = match *byte {
            b'0'..=b'8' | b'A'..=b'Y' | b'a'..=b'y' => *byte + 1,
            b'9' => b'0',
            b'Z' => b'A',
            b'z' => b'a',
            byte => byte ^ 1,
        };
    }
    changed
}

/// The edge relays the bytes that the page sent.
fn unchanged(cases: &mut CaseList<'_, Collector>) {
    cases
        .case("statement.collection-posted", "sealed.unchanged", "the collection passes the edge unchanged")
        .steps(steps!(async |context| {
            let Some(session) = posted(context, context.reference("unchanged")).await else { return };
            let sent = session.post.body.unwrap_or_default();
            let arrivals = session.edge.arrivals(context.timeout).await;
            let arrived = arrivals.last().map(|arrival| arrival.request.body.clone()).unwrap_or_default();
            let (actual, ok) = (PageValue::text(&*arrived), sent == arrived);
            context.check(Check::page_is(PageEffect::RelayedBody, &*sent, actual, ok));
        }));
}

fn verdict(cases: &mut CaseList<'_, Collector>) {
    cases
        .case(SAME, "sealed.verdict", "a backend gets the verdict of the session by the reference of start()")
        .steps(steps!(async |context| {
            if context.needs_opened() {
                let reference = context.reference("verdict");
                ends_in_verdict(context, reference, "the reference").await;
            }
        }))
        .also(REFERENCE);
}

/// References that an encoding could damage: id, title and texts. A decoder may leave a text alone that it cannot decode whole.
fn references(cases: &mut CaseList<'_, Collector>) {
    let long = "l".repeat(1000);
    let texts: [(&str, &str, &[&str]); 11] = [
        ("unicode", "with characters of several scripts", &["заказ-注文-🛒-é-e\u{301}"]),
        ("reserved", "with characters that URLs reserve", &["a/b?c=d&e#f;g:h@i+j=k"]),
        ("percent", "with percent signs", &["100%-%2F-%zz-%", "a%2Fb-100%25"]),
        ("quotes", "with quotes and backslashes", &[r#"a"b'c`d\e\n"#, "$&-$1-${a}-{{b}}-%s-<b>&amp;"]),
        ("spaces", "with spaces inside and around", &[" a b  c ", "\u{a0}a\tb\u{2003}c\n"]),
        ("long", "of a thousand characters", &[&long]),
        ("one-character", "of one character", &["7"]),
        ("words", "that is a word of JavaScript", &["undefined"]),
        ("digits", "of digits with zeros in front", &["000123456789012345678901"]),
        ("literal", "that is a value of JSON", &["null"]),
        ("object", "that is an object of JSON", &[r#"{"id": 1}"#]),
    ];
    for (id, title, texts) in texts {
        let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        cases
            .case(
                SAME,
                &format!("sealed.reference.{id}"),
                &format!("a backend gets the verdict by a reference {title}"),
            )
            .steps(steps!(with(texts), async |context| {
                if !context.needs_opened() {
                    return;
                }
                for text in texts {
                    ends_in_verdict(context, text, &format!("a reference {title}")).await;
                }
            }))
            .also(REFERENCE);
    }
}

/// Checks that a collection opens. `why`: why it does not.
pub(super) fn check_opened(context: &mut CollectorCaseContext, why: Option<&Unopened>) {
    let actual = why.map(|why| PageValue::text(why.to_string()));
    let check = Check::page(PageEffect::SealOpens, actual, why.is_none());
    let spec = context.spec();
    let refusal = why.and_then(|why| match why {
        Unopened::Fault(fault) => spec.by_stimulus(Table::Relay, fault.stimulus()),
        Unopened::Program => None,
    });
    context.check(match refusal {
        Some(row) => check.advise(Advice::CollectionRefused {
            status: u64::from(row.status().unwrap_or_default()),
            refusal: row.code().unwrap_or_default().into(),
        }),
        None => check,
    });
}

/// Checks that a collection opens and holds this reference. None: it does not open, so that there is no verdict about it.
pub(super) async fn check_reference(
    context: &mut CollectorCaseContext,
    edge: &CollectorEdge,
    body: &[u8],
    reference: &str,
    what: Option<&str>,
) -> Option<()> {
    match context.open(edge, body).await? {
        Ok(opened) => {
            let (ok, actual) = (opened.session_ref == reference, PageValue::text(opened.session_ref));
            let check = Check::page_is(PageEffect::SameReference, reference, actual, ok);
            context.check(match what {
                Some(what) => check.which(what),
                None => check,
            });
            Some(())
        }
        Err(why) => {
            check_opened(context, Some(&why));
            None
        }
    }
}

async fn ends_in_verdict(context: &mut CollectorCaseContext, reference: String, what: &str) {
    let Some((edge, page)) = context.opened(context.edge_setup()).await else { return };
    let session = page.session(context.quick_options(&edge.url()), &reference).await;
    context.check(resolves(&session));
    if let Some(body) = edge.posts().into_iter().find_map(|post| post.body)
        && check_reference(context, &edge, &body, &reference, None).await.is_none()
    {
        return;
    }
    // The mock service gives no verdict about another format.
    if context.target.seal == SealUse::Foreign {
        return;
    }
    let reply = match edge.verdict(&reference).await {
        Ok(reply) => reply,
        Err(why) => {
            context.found.not_run = Some(format!("cannot ask for the verdict: {why}"));
            return;
        }
    };
    let body: Option<Value> =
        reply.as_ref().ok().and_then(|answer| serde_json::from_slice(&answer.body).ok());
    let named = body.as_ref().and_then(|body| body.get("ref")).and_then(Value::as_str);
    let ok = context.has_status(AVAILABLE, &reply) && named == Some(reference.as_str());
    let check = Check::page(PageEffect::Verdict, Some(judge::page_answer(&reply)), ok);
    context.check(check.which(&format!("for {what}")));
}
