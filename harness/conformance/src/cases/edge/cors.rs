use edgeproof_fixtures::credentials::ALLOWED_ORIGIN;
use edgeproof_fixtures::spec::Stimulus;
use edgeproof_reports::CaseLevel;

use crate::cases::{
    CaseList, Edge, EdgeNeed, ORIGIN, OTHER_ORIGIN, Setup, collection, preflight, summary, to_signals,
};
use crate::judge;

/// CORS by the Fetch algorithm (4, 5, 7.1).
pub(super) fn add(cases: &mut CaseList<'_, Edge>) {
    preflights(cases);
    readable(cases);
    denied(cases);
    denied_errors(cases);
    setting(cases);
    vary(cases);
}

fn preflights(cases: &mut CaseList<'_, Edge>) {
    cases
        .case("edge.preflight", "cors.preflight", "a preflight of the allowed origin passes for a JSON POST")
        .steps(steps!(async |context| {
            let sent = context.send(&preflight(ORIGIN)).await;
            context.checks(judge::preflight_passes(context.origin(), &sent.reply));
            let observed = summary::status(&sent.reply);
            context.observe("preflight.status", observed);
        }))
        .requires(&[EdgeNeed::Origin])
        .stimulus(Stimulus::Preflight);
    cases
        .case("edge.preflight", "cors.preflight-not-relayed", "the edge does not relay a preflight")
        .steps(steps!(async |context| {
            context.script(edgeproof_mock::Script::decide());
            context.send(&preflight(ORIGIN)).await;
            let relayed = context.relayed().await;
            context.check(judge::not_relayed(&relayed));
        }))
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
    let refusals = refusals.map(|(name, refusal)| (name, refusal.only_readable(CaseLevel::Must))).collect();
    cases
        .case(
            "statement.cors-readable",
            "cors.readable.reasons",
            "a page of the allowed origin can read a refusal with any reason",
        )
        .exchanges(refusals);
    let put = to_signals("PUT").header("Origin", ORIGIN);
    let put = cases.accepted_post().draft(put).only_readable(CaseLevel::Must);
    cases
        .case(
            "statement.cors-readable-405",
            "cors.readable.405",
            "a page of the allowed origin can read a 405",
        )
        .conversation(put)
        .requires(&[EdgeNeed::Origin]);
}

/// Other origins get no grant, even if they look like the allowed one.
fn denied(cases: &mut CaseList<'_, Edge>) {
    for (id, title, origin) in look_alikes() {
        cases
            .case(
                "statement.cors-other-origins",
                &format!("cors.denied.{id}.preflight"),
                &format!("a preflight grants nothing to {title}"),
            )
            .steps(steps!(async |context| {
                let other = origin(context.origin());
                let sent = context.send(&preflight(&other)).await;
                context.check(judge::no_grant(&other, &sent.reply));
            }))
            .requires(&[EdgeNeed::Origin]);
        let accept = cases.accept();
        cases
            .case(
                "statement.cors-other-origins",
                &format!("cors.denied.{id}.post"),
                &format!("the answer to a POST grants nothing to {title}"),
            )
            .steps(steps!(
                async |context| {
                    let other = origin(context.origin());
                    context.script(accept);
                    let mut draft = collection();
                    draft.headers[0].1.clone_from(&other);
                    let sent = context.send(&draft).await;
                    context.check(judge::no_grant(&other, &sent.reply));
                    let observed = summary::status(&sent.reply);
                    context.observe("cors.post-from-other-origin", observed);
                },
                with(accept)
            ));
    }
}

