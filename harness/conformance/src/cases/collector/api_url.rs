use edgeproof_fixtures::credentials::Role;
use edgeproof_fixtures::spec::Stimulus;
use edgeproof_reports::CaseLevel;
use edgeproof_reports::difference::{Count, Counted, SessionSubject};
use serde_json::{Value, json};

use crate::cases::{CaseList, Collector, CollectorCaseContext};
use crate::collector::{EdgeScheme, PageOrigin};
use crate::judge::{Check, fails_with, resolves};

/// The option `apiUrl` (2, 7.1, 8).
pub(super) fn add(cases: &mut CaseList<'_, Collector>) {
    invalid(cases);
    insecure(cases);
    https(cases);
    localhost(cases);
    observed(cases);
}

/// A text that nobody should cut.
const LONG: &str = "the whole value of an option belongs in its error, however long the page made it, so that a developer finds it";

const INVALID: &str = "collector.invalid-api-url";
const NOT_HTTPS: &str = "collector.api-url-not-https";
const SCHEME: &str = "limit.api-url-scheme";

/// Texts that are not URLs by the URL standard: id, title, values.
const INVALID_URLS: [(&str, &str, &[&str]); 4] = [
    ("empty", "an empty apiUrl", &[""]),
    (
        "relative",
        "a relative apiUrl",
        &[
            "edge.test",
            "/v1/signals",
            "//edge.test",
            "?edge",
            "not a url",
            "édge.test",
            "a\"b",
            "$&-$`-$$",
            LONG,
        ],
    ),
    ("without-host", "an apiUrl without a host", &["https://", "http://", "https://?", "://edge.test"]),
    (
        "broken-host",
        "an apiUrl with an impossible host or port",
        &["https://[::1", "https://edge.test:99999", "https://edge.test:port", "https://%zz", "https://a<b"],
    ),
];

/// URLs that are neither `https` nor `http` on localhost: id, title, level, values.
const INSECURE_URLS: [(&str, &str, CaseLevel, &[&str]); 6] = [
    (
        "http",
        "plain HTTP",
        CaseLevel::Must,
        &["http://shop.test", "HTTP://SHOP.TEST", "http://shop.test:443/"],
    ),
    (
        "look-alikes",
        "plain HTTP to a host that only looks like localhost",
        CaseLevel::Must,
        &[
            "http://localhost.example",
            "http://notlocalhost",
            "http://localhost.evil.test",
            "http://127.0.0.1.example",
            "http://localhost-evil.test",
            "http://evil.test/localhost",
            "http://evil.test/?http://localhost",
            "http://evil.test#localhost",
        ],
    ),
    (
        "user-info",
        "plain HTTP with localhost as the user",
        CaseLevel::Must,
        &["http://localhost@evil.test", "http://localhost:80@evil.test", "http://localhost%20@evil.test"],
    ),
    (
        "other-schemes",
        "another scheme",
        CaseLevel::Must,
        &[
            "ftp://edge.test",
            "ws://edge.test",
            "wss://edge.test",
            "ftp://localhost",
            "ws://localhost",
            "httpss://edge.test",
            "file:///etc/hosts",
            "javascript:void(0)",
            "data:text/plain,edge",
            "blob:https://edge.test/1",
            "about:blank",
        ],
    ),
    (
        "host-as-scheme",
        "a host and a port but no scheme",
        CaseLevel::Should,
        &["localhost:3000", "edge.test:443"],
    ),
    (
        "loopback-addresses",
        "plain HTTP to a loopback address other than localhost",
        CaseLevel::Should,
        &["http://127.0.0.1:3000", "http://[::1]:3000", "http://edge.localhost:3000"],
    ),
];

fn invalid(cases: &mut CaseList<'_, Collector>) {
    for (id, title, values) in INVALID_URLS {
        cases
            .case(
                INVALID,
                &format!("api-url.invalid.{id}"),
                &format!("the collector refuses {title} as invalid"),
            )
            .steps(move |context| Box::pin(refused(context, INVALID, values, CaseLevel::Must)))
            .stimulus(Stimulus::ApiUrlInvalid)
            .also("setting.collector.api-url");
    }
}

fn insecure(cases: &mut CaseList<'_, Collector>) {
    for (id, title, level, values) in INSECURE_URLS {
        let case = cases
            .case(
                NOT_HTTPS,
                &format!("api-url.insecure.{id}"),
                &format!("the collector refuses an apiUrl with {title}"),
            )
            .steps(move |context| Box::pin(refused(context, NOT_HTTPS, values, level)));
        case.stimulus(Stimulus::ApiUrlInsecure).also(SCHEME).also("setting.collector.api-url");
        case.level(level);
    }
}

