use std::time::Duration;

use bytes::Bytes;
use edgeproof_fixtures::credentials::Role;
use edgeproof_fixtures::spec::{Advice, ServiceUrlForm, SettingChange, Stimulus, Table};
use edgeproof_reports::CaseLevel;
use edgeproof_reports::difference::{AnswerSubject, Statuses};

use crate::cases::{
    CaseList, Conversation, Edge, EdgeRule, ExpectedRelay, SettingForms, Setup, collection, summary,
};
use crate::judge;
use edgeproof_mock::{Action, ListenerMode, Reply, Script};

const SLOW_REASON: &str = "edgeproof_slow";
/// Time of a slow refusal.
const SLOW_REFUSAL: Duration = Duration::from_millis(2200);

/// The service is unreachable or slow (7.2).
pub(super) fn add(cases: &mut CaseList<'_, Edge>) {
    configurations(cases);
    content_type(cases);
    handshakes(cases);
    listener_modes(cases);
    address_as_host(cases);
    broken(cases);
    slow(cases);
}

/// Configurations with an unreachable service.
fn configurations(cases: &mut CaseList<'_, Edge>) {
    const URL: &str = "setting.edge.service-url";
    for (setup, stimulus, setting, id, title) in [
        (
            Setup::PortClosed,
            Stimulus::ServicePortClosed,
            URL,
            "port-closed",
            "if nothing listens on the service's port",
        ),
        (
            Setup::NameUnresolved,
            Stimulus::ServiceNameUnresolved,
            URL,
            "name-unresolved",
            "if the service's name does not resolve",
        ),
        (
            Setup::NoCaFile,
            Stimulus::ServicePrivateAuthority,
            "setting.edge.service-ca-file",
            "private-authority",
            "if SERVICE_CA_FILE is unset and the service's CA is private",
        ),
    ] {
        let conversation = cases.unreachable_post();
        cases
            .case(
                "edge.502.service-unreachable",
                &format!("unreachable.{id}"),
                &format!("the edge answers {} {title}", cases.unreachable_status()),
            )
            .conversation(conversation)
            .also(setting)
            .also("statement.error-bodies-json")
            .also("statement.starts-without-service")
            .setup(setup)
            .stimulus(stimulus)
            // A resolver can take seconds to fail.
            .takes(if setup == Setup::NameUnresolved { Duration::from_secs(1) } else { Duration::ZERO });
    }
}

/// Before client certificates had their own reasons (9.3), the service ends the handshake with a client certificate that it
/// refuses: for the edge it is unreachable.
fn handshakes(cases: &mut CaseList<'_, Edge>) {
    for (setup, stimulus, id, title) in [
        (
            Setup::NoCertificate,
            Stimulus::CertificateMissing,
            "without-certificate",
            "if the service's handshake requires a client certificate and none is configured",
        ),
        (
            Setup::ForeignCertificate,
            Stimulus::CertificateForeign,
            "foreign-certificate",
            "if the service's handshake refuses a client certificate from another CA",
        ),
    ] {
        let Some(row) = cases.spec.by_stimulus(Table::Edge, stimulus) else { continue };
        let conversation =
            Conversation::post(cases.accept(), cases.answer(&row.id, None)).relay(ExpectedRelay::Nothing);
        cases
            .case(
                &row.id,
                &format!("unreachable.{id}"),
                &format!("the edge answers {} {title}", cases.unreachable_status()),
            )
            .conversation(conversation)
            .setup(setup)
            .stimulus(stimulus);
    }
}

fn content_type(cases: &mut CaseList<'_, Edge>) {
    let conversation = cases.unreachable_post().only().content_type(CaseLevel::Must);
    cases
        .case(
            "statement.json-content-type",
            "unreachable.content-type",
            &format!("a {} has the content type JSON", cases.unreachable_status()),
        )
        .conversation(conversation)
        .setup(Setup::PortClosed);
}

/// Other behaviour of the service's listener.
fn listener_modes(cases: &mut CaseList<'_, Edge>) {
    const UNREACHABLE: &str = "edge.502.service-unreachable";
    const IDENTITY: &str = "statement.server-identity";
    for (mode, stimulus, row, id, title) in [
        (
            ListenerMode::Closes,
            Stimulus::ServiceClosesConnection,
            UNREACHABLE,
            "closes",
            "if the service accepts connections and closes them",
        ),
        (
            ListenerMode::Tls(Role::OtherServiceServer),
            Stimulus::ServiceForeignAuthority,
            UNREACHABLE,
            "foreign-authority",
            "if the service's certificate is from another CA than SERVICE_CA_FILE",
        ),
        (
            ListenerMode::Tls(Role::ServiceWrongHost),
            Stimulus::ServiceWrongHost,
            IDENTITY,
            "wrong-host",
            "if the service's certificate is for another host",
        ),
        (
            ListenerMode::Tls(Role::ServiceExpired),
            Stimulus::ServiceCertificateExpired,
            IDENTITY,
            "certificate-expired",
            "if the service's certificate has expired",
        ),
        (
            ListenerMode::PlainHttp,
            Stimulus::ServicePlainHttp,
            UNREACHABLE,
            "plain-http",
            "if the service speaks HTTP without TLS",
        ),
        (
            ListenerMode::Garbage,
            Stimulus::ServiceGarbage,
            UNREACHABLE,
            "garbage",
            "if the service speaks neither TLS nor HTTP",
        ),
    ] {
        let conversation = cases.unreachable_post();
        cases
            .case(
                row,
                &format!("unreachable.{id}"),
                &format!("the edge answers {} and relays nothing {title}", cases.unreachable_status()),
            )
            .conversation(conversation)
            .listener(mode)
            .also(UNREACHABLE)
            .stimulus(stimulus);
    }
}

