use bytes::Bytes;
use edgeproof_fixtures::spec::Stimulus;
use edgeproof_reports::CaseLevel as Level;

use super::conversation::{Conversation, ORIGIN, Relayed, SIGNALS, collection, posted, preflight};
use super::{Catalog, Need, summary};
use crate::judge;
use crate::target::{ALLOWED_ORIGIN, Setup};
use edgeproof_http::{Body, Draft};

/// What a browser lets a page do, by the Fetch algorithm (4, 5, 7.1).
pub(super) fn add(cases: &mut Catalog<'_>) {
    preflights(cases);
    readable(cases);
    denied(cases);
    denied_errors(cases);
    setting(cases);
    vary(cases);
}

fn preflights(cases: &mut Catalog<'_>) {
    cases
        .steps(
            "edge.preflight",
            "cors.preflight",
            "a preflight of the allowed origin passes for a POST of JSON",
            |context| {
                Box::pin(async move {
                    let sent = context.send(&preflight(ORIGIN)).await;
                    context.checks(judge::preflight_passes(context.origin(), &sent.reply));
                    let saw = summary::status(&sent.reply);
                    context.observe("preflight.status", saw);
                })
            },
        )
        .needs(&[Need::Origin])
        .stimulus(Stimulus::Preflight);
    cases
        .steps(
            "edge.preflight",
            "cors.preflight-not-relayed",
            "a preflight does not reach the service",
            |context| {
                Box::pin(async move {
                    context.script(edgeproof_mock::Script::decide());
                    context.send(&preflight(ORIGIN)).await;
                    context.check(judge::relayed_nothing(&context.arrivals()));
                })
            },
        )
        .alone();
}

/// A page can report a status only if it can read it.
fn readable(cases: &mut Catalog<'_>) {
    let accepted = Conversation::post(cases.accept(), cases.accepted()).readable(Level::Must);
    cases.conversation(
        "statement.cors-readable",
        "cors.readable.200",
        "a page of the allowed origin can read an acceptance",
        accepted,
    );
    for status in [400, 401, 403, 409, 413] {
        let reason = "edgeproof_readable";
        let refused = Conversation::post(cases.refuse(status, reason), cases.refused(status, reason))
            .readable(Level::Must);
        cases.conversation(
            "statement.cors-readable",
            &format!("cors.readable.{status}"),
            &format!("a page of the allowed origin can read a refusal with {status}"),
            refused,
        );
    }
    let unreachable = cases.answer("edge.502.service-unreachable", None);
    let unreachable =
        Conversation::post(cases.accept(), unreachable).relayed(Relayed::Nothing).readable(Level::Must);
    cases
        .conversation(
            "statement.cors-readable",
            "cors.readable.502",
            "a page of the allowed origin can read that the service is unreachable",
            unreachable,
        )
        .setup(Setup::PortClosed);
    let refusals = super::refusals::each(cases).into_iter();
    let refusals = refusals.map(|(name, refusal)| (name, refusal.only_readable(Level::Must))).collect();
    cases.each(
        "statement.cors-readable",
        "cors.readable.reasons",
        "a page of the allowed origin can read a refusal, whatever the reason",
        refusals,
    );
    cases
        .steps(
            "statement.cors-readable-405",
            "cors.readable.405",
            "a page of the allowed origin can read a 405",
            |context| {
                Box::pin(async move {
                    let sent = context.send(&Draft::new("PUT", SIGNALS).header("Origin", ORIGIN)).await;
                    context.check(judge::readable(context.origin(), &sent.reply));
                })
            },
        )
        .needs(&[Need::Origin]);
}

/// Other origins get no grant, however alike.
fn denied(cases: &mut Catalog<'_>) {
    for (id, title, other) in look_alikes() {
        let origin = other;
        cases
            .steps(
                "statement.cors-other-origins",
                &format!("cors.denied.{id}.preflight"),
                &format!("no grant to {title}, in a preflight"),
                move |context| {
                    Box::pin(async move {
                        let other = origin(context.origin());
                        let sent = context.send(&preflight(&other)).await;
                        context.check(judge::no_grant(&other, &sent.reply));
                    })
                },
            )
            .needs(&[Need::Origin]);
        let accept = cases.accept();
        cases.steps(
            "statement.cors-other-origins",
            &format!("cors.denied.{id}.post"),
            &format!("no grant to {title}, in the answer to a POST"),
            move |context| {
                let accept = accept.clone();
                Box::pin(async move {
                    let other = origin(context.origin());
                    context.script(accept);
                    let body = Body::Sized(Bytes::copy_from_slice(collection().body.bytes()));
                    let mut draft = posted(body, Some("application/json"));
                    draft.headers[0].1.clone_from(&other);
                    let sent = context.send(&draft).await;
                    context.check(judge::no_grant(&other, &sent.reply));
                    let saw = summary::status(&sent.reply);
                    context.observe("cors.post-from-other-origin", saw);
                })
            },
        );
    }
}

