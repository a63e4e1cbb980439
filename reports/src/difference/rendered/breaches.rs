use super::text::{Rendered, several};
use super::{keys, message};
use crate::difference::breach::{Breach, HeaderChange, Invariant};
use crate::difference::choice::CertificateForm;
use crate::difference::kind::DifferenceKind;
use crate::difference::page::{PageAct, PagePlace};
use crate::difference::value::{LicenseValue, SecretPlace, Wire};

pub(super) fn breaches(invariant: Invariant, count: u64, first: &[Breach]) -> Rendered {
    let (what, expected) = texts(invariant);
    let shown = first.iter().map(|breach| text(invariant, breach)).collect::<Vec<_>>().join("; ");
    let actual = match count.saturating_sub(first.len() as u64) {
        _ if count == 0 => expected.to_owned(),
        0 => shown,
        more => format!("{shown}; and {more} more"),
    };
    Rendered::new(what, expected, actual)
}

/// What is compared, and what is expected.
fn texts(invariant: Invariant) -> (&'static str, &'static str) {
    match invariant {
        Invariant::SecretsInAnswers => ("secrets in answers", "none"),
        Invariant::InternalsInAnswers => ("stack traces, files and addresses in answers", "none"),
        Invariant::JsonBodies => ("bodies of the answers", "JSON"),
        Invariant::ReadableAnswers => ("answers to the allowed origin", "readable by its page"),
        Invariant::ForeignGrants => ("grants to other origins", "none"),
        Invariant::UnexplainedArrivals => ("requests at the service that no page sent", "none"),
        Invariant::Acceptances => {
            ("answers that tell of an acceptance", "only where the service accepted before")
        }
        Invariant::OwnSessions => ("sessions that verdicts name", "that of the request"),
        Invariant::MalformedAnswers => ("answers that are malformed HTTP", "none"),
        Invariant::MalformedRequests => ("requests at the service that are malformed HTTP", "none"),
        Invariant::Copies => ("copies of answered collections", "none"),
        Invariant::Retries => ("retries after a broken connection", "none"),
        Invariant::License => ("license at the service", "LICENSE in every request"),
        Invariant::Certificate => {
            ("client certificate at the service", "the configured one in every request")
        }
        Invariant::PageHosts => ("Host of the page's request at the service", "none"),
        Invariant::ClientAuthorization => ("Authorization of the client at the service", "none"),
        Invariant::ClientCookies => ("cookies of the client at the service", "none"),
        Invariant::ServiceCookies => ("cookies of the service that come back to it", "none"),
        Invariant::SecretsInLog => ("secrets in the log", "none"),
        Invariant::BodiesInLog => ("bodies in the log", "none"),
        Invariant::UserDataInRefusals => ("end-user data in log lines about refusals", "none"),
        Invariant::UserDataInLog => ("end-user data in other log lines", "none"),
        Invariant::RefusalsWithoutLine => ("refusals without a log line", "none"),
        Invariant::RefusalsWithMoreLines => ("refusals with more than one log line", "none"),
        Invariant::LastAnswers => ("answers after all other cases", "as before"),
        Invariant::ServerErrors => ("server errors", "none"),
        Invariant::SharedCaches => ("answers that shared caches may store", "none"),
        Invariant::TokensInAnswers => ("tokens in answers", "none"),
        Invariant::PendingAnswers => {
            ("pending answers", "404 with exactly the status and the reference of the request")
        }
        Invariant::RefusalBodies => ("bodies of refusals", "JSON"),
        Invariant::ContentTypes => ("answers without a JSON content type", "none"),
        Invariant::CacheTimes => ("answers that caches keep longer than five minutes", "none"),
        Invariant::SameKeys => ("key sets", "the same keys in every answer"),
        Invariant::PrivateKeys => ("key sets with a private or symmetric key", "none"),
        Invariant::RevealingHeaders => ("header fields that reveal a session", "none"),
        Invariant::PageRequests => ("requests besides the POST, its preflight and the WebSocket", "none"),
        Invariant::PageData => ("data of the page in requests", "none"),
        Invariant::PageErrors => ("uncaught errors and console errors", "none"),
        Invariant::PageActs => ("dialogs, windows and navigations", "none"),
    }
}

