use edgeproof_fixtures::credentials::ALLOWED_ORIGIN;
use edgeproof_fixtures::spec::Stimulus;
use edgeproof_reports::CaseLevel;

use crate::cases::{
    CaseList, Conversation, Edge, EdgeNeed, EdgeObservation, EdgeRule, ExpectedRelay, ORIGIN,
    OTHER_ALLOWED_ORIGIN, OTHER_ORIGIN, Setup, collection, collection_from, look_alike, preflight,
    to_signals,
};
use crate::judge;
use edgeproof_http::Draft;

/// CORS by the Fetch algorithm (4, 5, 7.1).
pub(super) fn add(cases: &mut CaseList<'_, Edge>) {
    preflights(cases);
    readable(cases);
    letter_case(cases);
    denied(cases);
    denied_errors(cases);
    setting(cases);
    vary(cases);
}

fn preflights(cases: &mut CaseList<'_, Edge>) {
    let plain = Conversation::request(preflight(ORIGIN));
    let mut passes = plain
        .clone()
        .expect(EdgeRule::PreflightPasses)
        .observe_at("preflight.status", EdgeObservation::Status)
        .observe_at("preflight.methods", EdgeObservation::Field("access-control-allow-methods"))
        .observe_at("preflight.headers", EdgeObservation::Field("access-control-allow-headers"))
        .observe_at("preflight.max-age-seconds", EdgeObservation::Field("access-control-max-age"));
    // Open, unless the row states a status.
    if cases.row("edge.preflight").status().is_some() {
        passes.answer = Some(cases.answer("edge.preflight", None));
    }
    cases
        .case("edge.preflight", "cors.preflight", "a preflight of the allowed origin passes for a JSON POST")
        .conversation(passes)
        .requires(&[EdgeNeed::Origin])
        .stimulus(Stimulus::Preflight);
    cases
        .case("edge.preflight", "cors.preflight-not-relayed", "the edge does not relay a preflight")
        .conversation(plain.relay(ExpectedRelay::Nothing))
        .exclusive();
}

/// A page can use a status only if it can read the answer.
fn readable(cases: &mut CaseList<'_, Edge>) {
    let accepted = cases.accepted_post().readable(CaseLevel::Must);
    cases
        .case(
            "statement.cors-readable",
            "cors.readable.200",
            "a page of the allowed origin can read an acceptance",
        )
        .conversation(accepted);
    for status in cases.refusal_statuses() {
        let refused = cases.refused_post(status, "edgeproof_readable").readable(CaseLevel::Must);
        cases
            .case(
                "statement.cors-readable",
                &format!("cors.readable.{status}"),
                &format!("a page of the allowed origin can read a refusal with {status}"),
            )
            .conversation(refused);
    }
    let unreachable = cases.unreachable_post().readable(CaseLevel::Must);
    cases
        .case(
            "statement.cors-readable",
            "cors.readable.502",
            "a page of the allowed origin can read the answer for an unreachable service",
        )
        .conversation(unreachable)
        .setup(Setup::PortClosed);
    let refusals = super::refusals::each_refusal(cases).into_iter();
    let refusals = refusals.map(|(name, refusal)| (name, refusal.only().readable(CaseLevel::Must))).collect();
    cases
        .case(
            "statement.cors-readable",
            "cors.readable.reasons",
            "a page of the allowed origin can read a refusal with any reason",
        )
        .exchanges(refusals);
    let put = to_signals("PUT").header("Origin", ORIGIN);
    let put = cases.accepted_post().draft(put).only().readable(CaseLevel::Must);
    cases
        .case(
            "statement.cors-readable-405",
            "cors.readable.405",
            "a page of the allowed origin can read a 405",
        )
        .conversation(put)
        .requires(&[EdgeNeed::Origin]);
}

/// The names of header fields have no case: HTTP/2, and the proxies that speak it, write them in lower case.
fn letter_case(cases: &mut CaseList<'_, Edge>) {
    for (id, title, rename) in [
        ("lower", "lower case", str::to_lowercase as fn(&str) -> String),
        ("upper", "upper case", |name| name.to_uppercase()),
    ] {
        let renamed = |draft: Draft| {
            let headers = draft.headers.iter().map(|(name, value)| (rename(name), value.clone()));
            Draft { headers: headers.collect(), ..draft }
        };
        let preflight = Conversation::request(renamed(preflight(ORIGIN))).expect(EdgeRule::PreflightPasses);
        let post = cases.accepted_post().readable(CaseLevel::Must);
        let post = post.draft(renamed(collection()));
        cases
            .case(
                "statement.cors-readable",
                &format!("cors.readable.{id}-case"),
                &format!("a page can read the answer to header fields with names in {title}"),
            )
            .exchanges(vec![("a preflight".to_owned(), preflight), ("a collection".to_owned(), post)])
            .requires(&[EdgeNeed::Service, EdgeNeed::Origin]);
    }
}

