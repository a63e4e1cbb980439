use std::time::Duration;

use bytes::Bytes;
use edgeproof_fixtures::credentials::Role;
use edgeproof_fixtures::spec::{Stimulus, Table};
use edgeproof_reports::CaseLevel as Level;

use super::conversation::{Conversation, Relayed, collection};
use super::{CaseContext, Catalog, summary};
use crate::judge::{self, Check, Expected};
use crate::target::Setup;
use edgeproof_mock::{Action, ListenerMode, Reply, Script};

/// The service cannot be reached, is slow, or comes back (7.2).
pub(super) fn add(cases: &mut Catalog<'_>) {
    started(cases);
    content_type(cases);
    handshakes(cases);
    facades(cases);
    broken(cases);
    slow(cases);
    recovery(cases);
}

/// What an edge that was started so can never reach.
fn started(cases: &mut Catalog<'_>) {
    const URL: &str = "setting.edge.service-url";
    for (setup, stimulus, setting, id, title) in [
        (
            Setup::PortClosed,
            Stimulus::ServicePortClosed,
            URL,
            "port-closed",
            "nothing listens on the service's port",
        ),
        (
            Setup::NameUnresolved,
            Stimulus::ServiceNameUnresolved,
            URL,
            "name-unresolved",
            "the service's name does not resolve",
        ),
        (
            Setup::NoCaFile,
            Stimulus::ServicePrivateAuthority,
            "setting.edge.service-ca-file",
            "private-authority",
            "the service's certificate is from a private authority, and SERVICE_CA_FILE is not set",
        ),
    ] {
        let answer = cases.answer("edge.502.service-unreachable", None);
        let conversation = Conversation::post(cases.accept(), answer).relayed(Relayed::Nothing);
        cases
            .conversation(
                "edge.502.service-unreachable",
                &format!("unreachable.{id}"),
                &format!("{title}: 502"),
                conversation,
            )
            .also(setting)
            .also("statement.error-bodies-json")
            .setup(setup)
            .stimulus(stimulus)
            // Looking a name up in vain can take a system's resolver seconds.
            .takes(if setup == Setup::NameUnresolved { Duration::from_secs(1) } else { Duration::ZERO });
    }
}

/// Before client certificates had reasons of their own (9.3), the service ends the handshake with one that it does
/// not take: to the edge it is unreachable.
fn handshakes(cases: &mut Catalog<'_>) {
    for (setup, stimulus, id, title) in [
        (
            Setup::NoCertificate,
            Stimulus::CertificateMissing,
            "without-certificate",
            "the service's handshake asks for a client certificate, and none is set",
        ),
        (
            Setup::ForeignCertificate,
            Stimulus::CertificateForeign,
            "foreign-certificate",
            "the service's handshake refuses a client certificate that it did not issue",
        ),
    ] {
        let Some(row) = cases.spec.by_stimulus(Table::Edge, stimulus) else { continue };
        let conversation =
            Conversation::post(cases.accept(), cases.answer(&row.id, None)).relayed(Relayed::Nothing);
        cases
            .conversation(&row.id, &format!("unreachable.{id}"), &format!("{title}: 502"), conversation)
            .setup(setup)
            .stimulus(stimulus);
    }
}

/// The answer says what it is.
fn content_type(cases: &mut Catalog<'_>) {
    cases
        .steps(
            "statement.json-content-type",
            "unreachable.content-type",
            "a 502 says that its body is JSON",
            |context| {
                Box::pin(async move {
                    let sent = context.send(&collection()).await;
                    context.check(summary::json_content_type(&sent.reply));
                })
            },
        )
        .setup(Setup::PortClosed);
}

/// What the service's listener shows in place of itself.
fn facades(cases: &mut Catalog<'_>) {
    const UNREACHABLE: &str = "edge.502.service-unreachable";
    const IDENTITY: &str = "statement.server-identity";
    for (mode, stimulus, row, id, title) in [
        (
            ListenerMode::Closes,
            Stimulus::ServiceClosesConnection,
            UNREACHABLE,
            "closes",
            "the service accepts connections and closes them",
        ),
        (
            ListenerMode::Tls(Role::OtherServiceServer),
            Stimulus::ServiceForeignAuthority,
            UNREACHABLE,
            "foreign-authority",
            "the service's certificate is from another authority than SERVICE_CA_FILE",
        ),
        (
            ListenerMode::Tls(Role::ServiceWrongHost),
            Stimulus::ServiceWrongHost,
            IDENTITY,
            "wrong-host",
            "the service's certificate is for another host",
        ),
        (
            ListenerMode::Tls(Role::ServiceExpired),
            Stimulus::ServiceCertificateExpired,
            IDENTITY,
            "certificate-expired",
            "the service's certificate has expired",
        ),
        (
            ListenerMode::PlainHttp,
            Stimulus::ServicePlainHttp,
            UNREACHABLE,
            "plain-http",
            "the service speaks HTTP without TLS",
        ),
        (
            ListenerMode::Garbage,
            Stimulus::ServiceGarbage,
            UNREACHABLE,
            "garbage",
            "the service answers what is neither TLS nor HTTP",
        ),
    ] {
        let answer = cases.answer(UNREACHABLE, None);
        let conversation = Conversation::post(cases.accept(), answer).relayed(Relayed::Nothing);
        cases
            .steps(
                row,
                &format!("unreachable.{id}"),
                &format!("{title}: 502, and nothing is relayed"),
                move |context| {
                    let conversation = conversation.clone();
                    Box::pin(async move { behind(context, mode, &conversation).await })
                },
            )
            .also(UNREACHABLE)
            .stimulus(stimulus)
            .alone();
    }
}