fn text(invariant: Invariant, breach: &Breach) -> String {
    let case = breach.case.as_deref().unwrap_or_default();
    let status = breach.status.unwrap_or_default();
    let wire = |wire: &Option<Wire>| wire.as_ref().map(Wire::text).unwrap_or_default();
    let value = wire(&breach.value);
    let excerpt = || breach.value.as_ref().map(Wire::excerpt).unwrap_or_default();
    let actual = || breach.difference.as_ref().map(|kind| kind.rendered().actual).unwrap_or_default();
    let answer = format!("{status} to a request of {case}");
    let exchange = format!("{status} to {} of {case}", wire(&breach.method));
    let number = breach.number.unwrap_or_default();
    let of_case = breach.case.as_ref().map(|case| format!(" (case {case})")).unwrap_or_default();
    let arrival = format!("request {number} at the service{of_case}");
    let line = || format!("line {number}: {}", excerpt());
    let (times, of) = (breach.times.unwrap_or_default(), breach.of.unwrap_or_default());
    let lines = || several(times, "line");
    match invariant {
        Invariant::SecretsInAnswers => format!("{} of {answer}", secret_place(breach)),
        Invariant::InternalsInAnswers => format!("{} of {answer}: {}", secret_place(breach), excerpt()),
        Invariant::JsonBodies | Invariant::ReadableAnswers => format!("{answer}: {}", actual()),
        Invariant::ForeignGrants => match breach.difference.as_deref() {
            Some(DifferenceKind::Grant { origin, .. }) if breach.value.is_none() => {
                format!("{answer} from {}", origin.text)
            }
            _ => format!("{answer}: a grant to every origin"),
        },
        Invariant::UnexplainedArrivals => format!("request {number} with {}", excerpt()),
        Invariant::MalformedAnswers | Invariant::MalformedRequests => {
            let message = match (breach.method.is_some(), breach.number) {
                (true, _) => exchange,
                (false, Some(_)) => arrival,
                (false, None) => "a request at the service that is not in the journal".to_owned(),
            };
            let fault = breach.fault.as_ref().map(message::fault).unwrap_or_default();
            format!("{message}: {fault}")
        }
        Invariant::Acceptances => match breach.of {
            Some(status) => format!("{answer}: the service answered {status}"),
            None => format!("{answer}: no acceptance before it"),
        },
        Invariant::OwnSessions => format!("{} in the verdict of {case}: {value}", wire(&breach.member)),
        Invariant::Copies | Invariant::Retries => {
            format!("arrived {}, sent {}: {arrival}", often(times), often(of))
        }
        Invariant::License => match breach.difference.as_deref() {
            Some(DifferenceKind::License { actual: LicenseValue::Absent }) => format!("none in {arrival}"),
            _ => format!("another token in {arrival}"),
        },
        Invariant::Certificate => match breach.difference.as_deref() {
            Some(DifferenceKind::Certificate { actual: CertificateForm::Absent, .. }) => {
                format!("none in {arrival}")
            }
            _ => format!("another one in {arrival}"),
        },
        Invariant::ClientAuthorization
        | Invariant::ClientCookies
        | Invariant::ServiceCookies
        | Invariant::PageHosts => arrival,
        Invariant::SecretsInLog | Invariant::BodiesInLog => line(),
        Invariant::UserDataInRefusals | Invariant::UserDataInLog => {
            let datum = breach.user_datum.map(|datum| datum.to_string()).unwrap_or_default();
            format!("the {datum} in {}", line())
        }
        Invariant::RefusalsWithoutLine => format!("{} for {of} × {status} {value}", lines()),
        Invariant::RefusalsWithMoreLines => format!("{} for {of} × {value}", lines()),
        Invariant::LastAnswers => {
            let with = if breach.has_token { "with" } else { "without" };
            let what = breach.difference.as_ref().map(|kind| kind.rendered().what).unwrap_or_default();
            format!("a request {with} a token: {what} {}", actual())
        }
        Invariant::ServerErrors | Invariant::ContentTypes | Invariant::PrivateKeys => exchange,
        Invariant::SharedCaches
        | Invariant::PendingAnswers
        | Invariant::RefusalBodies
        | Invariant::CacheTimes => format!("{exchange}: {}", actual()),
        Invariant::TokensInAnswers => format!("{exchange}: in {}", secret_place(breach)),
        Invariant::SameKeys => {
            format!("{exchange}: {}", breach.keys.as_ref().map(keys::value).unwrap_or_default())
        }
        Invariant::RevealingHeaders => {
            let change = match breach.header {
                Some(HeaderChange::Missing) => "no header",
                Some(HeaderChange::OtherValue) => "another value of header",
                Some(HeaderChange::Additional) | None => "header",
            };
            format!("{exchange}, for a session: {change} {value}")
        }
        Invariant::PageRequests | Invariant::PageErrors => format!("{value} in {case}"),
        Invariant::PageData => {
            let place = breach.page_place.map(PagePlace::name).unwrap_or_default();
            format!("the {place} in a request to {value} in {case}")
        }
        Invariant::PageActs => {
            let act = match breach.act {
                Some(PageAct::Window) => "window ",
                Some(PageAct::Navigation) => "navigation to ",
                None => "",
            };
            format!("{act}{value} in {case}")
        }
    }
}

fn secret_place(breach: &Breach) -> String {
    match breach.difference.as_deref() {
        Some(DifferenceKind::Secret { place: Some(SecretPlace::Header(name)), .. }) => {
            format!("header {name}")
        }
        _ => "the body".to_owned(),
    }
}

/// How often: `once`, `2 times`.
fn often(number: u64) -> String {
    if number == 1 { "once".to_owned() } else { format!("{number} times") }
}
