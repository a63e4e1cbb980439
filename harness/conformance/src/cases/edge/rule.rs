use edgeproof_reports::difference::{HeaderRule, Secrets};

use super::credentials::licenses;
use crate::cases::{EdgeCaseContext, EdgeObservation, EdgeRule, summary};
use crate::judge::{self, AnswerResult};

impl EdgeRule {
    /// Compares an answer with the rule.
    pub(in crate::cases) async fn judge(&self, context: &mut EdgeCaseContext, reply: &AnswerResult) {
        let checks = match self {
            Self::PreflightPasses => judge::preflight_passes(context.origin(), reply),
            Self::Status(statuses) => vec![judge::status_in(statuses.clone(), reply)],
            Self::AllowsPost => {
                let names_post = |value: &str| value.split(',').any(|method| method.trim() == "POST");
                vec![judge::header_has("allow", HeaderRule::ListsPost, names_post, reply)]
            }
            Self::OneLine(expected) => judge::refused_in_one_line(expected, reply),
            Self::NoSecrets => {
                let finds = |bytes: &[u8]| context.target.redactor.finds(bytes);
                vec![judge::no_secrets(Secrets::Edge, finds, reply)]
            }
            Self::License => {
                let license = context.target.license.as_deref().unwrap_or_default();
                vec![judge::carries_license(license, &licenses(&context.arrivals()))]
            }
            Self::Certificate(role) => {
                let expected = context.target.credentials.certificate(*role).chain_der();
                let arrivals = context.arrivals();
                let presented = arrivals.first().and_then(|arrival| arrival.client_certificates.first());
                let expected = expected.first().map(AsRef::as_ref);
                vec![judge::presents_certificate(expected, presented.map(AsRef::as_ref))]
            }
            Self::Observe(seen, point) => {
                let observed = seen.of(context, reply).await;
                return match point {
                    Some(point) => context.observe(point, observed),
                    None => context.observe_case(observed),
                };
            }
        };
        context.checks(checks);
    }
}

impl EdgeObservation {
    async fn of(self, context: &EdgeCaseContext, reply: &AnswerResult) -> String {
        let (status, answer) = (summary::status(reply), summary::answer(&context.marker, reply));
        match self {
            Self::Status => status,
            Self::Answer => answer,
            Self::StatusAndRelay if context.relayed().await.complete.is_empty() => {
                format!("{status}, not relayed")
            }
            Self::StatusAndRelay => format!("{status}, relayed"),
            Self::AnswerAndCertificate => {
                let presents =
                    context.arrivals().first().map(|arrival| !arrival.client_certificates.is_empty());
                let presented = match presents {
                    None => "nothing relayed",
                    Some(true) => "relayed with a client certificate",
                    Some(false) => "relayed without a client certificate",
                };
                format!("{answer}; {presented}")
            }
        }
    }
}