async fn behind(context: &mut CaseContext, mode: ListenerMode, conversation: &Conversation) {
    let Some(service) = context.edge.service.clone() else { return };
    if let Err(why) = service.set_mode(mode).await {
        context.found.not_run = Some(format!("the mock service cannot show this: {why}"));
        return;
    }
    context.converse(conversation).await;
}

/// The service breaks off after it read the request: there is no telling what it did with it.
fn broken(cases: &mut Catalog<'_>) {
    for (action, stimulus, id, title) in [
        (Action::CutHead, Stimulus::ServiceHeadCut, "head-cut", "the service's answer ends within its head"),
        (
            Action::Reset,
            Stimulus::ServiceResets,
            "reset",
            "the service resets the connection after it read the request",
        ),
        (
            Action::Close,
            Stimulus::ServiceClosesConnection,
            "closes-after-request",
            "the service closes the connection after it read the request",
        ),
        (
            Action::Raw(Bytes::from_static(b"\x00\x01edgeproof is not HTTP\r\n\r\n")),
            Stimulus::ServiceGarbage,
            "garbage-after-request",
            "the service answers a request with what is not HTTP",
        ),
    ] {
        let accept = cases.accept().replies.remove(0);
        let script = Script { replies: vec![Reply::now(action), accept] };
        let answer = cases.answer("edge.502.service-unreachable", None);
        cases
            .conversation(
                "edge.502.service-unreachable",
                &format!("unreachable.{id}"),
                &format!("{title}: 502, and no second attempt"),
                Conversation::post(script, answer),
            )
            .stimulus(stimulus)
            .also("statement.relayed-once")
            .alone();
    }
}

fn slow(cases: &mut Catalog<'_>) {
    let mut script = cases.accept();
    script.replies[0].delay = Duration::from_secs(1);
    cases
        .conversation(
            "statement.slow-service",
            "service.slow",
            "a service that takes a second is waited for",
            Conversation::post(script, cases.accepted()),
        )
        .takes(Duration::from_secs(1));

    let (script, patience) = (Script::one(Action::Silence), cases.patience());
    cases
        .steps("statement.silent-service", "service.silent", "a service that never answers", move |context| {
            let script = script.clone();
            Box::pin(async move {
                context.script(script);
                context.limit = patience;
                let sent = context.send(&collection()).await;
                let saw = match &sent.reply {
                    Err(edgeproof_http::NoAnswer::TimedOut(limit)) => {
                        format!("no answer within {}", humantime::format_duration(*limit))
                    }
                    reply => summary::answer(context, reply),
                };
                context.observe("service.silent", saw);
            })
        })
        .takes(patience)
        // An edge that relays one collection after the other is not blamed for what waits behind this one.
        .alone();
}

/// What went wrong is over: the same edge works again.
fn recovery(cases: &mut Catalog<'_>) {
    let (accept, accepted, unreachable) =
        (cases.accept(), cases.accepted(), cases.answer("edge.502.service-unreachable", None));
    let again = Conversation::post(accept.clone(), accepted.clone());
    let gone = Conversation::post(accept.clone(), unreachable).relayed(Relayed::Nothing);
    let steps = again.clone();
    cases
        .steps(
            "statement.recovery",
            "recovery.service-back",
            "an edge works again when its service is back, without a restart",
            move |context| {
                let (gone, again) = (gone.clone(), steps.clone());
                Box::pin(async move {
                    let Some(service) = context.edge.service.clone() else { return };
                    let usual = ListenerMode::Tls(Role::ServiceServer);
                    for (mode, conversation) in [(ListenerMode::Closes, Some(&gone)), (usual, None)] {
                        if let Err(why) = service.set_mode(mode).await {
                            context.found.not_run = Some(format!("the mock service cannot show this: {why}"));
                            return;
                        }
                        if let Some(conversation) = conversation {
                            context.converse(conversation).await;
                        }
                    }
                    let check = works_again(context, &again).await;
                    context.check(check);
                })
            },
        )
        .alone();
    cases
        .steps(
            "statement.recovery",
            "recovery.connection-closed",
            "an edge works when the service closed the connection that it kept",
            move |context| {
                let again = again.clone();
                Box::pin(async move {
                    context.converse(&again).await;
                    if let Some(service) = context.edge.service.clone() {
                        service.close_connections().await;
                    }
                    let check = works_again(context, &again).await;
                    context.check(check);
                })
            },
        )
        .alone();
}

/// One of a few collections in a row passes. Not the first one: it may go out on a connection whose end the edge has not
/// noticed, and what may have arrived must not be sent again (RFC 9110 §9.2.2), so that one is lost.
async fn works_again(context: &mut CaseContext, conversation: &Conversation) -> Check {
    const TRIES: usize = 3;
    let expected = conversation.answer.as_ref().map(Expected::to_string).unwrap_or_default();
    let mut actual = String::new();
    for _ in 0..TRIES {
        context.script(conversation.script.clone().unwrap_or_else(Script::decide));
        let sent = context.send(&conversation.draft).await;
        let is_right = |answer: &Expected| judge::exact(answer, &sent.reply).iter().all(|check| check.ok);
        actual = summary::answer(context, &sent.reply);
        if conversation.answer.as_ref().is_some_and(is_right) {
            return Check::new("answer after that", expected, actual, true).at(Level::Should);
        }
    }
    Check::new("answers after that", format!("{expected}, by the third at the latest"), actual, false)
        .at(Level::Should)
        .hint("the service is there again; don't keep a connection that failed, nor the fact that one did")
}