/// An IP address as host is no reason to trust any certificate.
fn address_as_host(cases: &mut CaseList<'_, Edge>) {
    let address = SettingChange::ServiceUrl(ServiceUrlForm::Ipv4);
    for (role, id, title) in [
        (Role::OtherServiceServer, "foreign-authority-of-address", "is from another CA"),
        (Role::ServiceWrongHost, "wrong-host-of-address", "is for another host"),
        (Role::ServiceExpired, "certificate-expired-of-address", "has expired"),
    ] {
        let title = format!(
            "the edge answers {} if SERVICE_URL has an IP address and the service's certificate {title}",
            cases.unreachable_status()
        );
        let conversation = cases.unreachable_post();
        let case = cases
            .case("statement.server-identity", &format!("unreachable.{id}"), &title)
            .conversation(conversation)
            .setup(Setup::Forms(SettingForms::new(&[address])))
            .listener(ListenerMode::Tls(role))
            .also("edge.502.service-unreachable");
        // Whether an edge starts with this form is for a case of its own.
        case.settings.start = CaseLevel::Open;
    }
}

/// The service breaks off after it has read the request. It may have accepted the collection, so the edge should not
/// retry.
fn broken(cases: &mut CaseList<'_, Edge>) {
    for (action, stimulus, id, title) in [
        (
            Action::RawBytes(Bytes::from_static(b"HTTP/1.1 2")),
            Stimulus::ServiceHeadCut,
            "status-line-cut",
            "if the service's reply ends in its status line",
        ),
        (
            Action::Reset,
            Stimulus::ServiceResets,
            "reset",
            "if the service resets the connection after the request",
        ),
        (
            Action::Close,
            Stimulus::ServiceClosesConnection,
            "closes-after-request",
            "if the service closes the connection after the request",
        ),
        (
            Action::RawBytes(Bytes::from_static(b"\x00\x01edgeproof is not HTTP\r\n\r\n")),
            Stimulus::ServiceGarbage,
            "garbage-after-request",
            "if the service's reply is not HTTP",
        ),
    ] {
        let accept = cases.accept().replies.remove(0);
        let script = Script { replies: vec![Reply::now(action), accept] };
        let answer = cases.answer("edge.502.service-unreachable", None);
        let accepted = cases.accepted();
        cases
            .case(
                "edge.502.service-unreachable",
                &format!("unreachable.{id}"),
                &format!("the edge answers {} and does not retry {title}", cases.unreachable_status()),
            )
            .conversation(Conversation::post(script, answer).after_retry(vec![accepted]))
            .stimulus(stimulus)
            .also("statement.no-retry")
            .also("statement.retry-told-truth")
            .exclusive();
    }
    cases
        .case(
            "statement.reply-head-cut",
            "unreachable.head-cut",
            "the answer when the service's reply ends after its status line",
        )
        .observation(Script::one(Action::CutHead))
        .exclusive();
    ends_early(cases);
    copy_refused(cases);
    copy_refused_after_cut(cases);
}

