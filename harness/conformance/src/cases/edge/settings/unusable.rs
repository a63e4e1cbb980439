use edgeproof_fixtures::spec::Advice;
use edgeproof_reports::CaseLevel;
use edgeproof_reports::difference::{CertificateForm, DifferenceKind};
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;

use super::play::Play;
use super::relayed::post;
use crate::cases::{EdgeCaseContext, collection, summary};
use crate::judge::{self, Check};

/// With a CA file that is unusable, an edge that starts sends nothing to the service.
pub(super) async fn ca_file(play: &Play, context: &mut EdgeCaseContext) {
    context.script(play.accept.clone());
    let sent = context.send(&collection()).await;
    let relayed = context.relayed().await;
    context.check(judge::not_relayed(&relayed).advise(Advice::ServiceUnchecked));
    context.check(judge::not_accepted(&sent.reply));
    for check in judge::exact(&play.unreachable, &sent.reply) {
        context.check(check.at(CaseLevel::Should));
    }
    context.observe_case(format!("starts; {}", summary::answer(&context.marker, &sent.reply)));
}

/// Without a usable service URL, an edge that starts accepts no collection. What else it answers is open.
pub(super) async fn service_url(play: &Play, context: &mut EdgeCaseContext) {
    context.script(play.accept.clone());
    let sent = context.send(&collection()).await;
    context.check(judge::not_relayed(&context.relayed().await));
    context.check(judge::not_accepted(&sent.reply));
    context.observe_case(format!("starts; {}", summary::answer(&context.marker, &sent.reply)));
}

/// With an unusable client certificate or key, an edge may relay without it, or not at all.
pub(super) async fn client_files(play: &Play, context: &mut EdgeCaseContext) {
    let sent = post(play, context).await;
    let file = context.target.settings.as_ref().and_then(|settings| settings.client_cert_file.as_ref());
    let configured = file.and_then(|file| CertificateDer::from_pem_file(file).ok());
    let arrivals = context.arrivals();
    let presented = arrivals.first().and_then(|arrival| arrival.client_certificates.first());
    let ok = presented.is_none() || presented == configured.as_ref();
    let actual = match presented {
        None if arrivals.is_empty() => "nothing relayed",
        None => "none",
        Some(_) if ok => "the configured one",
        Some(_) => "another one",
    };
    let kind = DifferenceKind::Certificate {
        expected: CertificateForm::ConfiguredOrAbsent,
        actual: match presented {
            None => CertificateForm::Absent,
            Some(_) if ok => CertificateForm::Configured,
            Some(_) => CertificateForm::Other,
        },
        configured: None,
        presented: None,
    };
    context.check(Check::judged(kind, ok));
    let answer = summary::answer(&context.marker, &sent.reply);
    context.observe_case(format!("starts; {answer}; client certificate: {actual}"));
}
