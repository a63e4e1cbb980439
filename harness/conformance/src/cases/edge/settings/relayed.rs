use edgeproof_fixtures::spec::{Advice, CertificateFileForm, ServiceUrlForm, SettingChange};
use edgeproof_http::Sent;
use edgeproof_mock::{Arrival, presents_license};
use edgeproof_reports::CaseLevel;
use edgeproof_reports::difference::{CertificateForm, Count, Counted, DifferenceKind, LicenseValue, Wire};
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;

use super::play::Play;
use crate::cases::{EdgeCaseContext, URL_ENCODED_PREFIX, URL_PREFIX, collection, summary};
use crate::judge::{self, Check};

/// The edge relays as with the plain form, and the setting has its effect.
pub(super) async fn play(play: &Play, context: &mut EdgeCaseContext) {
    let sent = post(play, context).await;
    let arrivals = context.arrivals();
    let arrival = arrivals.iter().find(|arrival| arrival.request.complete);
    let effect = arrival.and_then(|arrival| effect(play, context, arrival));
    if play.level == CaseLevel::Open {
        let answer = summary::answer(&context.marker, &sent.reply);
        let observed = effect.map_or(answer.clone(), |check| format!("{answer}; {}", check.actual));
        context.observe_case(observed);
    } else {
        for check in judge::exact(&play.accepted, &sent.reply) {
            context.check(check.at(play.level));
        }
        context.checks(effect.into_iter().collect());
        if let Some(check) = arrival.and_then(|arrival| presents_configured(context, arrival)) {
            context.check(check.at(play.level));
        }
    }
}

/// Posts a collection. An edge that accepts it has relayed it once and unchanged.
pub(super) async fn post(play: &Play, context: &mut EdgeCaseContext) -> Sent {
    context.script(play.accept.clone());
    let draft = context.fill(&collection());
    let sent = context.send(&draft).await;
    let relayed = context.relayed().await;
    let exact = judge::exact(&play.accepted, &sent.reply);
    if play.accepted.is_stated() && exact.iter().all(|check| check.ok) {
        context.checks(judge::relayed_once(draft.body.bytes(), &relayed, &sent.reply, CaseLevel::Must));
    } else {
        context.check(Check::counted(Counted::AcceptedCollections, 0, 0));
    }
    sent
}

/// What the form has to show in the request at the service besides its arrival.
fn effect(play: &Play, context: &EdgeCaseContext, arrival: &Arrival) -> Option<Check> {
    let target = &arrival.request.target;
    let on_target = |below: Option<&str>, ok| {
        let count = Count::new(Counted::RequestTargets, 1, usize::from(ok)).first(Some(target));
        let count = Count { wanted: below.map(Wire::from), ..count };
        Check::judged(count, ok).at(CaseLevel::Should)
    };
    match play.change {
        SettingChange::ServiceUrl(ServiceUrlForm::Slash) => Some(
            // Another form of the same launch can add a path before it.
            on_target(None, !target.split('?').next().unwrap_or(target).contains("//"))
                .advise(Advice::UrlSlash),
        ),
        SettingChange::ServiceUrl(ServiceUrlForm::Prefix) => {
            Some(on_target(Some(URL_PREFIX), target.starts_with(URL_PREFIX)).advise(Advice::UrlPrefix))
        }
        SettingChange::ServiceUrl(ServiceUrlForm::EncodedPrefix) => {
            let ok = target.get(..URL_ENCODED_PREFIX.len());
            let ok = ok.is_some_and(|start| start.eq_ignore_ascii_case(URL_ENCODED_PREFIX));
            Some(on_target(Some(URL_ENCODED_PREFIX), ok).advise(Advice::UrlEncoding))
        }
        SettingChange::License(_) => {
            let license = context.target.settings.as_ref()?.license.as_ref()?.expose();
            let ok = presents_license(license, target, &arrival.request.headers);
            let actual = if ok { LicenseValue::Unchanged } else { LicenseValue::OtherText };
            Some(Check::judged(DifferenceKind::License { actual }, ok).advise(Advice::LicenseChanged))
        }
        SettingChange::Certificate(CertificateFileForm::Chain) => Some(chain(context, arrival)),
        SettingChange::ServiceUrl(_)
        | SettingChange::AllowedOrigin(_)
        | SettingChange::CaFile(_)
        | SettingChange::Certificate(_)
        | SettingChange::Key(_)
        | SettingChange::Paths(_) => None,
    }
}

/// The edge presents the certificate of its file. None: the file is not readable.
pub(crate) fn presents_configured(context: &EdgeCaseContext, arrival: &Arrival) -> Option<Check> {
    let configured = configured(context);
    let presented = arrival.client_certificates.first().map(AsRef::as_ref);
    Some(judge::presents_certificate(Some(configured.first()?), presented))
}

/// The certificates of the edge's file.
fn configured(context: &EdgeCaseContext) -> Vec<CertificateDer<'static>> {
    let file = context.target.settings.as_ref().and_then(|settings| settings.client_cert_file.as_ref());
    let certificates = file.and_then(|file| CertificateDer::pem_file_iter(file).ok());
    certificates.into_iter().flatten().flatten().collect()
}

/// The edge presents the whole chain of the file.
fn chain(context: &EdgeCaseContext, arrival: &Arrival) -> Check {
    let configured = configured(context);
    let presented = arrival.client_certificates.len();
    let ok = !configured.is_empty() && *arrival.client_certificates == *configured;
    let kind = DifferenceKind::Certificate {
        expected: CertificateForm::Configured,
        actual: if ok { CertificateForm::Configured } else { CertificateForm::Other },
        configured: Some(configured.len() as u64),
        presented: Some(presented as u64),
    };
    Check::judged(kind, ok).at(CaseLevel::Should).advise(Advice::CertificateChain)
}