/// Edges often answer errors and acceptances in separate code, with separate grants.
fn denied_errors(cases: &mut CaseList<'_, Edge>) {
    for (id, title, method, setup) in [
        ("refused", "the answer to a refused collection", "POST", Setup::Standard),
        ("unreachable", "the answer for an unreachable service", "POST", Setup::PortClosed),
        ("other-method", "the answer to another method", "PUT", Setup::Standard),
    ] {
        let (script, mut draft) = (cases.refuse(401, "edgeproof_denied"), collection());
        draft.method = method.into();
        draft.headers[0].1 = OTHER_ORIGIN.into();
        let case = cases
            .case(
                "statement.cors-other-origins",
                &format!("cors.denied.other.{id}"),
                &format!("{title} grants nothing to another origin"),
            )
            .steps(steps!(
                async |context| {
                    context.script(script);
                    let sent = context.send(&draft).await;
                    context.check(judge::no_grant(OTHER_ORIGIN, &sent.reply));
                },
                with(script, draft)
            ));
        case.setup(setup);
        if method == "PUT" {
            case.requires(&[EdgeNeed::Origin]);
        }
    }
}

type LookAlike = fn(&str) -> String;

fn look_alikes() -> [(&'static str, &'static str, LookAlike); 9] {
    [
        ("other", "another origin", |_| OTHER_ORIGIN.into()),
        ("null", "the opaque origin", |_| "null".into()),
        ("prefix", "an origin that starts with the allowed one", |origin| {
            format!("{}.other.example", without_port(origin))
        }),
        ("shorter", "an origin that the allowed one starts with", |origin| {
            let mut shorter = without_port(origin).to_owned();
            shorter.pop();
            shorter
        }),
        ("suffix", "an origin that ends with the allowed one", |origin| {
            origin.replacen("://", "://other-", 1)
        }),
        ("subdomain", "a subdomain of the allowed host", |origin| origin.replacen("://", "://sub.", 1)),
        ("scheme", "the allowed host with another scheme", |origin| match origin.strip_prefix("https://") {
            Some(host) => format!("http://{host}"),
            None => origin.replacen("http://", "https://", 1),
        }),
        ("port", "the allowed host with another port", |origin| format!("{}:8443", without_port(origin))),
        ("pattern", "an origin that matches the allowed one only as a pattern", |origin| {
            match origin.rfind('.') {
                Some(at) => format!("{}x{}", &origin[..at], &origin[at + 1..]),
                None => format!("{origin}x"),
            }
        }),
    ]
}

fn without_port(origin: &str) -> &str {
    match origin.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => origin,
    }
}

fn setting(cases: &mut CaseList<'_, Edge>) {
    let accept = cases.accept();
    cases
        .case(
            "setting.edge.allowed-origin",
            "cors.origin-setting",
            "the edge grants the configured ALLOWED_ORIGIN and not the usual one",
        )
        .steps(steps!(
            async |context| {
                let sent = context.send(&preflight(ORIGIN)).await;
                context.checks(judge::preflight_passes(context.origin(), &sent.reply));
                context.script(accept);
                let sent = context.send(&collection()).await;
                context.check(judge::readable(context.origin(), &sent.reply));
                let usual = ALLOWED_ORIGIN;
                let sent = context.send(&preflight(usual)).await;
                context.check(judge::no_grant(usual, &sent.reply));
            },
            with(accept)
        ))
        .setup(Setup::OtherLicense);
}

fn vary(cases: &mut CaseList<'_, Edge>) {
    let accept = cases.accept();
    cases.case("statement.vary", "cors.vary", "if the grant depends on the origin, Vary lists Origin").steps(
        steps!(
            async |context| {
                context.script(accept);
                let allowed = context.send(&collection()).await;
                let mut draft = collection();
                draft.headers[0].1 = OTHER_ORIGIN.into();
                let other = context.send(&draft).await;
                context.check(judge::vary(&allowed.reply, &other.reply));
            },
            with(accept)
        ),
    );
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("https://page.example")]
    #[case("https://page.example:4443")]
    #[case("http://localhost:3000")]
    #[case("http://localhost")]
    fn look_alikes_are_other_origins(#[case] origin: &str) {
        for (id, _, alike) in look_alikes() {
            assert_ne!(alike(origin), origin, "{id}");
        }
    }
}
