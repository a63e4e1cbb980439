use edgeproof_fixtures::credentials::Role;
use edgeproof_fixtures::spec::{Advice, Stimulus};
use edgeproof_launch::HeldPort;
use edgeproof_reports::CaseLevel;
use edgeproof_reports::difference::{Count, Counted, SessionSubject};

use crate::cases::{CaseList, Collector, CollectorCaseContext};
use crate::collector::{CorsReaction, EdgeScheme, PageOrigin, PostReaction, RawReaction, RawServer};
use crate::judge::{Check, fails_with};

const ROW: &str = "collector.type-error";

/// Why a POST cannot complete.
#[derive(Clone, Copy)]
enum Fault {
    /// The name of the edge does not resolve.
    Name,
    /// Nothing listens at a port of this origin.
    Port(&'static str),
    /// The edge's CORS headers.
    Cors(CorsReaction),
    /// The edge's certificate.
    Certificate(Role),
    /// The connection ends after the request.
    Connection(RawReaction),
}

/// A POST that cannot complete (7.1).
pub(super) fn add(cases: &mut CaseList<'_, Collector>) {
    for (id, title, fault) in [
        ("name-unresolved", "an unresolvable name of the edge", Fault::Name),
        ("port-closed", "an edge that is down", Fault::Port("https://edge.test")),
        ("localhost-port-closed", "an edge on localhost that is down", Fault::Port("http://localhost")),
        ("cors.no-grant", "an edge without CORS headers", Fault::Cors(CorsReaction::None)),
        ("cors.no-grant-on-post", "an answer without a CORS grant", Fault::Cors(CorsReaction::NoneOnPost)),
        ("cors.other-origin", "a grant for another origin", Fault::Cors(CorsReaction::OtherOrigin)),
        ("cors.preflight-refused", "a refused preflight", Fault::Cors(CorsReaction::PreflightRefused)),
        (
            "certificate.foreign",
            "a certificate of the edge from an unknown CA",
            Fault::Certificate(Role::OtherServiceServer),
        ),
        (
            "certificate.expired",
            "an expired certificate of the edge",
            Fault::Certificate(Role::ServiceExpired),
        ),
        (
            "certificate.other-host",
            "a certificate of the edge for another host",
            Fault::Certificate(Role::ServiceWrongHost),
        ),
        (
            "connection.closed",
            "a connection that closes without an answer",
            Fault::Connection(RawReaction::Close),
        ),
        (
            "connection.reset",
            "a connection that is reset after the request",
            Fault::Connection(RawReaction::Reset),
        ),
        ("connection.head-cut", "an answer whose head is cut short", Fault::Connection(RawReaction::HeadCut)),
        ("connection.garbage", "an answer that is not HTTP", Fault::Connection(RawReaction::Garbage)),
    ] {
        cases
            .case(
                ROW,
                &format!("network.{id}"),
                &format!("{title} makes verify() reject with the TypeError of fetch"),
            )
            .steps(move |context| Box::pin(play(context, title, fault)))
            .also("statement.collection-posted-once")
            .stimulus(Stimulus::EdgeUnreachable);
    }
    cases
        .case(
            ROW,
            "network.connection.stream-reset",
            "a stream that is reset after the request makes verify() reject with the TypeError of fetch",
        )
        .steps(steps!(async |context| {
            let setup = context.edge_setup().post(PostReaction::Close);
            let Some(edge) = context.edge(setup).await else { return };
            failed(context, "a stream that is reset", &edge.url()).await;
        }))
        .stimulus(Stimulus::EdgeUnreachable);
    observed(cases);
}

async fn play(context: &mut CollectorCaseContext, title: &str, fault: Fault) {
    match fault {
        Fault::Name => failed(context, title, "https://edge.invalid").await,
        Fault::Port(origin) => match HeldPort::bind() {
            Ok(held) => failed(context, title, &format!("{origin}:{}", held.addr().port())).await,
            Err(why) => context.found.not_run = Some(format!("cannot reserve a port: {why}")),
        },
        Fault::Cors(cors) => {
            let Some(edge) = context.edge(context.edge_setup().cors(cors)).await else { return };
            failed(context, title, &edge.url()).await;
            if cors == CorsReaction::PreflightRefused && edge.preflights() == 0 {
                context.found.not_applicable = Some("the collector's POST needs no preflight".into());
            }
        }
        Fault::Certificate(role) => {
            let setup = context.edge_setup().scheme(EdgeScheme::Https(role));
            let Some(edge) = context.edge(setup).await else { return };
            failed(context, title, &edge.url()).await;
        }
        Fault::Connection(reaction) => {
            let Some(edge) = raw_edge(context, reaction).await else { return };
            failed(context, title, &edge.url()).await;
        }
    }
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
        .observes(["collector.answer.cut"])
        .level(CaseLevel::Open);
}

async fn failed(context: &mut CollectorCaseContext, what: &str, url: &str) {
    let Some(page) = context.page().await else { return };
    let before = page.posts().await;
    let session = page.session(context.quick_options(url), &context.reference("network")).await;
    let check = fails_with(SessionSubject::Session, &context.error(ROW, ""), &session);
    context.check(check.which(&format!("with {what}")));
    let posts = page.posts().await.saturating_sub(before);
    context.check(
        Check::judged(Count::new(Counted::Posts, 1, posts), posts <= 1)
            .which(&format!("of the session with {what}"))
            .advise(Advice::FailedRepeated)
            .at(CaseLevel::Should),
    );
}
