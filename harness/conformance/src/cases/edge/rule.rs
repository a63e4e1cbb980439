use edgeproof_reports::difference::{HeaderRule, Secrets};

use http::HeaderMap;

use super::credentials::licenses;
use super::relayed_license::{license_header, license_scheme, relay_path};
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
                let Some(observed) = seen.of(context, reply).await else { return };
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
    /// What is observed. None: nothing that could show it reached the service.
    async fn of(self, context: &EdgeCaseContext, reply: &AnswerResult) -> Option<String> {
        let (status, answer) = (summary::status(reply), summary::answer(&context.marker, reply));
        let license = || context.target.license.as_deref().filter(|license| !license.is_empty());
        Some(match self {
            Self::RelayPath => relay_path(context.arrivals().first()?),
            Self::LicenseHeader => license_header(license()?, context.arrivals().first()?)?,
            Self::LicenseScheme => license_scheme(license()?, context.arrivals().first()?)?,
            Self::Body => match reply {
                Ok(answer) => String::from_utf8_lossy(&answer.body).into_owned(),
                Err(_) => status,
            },
            Self::Field(name) => match reply {
                Ok(answer) => field(&answer.headers, name),
                Err(_) => status,
            },
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
        })
    }
}

/// All values of a header field.
fn field(headers: &HeaderMap, name: &str) -> String {
    let values: Vec<_> =
        headers.get_all(name).iter().map(|value| String::from_utf8_lossy(value.as_bytes())).collect();
    if values.is_empty() { "none".to_owned() } else { values.join(", ") }
}