/// Each value makes a session fail with the error. It may come from any call.
async fn refused(context: &mut CollectorCaseContext, row: &str, values: &[&str], level: CaseLevel) {
    let Some(page) = context.page().await else { return };
    for value in values {
        let session = page.session(context.quick_options(value), &context.reference("option")).await;
        let expected = context.error(row, value);
        let subject = SessionSubject::ApiUrl((*value).into());
        context.check(fails_with(subject, &expected, &session).at(level));
    }
}

/// Writes an edge's URL in another form.
type UrlForm = fn(&str) -> String;

/// Forms of the same URL. The interface shows the first one only.
const FORMS: [(&str, CaseLevel, UrlForm); 3] = [
    ("as an origin", CaseLevel::Must, str::to_owned),
    ("with a trailing slash", CaseLevel::Should, |url| format!("{url}/")),
    ("in capitals", CaseLevel::Should, str::to_uppercase),
];

fn https(cases: &mut CaseList<'_, Collector>) {
    cases
        .case(
            "setting.collector.api-url",
            "api-url.https",
            "the collector accepts an https apiUrl in each form, and posts the collection there",
        )
        .steps(|context| {
            Box::pin(accepted(context, PageOrigin::Https, EdgeScheme::Https(Role::ServiceServer)))
        })
        .also(SCHEME);
}

fn localhost(cases: &mut CaseList<'_, Collector>) {
    for (id, title, page, scheme) in [
        (
            "api-url",
            "the collector accepts an http apiUrl on localhost",
            PageOrigin::Https,
            EdgeScheme::Localhost,
        ),
        (
            "page-and-api-url",
            "a page on localhost without TLS reaches an edge on localhost without TLS",
            PageOrigin::Localhost,
            EdgeScheme::Localhost,
        ),
        (
            "page",
            "a page on localhost without TLS reaches an edge with TLS",
            PageOrigin::Localhost,
            EdgeScheme::Https(Role::ServiceServer),
        ),
    ] {
        cases
            .case("statement.localhost-allowed", &format!("localhost.{id}"), title)
            .steps(move |context| Box::pin(accepted(context, page, scheme)))
            .also(SCHEME);
    }
}

async fn accepted(context: &mut CollectorCaseContext, page: PageOrigin, scheme: EdgeScheme) {
    let mut setup = context.edge_setup().scheme(scheme);
    setup.allowed_origin = context.target.pages.origin(page);
    let Some(edge) = context.edge(setup).await else { return };
    let Some(page) = context.page_at(page, Vec::new()).await else { return };
    for (form, level, write) in FORMS {
        let before = edge.posts().len();
        let url = write(&edge.url());
        let session = page.session(context.quick_options(&url), &context.reference(form)).await;
        context.check(resolves(&session).which(&format!("with the edge's URL {form}")).at(level));
        let posts = edge.posts().len() - before;
        context.check(
            Check::judged(Count::new(Counted::Collections, 1, posts).of_session(session.value()), posts > 0)
                .which(&format!("at the edge by its URL {form}"))
                .at(level),
        );
    }
}

/// Values that the interface leaves open.
fn observed(cases: &mut CaseList<'_, Collector>) {
    let values: [(&str, Value); 8] = [
        // The URL standard forbids it. Chromium encodes it.
        ("space-in-host", json!("https://edge .invalid")),
        ("final-dot", json!("http://localhost.")),
        ("outer-spaces", json!(" https://edge.invalid ")),
        ("user-info", json!("https://user:password@edge.invalid")),
        ("null", Value::Null),
        ("number", json!(7)),
        ("object", json!({})),
        ("array", json!(["https://edge.invalid"])),
    ];
    let points = values.clone().map(|(name, _)| format!("collector.api-url.{name}"));
    cases
        .case(
            "setting.collector.api-url",
            "api-url.observed",
            "how the collector handles unusual values of apiUrl",
        )
        .steps(steps!(with(values), async |context| {
            let Some(page) = context.page().await else { return };
            for (name, value) in values {
                let mut options = context.quick_options("");
                options.insert("apiUrl".into(), value);
                let session = page.session(options, &context.reference("odd")).await;
                context.observe(&format!("collector.api-url.{name}"), session.summary());
            }
        }))
        .observes(points)
        .level(CaseLevel::Open);
}
