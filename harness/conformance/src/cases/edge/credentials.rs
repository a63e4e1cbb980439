use edgeproof_fixtures::credentials::Role;
use edgeproof_fixtures::spec::{Stimulus, Table};
use edgeproof_reports::CaseLevel;

use crate::cases::{
    CaseList, Conversation, Edge, EdgeObservation, EdgeRule, HEALTH, ORIGIN, Setup, collection, preflight,
    to_signals,
};
use edgeproof_http::Draft;
use edgeproof_mock::{Arrival, presented_licenses};

/// License and client certificate reach the service unchanged. No page receives them (2, 5).
pub(super) fn add(cases: &mut CaseList<'_, Edge>) {
    presented(cases);
    end_to_end(cases);
    open(cases);
    not_shown(cases);
}

fn presented(cases: &mut CaseList<'_, Edge>) {
    for (setup, id, title) in [
        (Setup::Standard, "credentials.license", "the license arrives unchanged"),
        (Setup::OtherLicense, "credentials.license-other", "another license arrives unchanged"),
        (
            Setup::ReadTokenAsLicense,
            "credentials.license-not-judged",
            "a read token in LICENSE arrives unchanged, because the service judges it",
        ),
    ] {
        let mut post = cases.accepted_post().only().expect(EdgeRule::License);
        if setup == Setup::Standard {
            post = post
                .observe_at("relay.path", EdgeObservation::RelayPath)
                .observe_at("relay.license-header", EdgeObservation::LicenseHeader)
                .observe_at("relay.license-scheme", EdgeObservation::LicenseScheme);
        }
        cases
            .case("statement.license-presented", id, title)
            .conversation(post)
            .setup(setup)
            .also("setting.edge.license");
    }
    for (setup, role, id, title) in [
        (
            Setup::Standard,
            Role::ClientForLicense,
            "credentials.certificate",
            "the edge presents the client certificate",
        ),
        (
            Setup::OtherLicense,
            Role::ClientForOtherLicense,
            "credentials.certificate-other",
            "the edge presents another client certificate when configured",
        ),
    ] {
        let post = cases.accepted_post().only().expect(EdgeRule::Certificate(role));
        cases
            .case("statement.certificate-presented", id, title)
            .conversation(post)
            .setup(setup)
            .also("setting.edge.client-cert-file")
            .also("setting.edge.client-key-file");
    }
}

/// The mock service checks the credentials itself, and the edge passes on its refusal.
fn end_to_end(cases: &mut CaseList<'_, Edge>) {
    let refusals = [
        (
            Setup::NoLicense,
            Stimulus::LicenseMissing,
            "statement.relays-without-license",
            "without-license",
            "without LICENSE the edge still relays, and passes on the service's refusal",
        ),
        (
            Setup::NoCertificate,
            Stimulus::CertificateMissing,
            "statement.relays-without-certificate",
            "without-certificate",
            "without a client certificate the edge still relays, and passes on the service's refusal",
        ),
        (
            Setup::ReadTokenAsLicense,
            Stimulus::LicenseReadToken,
            "statement.read-token-no-license",
            "read-token",
            "the edge passes on the service's refusal of a read token in LICENSE",
        ),
        (
            Setup::WrongLicense,
            Stimulus::LicenseExpired,
            "edge.refused",
            "expired-license",
            "the edge passes on the service's refusal of an expired license",
        ),
        (
            Setup::ForeignCertificate,
            Stimulus::CertificateForeign,
            "edge.refused",
            "foreign-certificate",
            "the edge passes on the service's refusal of a client certificate from another CA",
        ),
        (
            Setup::MismatchedCertificate,
            Stimulus::CertificateOtherLicense,
            "edge.refused",
            "mismatched-certificate",
            "the edge passes on the service's refusal of a client certificate for another license",
        ),
        (
            Setup::RevokedCertificate,
            Stimulus::CertificateRevoked,
            "edge.refused",
            "revoked-certificate",
            "the edge passes on the service's refusal of a revoked client certificate",
        ),
    ];
    let of_page = collection().header("Authorization", "Bearer edgeproof-credential-of-the-page");
    let of_page = cases.accepted_post().draft(of_page);
    cases
        .case(
            "statement.relays-without-license",
            "credentials.page-authorization",
            "without LICENSE the edge does not present the page's Authorization instead",
        )
        .conversation(of_page)
        .setup(Setup::NoLicense);
    for (setup, stimulus, row, id, title) in refusals {
        // In earlier versions of the interface the service does not refuse client certificates.
        let Some(reason) = cases.spec.by_stimulus(Table::Relay, stimulus) else { continue };
        let (Some(status), Some(code)) = (reason.status(), reason.code()) else { continue };
        let mut conversation = Conversation::post(cases.accept(), cases.refused(status, code));
        conversation.script = None;
        let reason = reason.id.clone();
        cases
            .case(row, &format!("credentials.end-to-end.{id}"), title)
            .conversation(conversation)
            .setup(setup)
            .stimulus(stimulus)
            .also(&reason);
    }
}

fn open(cases: &mut CaseList<'_, Edge>) {
    for (setup, row, id, title) in [
        (
            Setup::CertificateWithoutKey,
            "statement.half-certificate",
            "credentials.certificate-without-key",
            "the behaviour with EDGE_CLIENT_CERT_FILE and without EDGE_CLIENT_KEY_FILE",
        ),
        (
            Setup::KeyWithoutCertificate,
            "statement.half-certificate",
            "credentials.key-without-certificate",
            "the behaviour with EDGE_CLIENT_KEY_FILE and without EDGE_CLIENT_CERT_FILE",
        ),
        (
            Setup::ExpiredCertificate,
            "statement.certificate-expired",
            "credentials.certificate-expired",
            "the behaviour with an expired client certificate",
        ),
    ] {
        let post = cases.accepted_post().only().observe(EdgeObservation::AnswerAndCertificate);
        let case = cases.case(row, id, title).conversation(post);
        case.setup(setup).settings.start = CaseLevel::Open;
    }
}

/// No answer contains the license or the client key.
fn not_shown(cases: &mut CaseList<'_, Edge>) {
    let reason = "edgeproof_not_shown";
    let drafts: [(&str, &str, Draft, Setup); 6] = [
        ("accepted", "to an accepted collection", collection(), Setup::Standard),
        ("refused", "to a refused collection", collection(), Setup::Standard),
        ("unreachable", "for an unreachable service", collection(), Setup::PortClosed),
        ("other-method", "to another method", to_signals("GET"), Setup::Standard),
        ("preflight", "to a preflight", preflight(ORIGIN), Setup::Standard),
        ("health", "of the health check", Draft::new("GET", HEALTH), Setup::Standard),
    ];
    for (id, title, draft, setup) in drafts {
        let script = if id == "refused" { cases.refuse(401, reason) } else { cases.accept() };
        cases
            .case(
                "statement.secrets-not-answered",
                &format!("credentials.not-shown.{id}"),
                &format!("the answer {title} contains neither license nor key"),
            )
            .conversation(Conversation::request(draft).script(script).expect(EdgeRule::NoSecrets))
            .setup(setup);
    }
}

/// The license candidates in the first request at the service.
pub(super) fn licenses(arrivals: &[Arrival]) -> Vec<String> {
    arrivals
        .first()
        .map(|arrival| presented_licenses(&arrival.request.target, &arrival.request.headers))
        .unwrap_or_default()
}
