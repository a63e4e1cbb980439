//! The text of a difference.

mod answer;
mod breaches;
mod count;
mod header;
mod keys;
mod message;
mod page;
mod process;
mod text;

pub use text::{Rendered, excerpt};

use std::time::Duration;

use self::text::several;
use crate::difference::choice::{CertificateForm, MemberChange, Secrets, TimeRule, TokenPart, UserDatum};
use crate::difference::kind::DifferenceKind;
use crate::difference::value::{LicenseValue, LogValue, SecretPlace, Wire};

impl DifferenceKind {
    /// The text.
    pub fn rendered(&self) -> Rendered {
        match self {
            Self::NoAnswer { silence, wanted } => answer::no_answer(silence, wanted.as_deref()),
            Self::Status { expected, actual } => Rendered::new(
                "status",
                answer::statuses(expected),
                actual.map(|it| it.to_string()).unwrap_or_default(),
            ),
            Self::Body { expected, actual } => answer::body(expected, actual.as_ref()),
            Self::Answer { subject, expected, actual } => answer::answer(*subject, expected, actual),
            Self::Header { name, rule, actual } => header::header(name, rule, actual.as_ref()),
            Self::Grant { origin, expected, actual, .. } => {
                header::grant(&origin.text, *expected, actual.as_ref())
            }
            Self::Arrivals { expected, actual, broken_off, method, body_bytes } => {
                let actual = match (actual, method, body_bytes) {
                    (0, ..) if *broken_off > 0 && *expected > 0 => {
                        "0, and a request that broke off".to_owned()
                    }
                    (actual, Some(method), Some(bytes)) => format!(
                        "{actual}; the first is a {} with a body of {}",
                        method.text,
                        several(*bytes, "byte")
                    ),
                    _ => actual.to_string(),
                };
                Rendered::new("requests at the service", expected.to_string(), actual)
            }
            Self::RelayedBody { sent, arrived, .. } => {
                Rendered::new("body at the service", sent.described(), arrived.described())
            }
            Self::License { actual } => {
                Rendered::new("license at the service", "LICENSE, unchanged", license(actual))
            }
            Self::Certificate { configured: Some(configured), presented, .. } => Rendered::new(
                "client certificates at the service",
                format!("the {configured} of EDGE_CLIENT_CERT_FILE"),
                presented.unwrap_or_default().to_string(),
            ),
            Self::Certificate { expected, actual, .. } => Rendered::new(
                "client certificate at the service",
                certificate(*expected),
                certificate(*actual),
            ),
            Self::Secret { secrets, place } => secret(*secrets, place.as_ref()),
            Self::LogLine { status, reason, actual } => {
                Rendered::new("log", format!("one line with {status} and {}", reason.text), log_value(actual))
            }
            Self::LogData { expected_absent, found } => Rendered::new(
                "log",
                expected_absent.iter().map(|datum| format!("no {datum}")).collect::<Vec<_>>().join(", "),
                found.map_or("none".into(), |datum| format!("the {datum} in a line")),
            ),
            Self::Cache { rule, longest_s, actual } => {
                header::cache(*rule, longest_s.unwrap_or_default(), actual)
            }
            Self::Coding { rule, expected, actual, coding } => {
                header::coded(*rule, expected.as_ref(), actual.as_ref(), coding.as_ref())
            }
            Self::Count(count) => count::rendered(count),
            Self::Time { rule, took_us, limit_us } => time(
                *rule,
                took_us.map(Duration::from_micros),
                Duration::from_micros(limit_us.unwrap_or_default()),
            ),
            Self::Pin { rule, point, expected, actual } => {
                let expected = expected.iter().map(|value| value.text.as_str()).collect::<Vec<_>>();
                let what = match rule {
                    Some(row) => format!("rule {row} of this interface about {point}"),
                    None => format!("pinned point {point}"),
                };
                Rendered::new(
                    what,
                    expected.join(" or "),
                    actual.as_ref().map_or("nothing", |value| &value.text),
                )
            }
            Self::Member { token, path, change, expected, actual } => {
                let text = |value: &Option<Wire>, without: &str| {
                    value.as_ref().map_or_else(|| without.to_owned(), |it| it.text.clone())
                };
                let part = match token {
                    None => "",
                    Some(TokenPart::Header) => "the header member ",
                    Some(TokenPart::Claims) => "the claim ",
                };
                let what = format!("{part}{} in the verdict", path.trim_start_matches('/'));
                match change {
                    MemberChange::Doubled => Rendered::new(what, "once", "more than once"),
                    _ => Rendered::new(what, text(expected, "another value"), text(actual, "no such value")),
                }
            }
            Self::Token { actual, named } => keys::token(actual, named),
            Self::KeySet { rule, expected, actual, faults } => {
                keys::key_set(*rule, expected.as_ref(), actual.as_ref(), faults)
            }
            Self::Process { end, process, cause } => process::process(*end, *process, cause.as_ref()),
            Self::Session { subject, error, by_name, session } => {
                page::session(subject, error.as_ref(), *by_name, session)
            }
            Self::Page { effect, expected, actual } => {
                page::page(*effect, expected.as_ref(), actual.as_ref())
            }
            Self::Breaches { invariant, count, breaches } => breaches::breaches(*invariant, *count, breaches),
        }
    }
}