/// Other origins get no grant, even if they look like the allowed one.
fn denied(cases: &mut CaseList<'_, Edge>) {
    for (id, title, origin) in [
        ("other", "another origin", OTHER_ORIGIN),
        ("null", "the opaque origin", "null"),
        ("prefix", "an origin that starts with the allowed one", look_alike::PREFIX),
        ("shorter", "an origin that the allowed one starts with", look_alike::SHORTER),
        ("suffix", "an origin that ends with the allowed one", look_alike::SUFFIX),
        ("subdomain", "a subdomain of the allowed host", look_alike::SUBDOMAIN),
        ("scheme", "the allowed host with another scheme", look_alike::SCHEME),
        ("port", "the allowed host with another port", look_alike::PORT),
        ("localhost", "a page on localhost", "http://localhost:47123"),
        ("loopback", "a page on 127.0.0.1", "http://127.0.0.1:47123"),
        ("pattern", "an origin that matches the allowed one only as a pattern", look_alike::PATTERN),
    ] {
        cases
            .case(
                "statement.cors-other-origins",
                &format!("cors.denied.{id}.preflight"),
                &format!("a preflight grants nothing to {title}"),
            )
            .conversation(Conversation::request(preflight(origin)).denied())
            .requires(&[EdgeNeed::Origin]);
        let post = Conversation::request(collection_from(origin)).script(cases.accept()).denied();
        cases
            .case(
                "statement.cors-other-origins",
                &format!("cors.denied.{id}.post"),
                &format!("the answer to a POST grants nothing to {title}"),
            )
            .conversation(post.observe_at("cors.post-from-other-origin", EdgeObservation::Status));
    }
}

/// Edges often answer errors and acceptances in separate code, with separate grants.
fn denied_errors(cases: &mut CaseList<'_, Edge>) {
    for (id, title, method, setup) in [
        ("refused", "the answer to a refused collection", "POST", Setup::Standard),
        ("unreachable", "the answer for an unreachable service", "POST", Setup::PortClosed),
        ("other-method", "the answer to another method", "PUT", Setup::Standard),
    ] {
        let draft = Draft { method: method.into(), ..collection_from(OTHER_ORIGIN) };
        let script = cases.refuse(401, "edgeproof_denied");
        let case = cases
            .case(
                "statement.cors-other-origins",
                &format!("cors.denied.other.{id}"),
                &format!("{title} grants nothing to another origin"),
            )
            .conversation(Conversation::request(draft).script(script).denied());
        case.setup(setup);
        if method == "PUT" {
            case.requires(&[EdgeNeed::Origin]);
        }
    }
}

fn setting(cases: &mut CaseList<'_, Edge>) {
    let passes = Conversation::request(preflight(OTHER_ALLOWED_ORIGIN)).expect(EdgeRule::PreflightPasses);
    let readable = Conversation::request(collection_from(OTHER_ALLOWED_ORIGIN)).script(cases.accept());
    let readable = readable.readable(CaseLevel::Must);
    let usual = Conversation::request(preflight(ALLOWED_ORIGIN)).denied();
    let exchanges = [
        ("a preflight of the configured origin", passes),
        ("a collection of the configured origin", readable),
        ("a preflight of the usual origin", usual),
    ];
    cases
        .case(
            "setting.edge.allowed-origin",
            "cors.origin-setting",
            "the edge grants the configured ALLOWED_ORIGIN and not the usual one",
        )
        .exchanges(exchanges.map(|(name, exchange)| (name.to_owned(), exchange)).into())
        .setup(Setup::OtherLicense);
}

fn vary(cases: &mut CaseList<'_, Edge>) {
    let accept = cases.accept();
    cases.case("statement.vary", "cors.vary", "if the grant depends on the origin, Vary lists Origin").steps(
        steps!(with(accept), async |context| {
            context.script(accept);
            let allowed = context.send(&collection()).await;
            let other = context.send(&collection_from(OTHER_ORIGIN)).await;
            context.check(judge::vary(&allowed.reply, &other.reply));
        }),
    );
}