/// Which answer the page gets is open. It gets one: the connection has ended, so there is nothing to wait for.
fn ends_early(cases: &mut CaseList<'_, Edge>) {
    let cut = |status: u16, text: &'static [u8], after: usize| Action::CutBody {
        status,
        body: Bytes::from_static(text),
        after,
    };
    let refusal = br#"{"error":"edgeproof_cut","reason":"edgeproof_cut"}"#;
    let exchanges = [
        ("a refusal whose body ends early", cut(403, refusal, 12)),
        ("a refusal that ends before its body", cut(401, refusal, 0)),
        ("a server error whose body ends early", cut(500, b"<html>edgeproof</html>", 5)),
        ("an acceptance whose body ends early", cut(200, br#"{"ok":true}"#, 5)),
        ("a reply that ends within its head", Action::CutHead),
    ];
    let exchanges = exchanges.into_iter().map(|(name, action)| {
        let post = Conversation::request(collection()).script(Script::one(action));
        (name.to_owned(), post.expect(EdgeRule::Status(Statuses::Any)))
    });
    let exchanges = exchanges.collect();
    cases
        .case(
            "edge.502.service-unreachable",
            "unreachable.ends-early",
            "the edge answers when the service's reply ends early",
        )
        .exchanges(exchanges)
        .exclusive();
}

/// The service accepts the collection and breaks off. It refuses a copy as replayed, which is not the page's doing.
fn copy_refused(cases: &mut CaseList<'_, Edge>) {
    let Some(replayed) = cases.spec.by_stimulus(Table::Relay, Stimulus::Replayed) else { return };
    let (Some(status), Some(code)) = (replayed.status(), replayed.code()) else { return };
    let refuse = cases.refuse(status, code).replies.remove(0);
    let script = Script { replies: vec![Reply::now(Action::Close), refuse] };
    let unreachable = cases.answer("edge.502.service-unreachable", None);
    let conversation = Conversation::post(script, unreachable.clone());
    let accepted = cases.accepted();
    cases
        .case(
            "statement.retry-told-truth",
            "unreachable.copy-refused",
            "if the edge retries after a broken connection, it does not pass on the refusal of the copy",
        )
        .conversation(conversation.after_retry(vec![unreachable, accepted]))
        .also("statement.no-retry")
        .exclusive();
}

/// The same after a part of the reply. Whether the page is told of the acceptance or of the lost rest is open.
fn copy_refused_after_cut(cases: &mut CaseList<'_, Edge>) {
    let Some(replayed) = cases.spec.by_stimulus(Table::Relay, Stimulus::Replayed) else { return };
    let (Some(status), Some(code)) = (replayed.status(), replayed.code()) else { return };
    let refuse = cases.refuse(status, code).replies.remove(0);
    let body = Bytes::from_static(br#"{"accepted":true,"edgeproof":"cut"}"#);
    let answers = [cases.answer("edge.502.service-unreachable", None), cases.accepted()];
    for (id, title, action) in [
        ("body", "within its body", Action::CutBody { status: 200, body, after: 12 }),
        ("head", "within its head", Action::CutHead),
    ] {
        let script = Script { replies: vec![Reply::now(action), refuse.clone()] };
        let answers = answers.clone();
        cases
            .case(
                "statement.retry-told-truth",
                &format!("unreachable.copy-refused-after-cut-{id}"),
                &format!("if the edge retries after an acceptance that ends {title}, it does not pass on the refusal of the copy"),
            )
            .steps(steps!(with(script, answers), async |context| {
                context.script(script);
                let sent = context.send(&collection()).await;
                let relayed = context.relayed().await;
                let body = context.fill(&collection()).body;
                context.checks(judge::relayed_once(body.bytes(), &relayed, &sent.reply, CaseLevel::Should));
                if relayed.complete.len() > 1 {
                    let check = judge::one_of(AnswerSubject::AfterRetry, &answers, &sent.reply);
                    context.check(check.advise(Advice::RetryUntold));
                }
            }))
            .exclusive();
    }
}

fn slow(cases: &mut CaseList<'_, Edge>) {
    let mut script = cases.accept();
    script.replies[0].delay = Duration::from_secs(1);
    let accepted = cases.accepted();
    cases
        .case("statement.slow-service", "service.slow", "the edge waits for a service that takes a second")
        .conversation(Conversation::post(script, accepted))
        .takes(Duration::from_secs(1));

    let mut script = cases.refuse(403, SLOW_REASON);
    script.replies[0].delay = SLOW_REFUSAL;
    let refused = cases.answer("edge.refused", Some((403, SLOW_REASON)));
    let unreachable = cases.answer("edge.502.service-unreachable", None);
    cases
        .case(
            "edge.refused",
            "service.slow-refusal",
            "a refusal that takes two seconds is passed on, or the service is unreachable",
        )
        .steps(steps!(with(script, refused, unreachable), async |context| {
            context.script(script);
            let sent = context.send(&collection()).await;
            let gave_up = judge::exact(&unreachable, &sent.reply);
            if gave_up.iter().all(|check| check.ok) {
                context.checks(gave_up);
            } else {
                context.checks(judge::exact(&refused, &sent.reply));
            }
        }))
        .also("statement.slow-service")
        .takes(SLOW_REFUSAL);

    let (script, patience) = (Script::one(Action::Silence), cases.silence_limit());
    cases
        .case("statement.silent-service", "service.silent", "the answer when the service never replies")
        .steps(steps!(with(script), async |context| {
            context.script(script);
            context.timeout = patience;
            let sent = context.send(&collection()).await;
            let observed = match &sent.reply {
                Err(edgeproof_http::NoAnswer::TimedOut(limit)) => {
                    format!("no answer within {}", humantime::format_duration(*limit))
                }
                reply => summary::answer(&context.marker, reply),
            };
            context.observe("service.silent", observed);
        }))
        .observes(["service.silent"])
        .takes(patience)
        // An edge may relay one collection after the other, so other cases must not wait behind this one.
        .exclusive();
}