fn license(actual: &LicenseValue) -> String {
    match actual {
        LicenseValue::Unchanged => "unchanged".into(),
        LicenseValue::Absent => "no token in any header or in the request target".into(),
        LicenseValue::OtherToken { bytes, expected, differs_at } => format!(
            "another token: {}, expected {expected}; difference at byte {differs_at}",
            several(*bytes, "byte")
        ),
        LicenseValue::OtherText => "another text".into(),
    }
}

fn certificate(form: CertificateForm) -> &'static str {
    match form {
        CertificateForm::Absent => "none",
        CertificateForm::Configured => "EDGE_CLIENT_CERT_FILE",
        CertificateForm::Other => "another one",
        CertificateForm::ConfiguredOrAbsent => "the configured one or none",
    }
}

fn secret(secrets: Secrets, place: Option<&SecretPlace>) -> Rendered {
    let (what, expected) = match secrets {
        Secrets::Edge => ("secrets", "no license and no private key in the answer"),
        Secrets::Token => ("secrets", "no token and no piece of it in the answer"),
        Secrets::Internals => ("internals", "no stack trace, file or address of the machine in the answer"),
        Secrets::EdgeInLog => ("log", "no license and no private key"),
    };
    let actual = match place {
        None => "none".to_owned(),
        Some(SecretPlace::Body) => "one in the body".to_owned(),
        Some(SecretPlace::Header(name)) => format!("one in header {name}"),
        Some(SecretPlace::LogLine) => "one in a line".to_owned(),
    };
    Rendered::new(what, expected, actual)
}

impl std::fmt::Display for UserDatum {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Body => "body",
            Self::UserAgent => "user agent",
            Self::Cookie => "cookie",
            Self::ForwardedAddress => "forwarded address",
            Self::ClientAddress => "client address",
            Self::PageAddress => "address of the page",
            Self::Query => "query",
        })
    }
}

fn log_value(actual: &LogValue) -> String {
    match actual {
        LogValue::Lines(1) => "one line".into(),
        LogValue::Lines(lines) => format!("{lines} lines"),
        LogValue::Empty => "no log line".into(),
        LogValue::WithoutStatus(line) => format!("a line without the status: {}", line.excerpt()),
        LogValue::WithoutReason(lines, last) => {
            format!("no line with the reason; the last of {}: {}", several(*lines, "line"), last.excerpt())
        }
    }
}

fn time(rule: TimeRule, took: Option<Duration>, limit: Duration) -> Rendered {
    let soon = took.is_some_and(|took| took < limit);
    let took = took.unwrap_or_default();
    let compared = |what: &str, expected: &str, late: String| {
        Rendered::new(what, expected, if soon { expected.to_owned() } else { late })
    };
    match rule {
        TimeRule::CaseTimeout => {
            let expected = format!("the case ends within {}", humantime::format_duration(limit));
            compared("duration", &expected, "timeout".into())
        }
        TimeRule::AtOnce => compared("time", "at once", "only after a wait".into()),
        TimeRule::WithoutWait => compared("time", "at once", format!("after {took:.0?}")),
        TimeRule::WithoutToken => compared("time", "answered at once", "held".into()),
        TimeRule::AfterVerdict => {
            compared("answer after the verdict", "at once", format!("after {took:.1?}"))
        }
        TimeRule::AsForNone => {
            compared("time", "as long as for no session", "less than for no session".into())
        }
        TimeRule::MayWait => Rendered::new("answer", "any status except 500 to 599, or a wait", "a wait"),
        TimeRule::BeforeCollections => {
            compared("answer", "before the collections", "after the collections".into())
        }
        TimeRule::BeforeWaits => compared("time", "before the waits end", "after the waits".into()),
    }
}
