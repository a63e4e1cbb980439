use std::sync::Arc;

use edgeproof_fixtures::credentials::Role;
use edgeproof_fixtures::spec::{Stimulus, Table};

use crate::cases::{Catalog, Conversation, HEALTH, ORIGIN, SIGNALS, collection, preflight, summary};
use crate::judge;
use crate::target::Setup;
use edgeproof_http::Draft;
use edgeproof_mock::{Arrival, presented_licenses};

/// License and client certificate reach the service as they were set, and nobody else (2, 5).
pub(super) fn add(cases: &mut Catalog<'_>) {
    presented(cases);
    end_to_end(cases);
    open(cases);
    not_shown(cases);
}

fn presented(cases: &mut Catalog<'_>) {
    for (setup, id, title) in [
        (Setup::Standard, "credentials.license", "the license arrives as it was set"),
        (Setup::OtherLicense, "credentials.license-other", "another license arrives as it was set"),
        (
            Setup::ReadTokenAsLicense,
            "credentials.license-not-judged",
            "a read token set as LICENSE arrives as it was set: the service judges it",
        ),
    ] {
        let script = cases.accept();
        cases
            .edge_steps("statement.license-presented", id, title, move |context| {
                let script = script.clone();
                Box::pin(async move {
                    context.script(script);
                    context.send(&collection()).await;
                    let found = licenses(&context.arrivals());
                    let license = context.edge.license.clone().unwrap_or_default();
                    context.check(judge::carries_license(&license, &found));
                })
            })
            .setup(setup)
            .also("setting.edge.license");
    }
    for (setup, role, id, title) in [
        (
            Setup::Standard,
            Role::ClientForLicense,
            "credentials.certificate",
            "the client certificate is presented",
        ),
        (
            Setup::OtherLicense,
            Role::ClientForOtherLicense,
            "credentials.certificate-other",
            "another client certificate is presented where it is set",
        ),
    ] {
        let script = cases.accept();
        cases
            .edge_steps("statement.certificate-presented", id, title, move |context| {
                let script = script.clone();
                Box::pin(async move {
                    context.script(script);
                    context.send(&collection()).await;
                    let expected = context.edge.credentials.certificate(role).chain_der();
                    let expected = expected.first().map(AsRef::as_ref);
                    let arrivals = context.arrivals();
                    let presented = arrivals.first().and_then(|arrival| arrival.client_certificates.first());
                    context.check(judge::presents_certificate(
                        expected,
                        presented.map(AsRef::as_ref),
                        "EDGE_CLIENT_CERT_FILE",
                    ));
                })
            })
            .setup(setup)
            .also("setting.edge.client-cert-file")
            .also("setting.edge.client-key-file");
    }
}

/// The service decides by itself; what it finds has to come through.
fn end_to_end(cases: &mut Catalog<'_>) {
    let refusals = [
        (
            Setup::NoLicense,
            Stimulus::LicenseMissing,
            "statement.relays-without-license",
            "without-license",
            "without LICENSE the edge relays all the same, and the service's refusal comes through",
        ),
        (
            Setup::NoCertificate,
            Stimulus::CertificateMissing,
            "statement.relays-without-certificate",
            "without-certificate",
            "without a client certificate the edge relays all the same, and the service's refusal comes through",
        ),
        (
            Setup::ReadTokenAsLicense,
            Stimulus::LicenseReadToken,
            "statement.read-token-no-license",
            "read-token",
            "a read token as LICENSE is refused by the service, and that comes through",
        ),
        (
            Setup::WrongLicense,
            Stimulus::LicenseExpired,
            "edge.refused",
            "expired-license",
            "an expired license is refused by the service, and that comes through",
        ),
        (
            Setup::ForeignCertificate,
            Stimulus::CertificateForeign,
            "edge.refused",
            "foreign-certificate",
            "a client certificate from a foreign authority is refused by the service, and that comes through",
        ),
        (
            Setup::MismatchedCertificate,
            Stimulus::CertificateOtherLicense,
            "edge.refused",
            "mismatched-certificate",
            "a client certificate for another license is refused by the service, and that comes through",
        ),
        (
            Setup::RevokedCertificate,
            Stimulus::CertificateRevoked,
            "edge.refused",
            "revoked-certificate",
            "a revoked client certificate is refused by the service, and that comes through",
        ),
    ];
    for (setup, stimulus, row, id, title) in refusals {
        // Earlier versions of the interface have no client certificates to refuse.
        let Some(reason) = cases.spec.by_stimulus(Table::Relay, stimulus) else { continue };
        let (Some(status), Some(code)) = (reason.status(), reason.code()) else { continue };
        let mut conversation = Conversation::post(cases.accept(), cases.refused(status, code));
        conversation.script = None;
        let reason = reason.id.clone();
        cases
            .conversation(row, &format!("credentials.end-to-end.{id}"), title, conversation)
            .setup(setup)
            .stimulus(stimulus)
            .also(&reason);
    }
}

