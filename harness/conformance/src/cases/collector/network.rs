use edgeproof_fixtures::credentials::Role;
use edgeproof_fixtures::spec::{Advice, Stimulus};
use edgeproof_reports::CaseLevel;
use edgeproof_reports::difference::{Count, Counted, SessionSubject};

use super::ErrorRow;
use crate::cases::{CaseList, Collector, CollectorCaseContext};
use crate::collector::{CorsReaction, EdgeScheme, PageOrigin, PostReaction, RawReaction, RawServer};
use crate::judge::{Check, fails_with};

const ROW: &str = "collector.type-error";

/// A POST that cannot complete (7.1).
pub(super) fn add(cases: &mut CaseList<'_, Collector>) {
    addresses(cases);
    cors(cases);
    certificates(cases);
    connections(cases);
    observed(cases);
}

fn addresses(cases: &mut CaseList<'_, Collector>) {
    for (id, title, port) in [
        ("name-unresolved", "an unresolvable name of the edge", None),
        ("port-closed", "an edge that is down", Some("https://edge.test")),
        ("localhost-port-closed", "an edge on localhost that is down", Some("http://localhost")),
    ] {
        let error = ErrorRow::of(cases, ROW);
        cases
            .case(
                ROW,
                &format!("network.{id}"),
                &format!("{title} makes verify() reject with the TypeError of fetch"),
            )
            .steps(steps!(
                async |context| {
                    let url = match port {
                        None => "https://edge.invalid".to_owned(),
                        Some(host) => match closed_port() {
                            Ok(port) => format!("{host}:{port}"),
                            Err(why) => {
                                context.found.not_run = Some(format!("cannot reserve a port: {why}"));
                                return;
                            }
                        },
                    };
                    failed(context, title, &url, &error).await;
                },
                with(error)
            ))
            .stimulus(Stimulus::EdgeUnreachable);
    }
}

/// A port where nothing listens: it was free a moment ago.
fn closed_port() -> std::io::Result<u16> {
    Ok(std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

fn cors(cases: &mut CaseList<'_, Collector>) {
    for (id, title, cors, needs_preflight) in [
        ("no-grant", "an edge without CORS headers", CorsReaction::None, false),
        ("no-grant-on-post", "an answer without a CORS grant", CorsReaction::NoneOnPost, false),
        ("other-origin", "a grant for another origin", CorsReaction::OtherOrigin, false),
        ("preflight-refused", "a refused preflight", CorsReaction::PreflightRefused, true),
    ] {
        let error = ErrorRow::of(cases, ROW);
        cases
            .case(
                ROW,
                &format!("network.cors.{id}"),
                &format!("{title} makes verify() reject with the TypeError of fetch"),
            )
            .steps(steps!(
                async |context| {
                    let Some(edge) = context.edge(context.edge_setup().cors(cors)).await else { return };
                    failed(context, title, &edge.url(), &error).await;
                    if needs_preflight && edge.preflights() == 0 {
                        context.found.not_applicable = Some("the collector's POST needs no preflight".into());
                    }
                },
                with(error)
            ))
            .stimulus(Stimulus::EdgeUnreachable);
    }
}

fn certificates(cases: &mut CaseList<'_, Collector>) {
    for (id, title, role) in [
        ("foreign", "a certificate of the edge from an unknown CA", Role::OtherServiceServer),
        ("expired", "an expired certificate of the edge", Role::ServiceExpired),
        ("other-host", "a certificate of the edge for another host", Role::ServiceWrongHost),
    ] {
        let error = ErrorRow::of(cases, ROW);
        cases
            .case(
                ROW,
                &format!("network.certificate.{id}"),
                &format!("{title} makes verify() reject with the TypeError of fetch"),
            )
            .steps(steps!(
                async |context| {
                    let setup = context.edge_setup().scheme(EdgeScheme::Https(role));
                    let Some(edge) = context.edge(setup).await else { return };
                    failed(context, title, &edge.url(), &error).await;
                },
                with(error)
            ))
            .stimulus(Stimulus::EdgeUnreachable);
    }
}

/// Connections that end after the request.
fn connections(cases: &mut CaseList<'_, Collector>) {
    for (id, title, reaction) in [
        ("closed", "a connection that closes without an answer", RawReaction::Close),
        ("reset", "a connection that is reset after the request", RawReaction::Reset),
        ("head-cut", "an answer whose head is cut short", RawReaction::HeadCut),
        ("garbage", "an answer that is not HTTP", RawReaction::Garbage),
    ] {
        let error = ErrorRow::of(cases, ROW);
        cases
            .case(
                ROW,
                &format!("network.connection.{id}"),
                &format!("{title} makes verify() reject with the TypeError of fetch"),
            )
            .steps(steps!(
                async |context| {
                    let Some(edge) = raw_edge(context, reaction).await else { return };
                    failed(context, title, &edge.url(), &error).await;
                },
                with(error)
            ))
            .stimulus(Stimulus::EdgeUnreachable);
    }
    let error = ErrorRow::of(cases, ROW);
    cases
        .case(
            ROW,
            "network.connection.stream-reset",
            "a stream that is reset after the request makes verify() reject with the TypeError of fetch",
        )
        .steps(steps!(
            async |context| {
                let setup = context.edge_setup().post(PostReaction::Close);
                let Some(edge) = context.edge(setup).await else { return };
                failed(context, "a stream that is reset", &edge.url(), &error).await;
            },
            with(error)
        ))
        .stimulus(Stimulus::EdgeUnreachable);
}

async fn raw_edge(context: &mut CollectorCaseContext, reaction: RawReaction) -> Option<RawServer> {
    let origin = context.target.pages.origin(PageOrigin::Https);
    match RawServer::start(&origin, reaction).await {
        Ok(edge) => Some(edge),
        Err(why) => {
            context.found.not_run = Some(format!("cannot listen: {why}"));
            None
        }
    }
}

/// The status has arrived, the body has not: a collector may or may not read it.
fn observed(cases: &mut CaseList<'_, Collector>) {
    cases
        .case(
            ROW,
            "network.connection.body-cut",
            "how the collector handles an acceptance whose body is cut short",
        )
        .steps(steps!(async |context| {
            let Some(edge) = raw_edge(context, RawReaction::BodyCut).await else { return };
            let Some(page) = context.page().await else { return };
            let options = context.quick_options(&edge.url());
            let session = page.session(options, &context.reference("cut")).await;
            context.observe("collector.answer.cut", session.summary());
        }))
        .level(CaseLevel::Open);
}

async fn failed(context: &mut CollectorCaseContext, what: &str, url: &str, error: &ErrorRow) {
    let Some(page) = context.page().await else { return };
    let before = page.posts().await;
    let session = page.session(context.quick_options(url), &context.reference("network")).await;
    let expected = error.expected(context);
    let check = fails_with(SessionSubject::Session, &expected, &session);
    context.check(check.which(&format!("with {what}")));
    let posts = page.posts().await.saturating_sub(before);
    context.check(
        Check::judged(Count::new(Counted::Posts, 1, posts), posts <= 1)
            .which(&format!("of the session with {what}"))
            .advise(Advice::FailedRepeated)
            .at(CaseLevel::Should),
    );
}