/// Errors are often answered by other code than acceptances, which grants in its own way.
fn denied_errors(cases: &mut Catalog<'_>) {
    const OTHER: &str = "https://other.example";
    let post = posted(collection().body, Some("application/json"));
    for (id, title, method, setup) in [
        ("refused", "in the answer to a collection that is refused", "POST", Setup::Standard),
        ("unreachable", "while the service cannot be reached", "POST", Setup::PortClosed),
        ("other-method", "in the answer to another method", "PUT", Setup::Standard),
    ] {
        let (script, mut draft) = (cases.refuse(401, "edgeproof_denied"), post.clone());
        draft.method = method.into();
        draft.headers[0].1 = OTHER.into();
        let case = cases.steps(
            "statement.cors-other-origins",
            &format!("cors.denied.other.{id}"),
            &format!("no grant to another origin, {title}"),
            move |context| {
                let (script, draft) = (script.clone(), draft.clone());
                Box::pin(async move {
                    context.script(script);
                    let sent = context.send(&draft).await;
                    context.check(judge::no_grant(OTHER, &sent.reply));
                })
            },
        );
        case.setup(setup);
        if method == "PUT" {
            case.needs(&[Need::Origin]);
        }
    }
}

type Alike = fn(&str) -> String;

fn look_alikes() -> [(&'static str, &'static str, Alike); 9] {
    [
        ("other", "another origin", |_| "https://other.example".into()),
        ("null", "the opaque origin", |_| "null".into()),
        ("prefix", "an origin that begins like the allowed one", |origin| {
            format!("{}.other.example", without_port(origin))
        }),
        ("shorter", "an origin that the allowed one begins with", |origin| {
            let mut shorter = without_port(origin).to_owned();
            shorter.pop();
            shorter
        }),
        ("suffix", "an origin that ends like the allowed one", |origin| {
            origin.replacen("://", "://other-", 1)
        }),
        ("subdomain", "a host below the allowed one", |origin| origin.replacen("://", "://sub.", 1)),
        ("scheme", "the allowed host with another scheme", |origin| match origin.strip_prefix("https://") {
            Some(host) => format!("http://{host}"),
            None => origin.replacen("http://", "https://", 1),
        }),
        ("port", "the allowed host with another port", |origin| format!("{}:8443", without_port(origin))),
        ("pattern", "an origin that only a pattern would match", |origin| match origin.rfind('.') {
            Some(at) => format!("{}x{}", &origin[..at], &origin[at + 1..]),
            None => format!("{origin}x"),
        }),
    ]
}

fn without_port(origin: &str) -> &str {
    match origin.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => origin,
    }
}

fn setting(cases: &mut Catalog<'_>) {
    let accept = cases.accept();
    cases
        .steps(
            "setting.edge.allowed-origin",
            "cors.origin-setting",
            "another ALLOWED_ORIGIN is granted in place of the first",
            move |context| {
                let accept = accept.clone();
                Box::pin(async move {
                    let sent = context.send(&preflight(ORIGIN)).await;
                    context.checks(judge::preflight_passes(context.origin(), &sent.reply));
                    context.script(accept);
                    let sent = context.send(&collection()).await;
                    context.check(judge::readable(context.origin(), &sent.reply));
                    let usual = ALLOWED_ORIGIN;
                    let sent = context.send(&preflight(usual)).await;
                    context.check(judge::no_grant(usual, &sent.reply));
                })
            },
        )
        .setup(Setup::OtherLicense);
}

fn vary(cases: &mut Catalog<'_>) {
    let accept = cases.accept();
    cases.steps(
        "statement.vary",
        "cors.vary",
        "where the grant depends on the origin, Vary says so",
        move |context| {
            let accept = accept.clone();
            Box::pin(async move {
                context.script(accept);
                let allowed = context.send(&collection()).await;
                let mut draft = collection();
                draft.headers[0].1 = "https://other.example".into();
                let other = context.send(&draft).await;
                context.check(judge::vary(&allowed.reply, &other.reply));
            })
        },
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