fn open(cases: &mut Catalog<'_>) {
    for (setup, row, id, title) in [
        (
            Setup::CertificateWithoutKey,
            "statement.half-certificate",
            "credentials.certificate-without-key",
            "EDGE_CLIENT_CERT_FILE is set, EDGE_CLIENT_KEY_FILE is not",
        ),
        (
            Setup::KeyWithoutCertificate,
            "statement.half-certificate",
            "credentials.key-without-certificate",
            "EDGE_CLIENT_KEY_FILE is set, EDGE_CLIENT_CERT_FILE is not",
        ),
        (
            Setup::ExpiredCertificate,
            "statement.certificate-expired",
            "credentials.certificate-expired",
            "the client certificate has expired",
        ),
    ] {
        let script = cases.accept();
        let case = cases.edge_steps(row, id, title, move |context| {
            let script = script.clone();
            Box::pin(async move {
                context.script(script);
                let sent = context.send(&collection()).await;
                let presented =
                    context.arrivals().first().map(|arrival| !arrival.client_certificates.is_empty());
                let presented = match presented {
                    None => "nothing relayed",
                    Some(true) => "relayed with a client certificate",
                    Some(false) => "relayed without a client certificate",
                };
                let observed = format!("{}; {presented}", summary::answer(&context.marker, &sent.reply));
                context.observe(id, observed);
            })
        });
        case.setup(setup).may_refuse_to_start = true;
    }
}

/// License and key never show in an answer.
fn not_shown(cases: &mut Catalog<'_>) {
    let reason = "edgeproof_not_shown";
    let drafts: [(&str, &str, Draft, Setup); 6] = [
        ("accepted", "to an accepted collection", collection(), Setup::Standard),
        ("refused", "to a refused collection", collection(), Setup::Standard),
        ("unreachable", "while the service cannot be reached", collection(), Setup::PortClosed),
        ("other-method", "to another method", Draft::new("GET", SIGNALS), Setup::Standard),
        ("preflight", "to a preflight", preflight(ORIGIN), Setup::Standard),
        ("health", "of the health check", Draft::new("GET", HEALTH), Setup::Standard),
    ];
    for (id, title, draft, setup) in drafts {
        let script = if id == "refused" { cases.refuse(401, reason) } else { cases.accept() };
        cases
            .edge_steps(
                "statement.secrets-not-answered",
                &format!("credentials.not-shown.{id}"),
                &format!("no license and no key in the answer {title}"),
                move |context| {
                    let (script, draft) = (script.clone(), draft.clone());
                    Box::pin(async move {
                        context.script(script);
                        let sent = context.send(&draft).await;
                        let redactor = Arc::clone(&context.edge.redactor);
                        context.check(judge::no_secrets(
                            judge::EDGE_SECRETS,
                            |bytes| redactor.finds(bytes),
                            &sent.reply,
                        ));
                    })
                },
            )
            .setup(setup);
    }
}

/// What the first arrival presents as its license.
pub(super) fn licenses(arrivals: &[Arrival]) -> Vec<String> {
    arrivals
        .first()
        .map(|arrival| presented_licenses(&arrival.request.target, &arrival.request.headers))
        .unwrap_or_default()
}
