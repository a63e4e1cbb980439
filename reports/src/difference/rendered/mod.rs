//! The text of a difference.

mod breaches;
mod count;
mod keys;
mod page;
mod text;

pub use text::{Rendered, excerpt};

use std::time::Duration;

use crate::difference::choice::{
    AnswerSubject, BodyForm, CacheRule, CertificateForm, CodingRule, ProcessEnd, Secrets, SilenceReason,
    TimeRule, UserDatum,
};
use crate::difference::kind::DifferenceKind;
use crate::difference::value::{
    AnswerValue, BodyRule, BodyValue, HeaderRule, LicenseValue, Lifetime, LogValue, SecretPlace, Silence,
    Statuses, Wire,
};
use crate::text::units::counted;

impl DifferenceKind {
    /// The text.
    pub fn rendered(&self) -> Rendered {
        match self {
            Self::NoAnswer { silence, wanted } => no_answer(silence, wanted.as_deref()),
            Self::Status { expected, actual } => Rendered::new(
                "status",
                statuses(expected),
                actual.map(|it| it.to_string()).unwrap_or_default(),
            ),
            Self::Body { expected, actual } => body(expected, actual.as_ref()),
            Self::Answer { subject, expected, actual } => answer(*subject, expected, actual),
            Self::Header { name, rule, actual } => header(name, rule, actual.as_ref()),
            Self::Grant { origin, expected, actual, .. } => grant(&origin.text, *expected, actual.as_ref()),
            Self::Arrivals { expected, actual, broken_off, method, body_bytes } => {
                let actual = match (actual, method, body_bytes) {
                    (0, ..) if *broken_off > 0 && *expected > 0 => {
                        "0, and a request that broke off".to_owned()
                    }
                    (actual, Some(method), Some(bytes)) => format!(
                        "{actual}; the first is a {} with a body of {}",
                        method.text,
                        counted(usize::try_from(*bytes).unwrap_or(usize::MAX), "byte")
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
            Self::Cache { rule, longest_s, actual } => cache(*rule, longest_s.unwrap_or_default(), actual),
            Self::Coding { rule, expected, actual, coding } => {
                coded(*rule, expected.as_ref(), actual.as_ref(), coding.as_ref())
            }
            Self::Count(count) => count::rendered(count),
            Self::Time { rule, took_us, limit_us } => time(
                *rule,
                took_us.map(Duration::from_micros),
                Duration::from_micros(limit_us.unwrap_or_default()),
            ),
            Self::Pin { point, expected, actual } => {
                let pinned = expected.iter().map(|value| value.text.as_str()).collect::<Vec<_>>();
                Rendered::new(format!("pinned point {point}"), pinned.join(" or "), &*actual.text)
            }
            Self::Member { path, expected, actual, .. } => {
                let text =
                    |value: &Option<Wire>| value.as_ref().map(|it| it.text.clone()).unwrap_or_default();
                let what = format!("{} in the verdict", path.trim_start_matches('/'));
                Rendered::new(what, text(expected), text(actual))
            }
            Self::Token { actual, named } => keys::token(actual, named),
            Self::KeySet { rule, expected, actual, faults } => {
                keys::key_set(*rule, expected.as_ref(), actual.as_ref(), faults)
            }
            Self::Process { end, process, error } => {
                let error = || error.as_ref().map(|error| error.text.clone()).unwrap_or_default();
                match end {
                    ProcessEnd::Died => Rendered::new(process, "keeps running", error()),
                    ProcessEnd::NotStarted => Rendered::new(process, "starts", error()),
                    ProcessEnd::Open => Rendered::new(process, "starts, or does not start", "does not start"),
                }
            }
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

fn no_answer(silence: &Silence, wanted: Option<&DifferenceKind>) -> Rendered {
    let actual = match wanted {
        // One of the two answers is absent.
        Some(DifferenceKind::Answer { subject: AnswerSubject::Pair, actual, .. }) => {
            let answers = actual.iter().map(AnswerValue::short).chain([silence.to_string()]);
            answers.collect::<Vec<_>>().join(" and ")
        }
        _ => silence.to_string(),
    };
    let Some(rendered) = wanted.map(DifferenceKind::rendered) else {
        return Rendered::new("answer", "an answer", actual);
    };
    let is_named = matches!(
        wanted,
        Some(
            DifferenceKind::Header { .. }
                | DifferenceKind::Grant { .. }
                | DifferenceKind::Answer { subject: AnswerSubject::AfterOutage | AnswerSubject::Pair, .. }
                | DifferenceKind::Coding { rule: CodingRule::HeadLength, .. }
        )
    );
    let what = if is_named { rendered.what } else { "answer".to_owned() };
    Rendered::new(what, rendered.expected, actual)
}

impl std::fmt::Display for Silence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let error = self.error.as_ref().map(|error| error.text.as_str()).unwrap_or_default();
        match self.reason {
            SilenceReason::NotConnected => write!(f, "no connection ({error})"),
            SilenceReason::NoSocket => write!(f, "no socket ({error})"),
            SilenceReason::NoTls => write!(f, "no TLS session ({error})"),
            SilenceReason::Closed => f.write_str("connection closed without an answer"),
            SilenceReason::Reset => f.write_str("connection reset without an answer"),
            SilenceReason::TimedOut => {
                let within = Duration::from_millis(self.within_ms.unwrap_or_default());
                write!(f, "no answer within {}, connection still open", humantime::format_duration(within))
            }
            SilenceReason::NotHttp => write!(f, "no HTTP answer ({error})"),
        }
    }
}

fn statuses(expected: &Statuses) -> String {
    match expected {
        Statuses::OneOf(all) => all.iter().map(u16::to_string).collect::<Vec<_>>().join(" or "),
        Statuses::Success => "200 to 299".into(),
        Statuses::NoServerError => "a status below 500".into(),
        Statuses::NoServerErrorOr501 => "a status below 500, or 501".into(),
        Statuses::Except(status) => format!("any status except {status}"),
        Statuses::Any => "any status".into(),
    }
}

fn body(expected: &BodyRule, actual: Option<&BodyValue>) -> Rendered {
    let what = if matches!(expected, BodyRule::Codes(_)) { "reason code" } else { "body" };
    let text = match expected {
        BodyRule::Exactly(json) => json.text.clone(),
        BodyRule::Json => "JSON".into(),
        BodyRule::Codes(codes) => format!("JSON with {}", codes.join(" or ")),
        BodyRule::Nothing => "nothing".into(),
        BodyRule::Verdict => "the verdict".into(),
    };
    let Some(actual) = actual else { return Rendered::new(what, text, "") };
    let excerpt = actual.value.excerpt();
    let is_json = matches!(actual.form, BodyForm::Accepted | BodyForm::Object | BodyForm::Json);
    let actual = match expected {
        BodyRule::Exactly(_) if !actual.complete => format!("{excerpt}, incomplete"),
        BodyRule::Exactly(_) if actual.form == BodyForm::Empty => "an empty body".into(),
        BodyRule::Exactly(_) if !is_json => {
            let kind = actual.content_type.as_ref().map(|kind| format!(" ({})", kind.text));
            format!("not JSON{}: {excerpt}", kind.unwrap_or_default())
        }
        BodyRule::Codes(_) if !is_json => format!("not JSON: {excerpt}"),
        BodyRule::Verdict if actual.value.bytes > 0 && !actual.complete => "an incomplete body".into(),
        BodyRule::Verdict if actual.value.bytes > 0 => format!("{} bytes", actual.value.bytes),
        _ => excerpt,
    };
    Rendered::new(what, text, actual)
}

fn answer(subject: AnswerSubject, expected: &[AnswerValue], actual: &[AnswerValue]) -> Rendered {
    let whole = |answer: &AnswerValue| match &answer.body {
        Some(body) => format!("{} {}", answer.status, body.value.text),
        None => answer.status.to_string(),
    };
    let all = |with: &str| expected.iter().map(whole).collect::<Vec<_>>().join(with);
    let any = || all(" or ");
    let of_first = |text: fn(&AnswerValue) -> String| actual.first().map_or_else(|| "none".into(), text);
    let shown = match subject {
        AnswerSubject::AfterOutage => of_first(AnswerValue::short),
        AnswerSubject::Pair => actual.iter().map(AnswerValue::short).collect::<Vec<_>>().join(" and "),
        _ => of_first(AnswerValue::to_string),
    };
    let first = || expected.first().map_or_else(|| "an answer".into(), AnswerValue::to_string);
    let (what, expected) = match subject {
        AnswerSubject::NoAcceptance => ("acceptance", "no status from 200 to 299".to_owned()),
        AnswerSubject::AsTheFirstTime => ("answer, compared with the first time", first()),
        AnswerSubject::AsTheVerdictBefore => ("answer, compared with the verdict before", first()),
        AnswerSubject::AsForAVerdict => ("answer, compared with a session that has a verdict", first()),
        AnswerSubject::AfterRetry => ("answer after a retry", any()),
        AnswerSubject::AfterOtherCases => ("answer after all other cases", any()),
        AnswerSubject::AfterOutage => {
            ("answer after the outage", format!("{}, at the latest the third", any()))
        }
        AnswerSubject::Pair => ("answers", all(" and ")),
        AnswerSubject::ForAnyReason => ("answer", first()),
        AnswerSubject::Answer => ("answer", any()),
    };
    Rendered::new(what, expected, shown)
}

impl AnswerValue {
    /// Status and body.
    fn short(&self) -> String {
        match &self.body {
            Some(body) if body.value.bytes > 0 => {
                let cut = if body.complete { "" } else { ", cut off" };
                format!("{} {}{cut}", self.status, body.value.excerpt())
            }
            _ => format!("{} without a body", self.status),
        }
    }
}

/// Status, redirect and body. Some servers begin the body with the status.
impl std::fmt::Display for AnswerValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let status = self.status.to_string();
        if let Some(headers) = &self.headers {
            let body = self.body.as_ref().map(|body| body.value.text.as_str()).unwrap_or_default();
            return write!(f, "{status} {} {body}", headers.text);
        }
        let redirect = self.location.as_ref().map(|to| format!(" (to {})", to.text)).unwrap_or_default();
        let body = self.body.as_ref().map(|body| body.value.excerpt()).unwrap_or_default();
        let is_repeated = |rest: &&str| rest.is_empty() || rest.starts_with(' ');
        let body = body.strip_prefix(&status).filter(is_repeated).map_or(body.as_str(), str::trim_start);
        f.write_str(format!("{status}{redirect} {body}").trim_end())
    }
}

fn header(name: &str, rule: &HeaderRule, actual: Option<&Wire>) -> Rendered {
    let value = |none: &str| actual.map_or_else(|| none.to_owned(), |value| value.text.clone());
    let named = |name: &str, none: &str| {
        actual.map_or_else(|| none.to_owned(), |value| format!("{name}: {}", value.text))
    };
    let what = format!("header {name}");
    match rule {
        HeaderRule::ListsPost => Rendered::new(what, "a list with POST", value("no such header")),
        HeaderRule::Bearer => Rendered::new(what, "Bearer", value("no such header")),
        HeaderRule::EntityTag => Rendered::new(what, "an entity tag in quotes", value("no such header")),
        HeaderRule::JsonType => Rendered::new(what, "application/json", value("no such header")),
        HeaderRule::Methods => Rendered::new(
            "method POST allowed",
            "a list of methods, or no header (POST need not be listed)",
            named("Access-Control-Allow-Methods", "no Access-Control-Allow-Methods"),
        ),
        HeaderRule::ListsContentType => Rendered::new(
            "header content-type allowed",
            "Access-Control-Allow-Headers with content-type",
            named("Access-Control-Allow-Headers", "no such header"),
        ),
        HeaderRule::VaryOrigin { allowed, other } => {
            let grant = |grant: &Option<Wire>| {
                grant.as_ref().map_or("none".into(), |grant| format!("{:?}", grant.text))
            };
            let actual = if allowed == other {
                "the same Access-Control-Allow-Origin".to_owned()
            } else {
                format!(
                    "{}; Access-Control-Allow-Origin for the allowed origin {}, for another origin {}",
                    named("Vary", "no Vary"),
                    grant(allowed),
                    grant(other)
                )
            };
            Rendered::new(
                what,
                "Vary: Origin, or the same Access-Control-Allow-Origin for every origin",
                actual,
            )
        }
        HeaderRule::NotOfService => {
            let actual = if name.is_empty() { "none" } else { name };
            Rendered::new("headers of the service in the answer", "none", actual)
        }
        HeaderRule::SameAs(expected) => {
            let expected = expected.as_ref().map_or_else(|| "none".to_owned(), |value| value.text.clone());
            Rendered::new(what, expected, value("none"))
        }
    }
}

fn grant(origin: &str, expected: bool, actual: Option<&Wire>) -> Rendered {
    let value = |none: &str| {
        actual.map_or(none.into(), |grant| format!("Access-Control-Allow-Origin: {}", grant.text))
    };
    if expected {
        let expected = format!("Access-Control-Allow-Origin: {origin}");
        return Rendered::new("readable by the page", expected, value("no such header"));
    }
    let expected = format!("no grant to {origin}");
    Rendered::new("grant to another origin", expected, value("no Access-Control-Allow-Origin"))
}

fn license(actual: &LicenseValue) -> String {
    match actual {
        LicenseValue::Unchanged => "unchanged".into(),
        LicenseValue::Absent => "no token in any header or in the request target".into(),
        LicenseValue::OtherToken { bytes, expected, differs_at } => format!(
            "another token: {}, expected {expected}; difference at byte {differs_at}",
            counted(usize::try_from(*bytes).unwrap_or(usize::MAX), "byte")
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
        })
    }
}

fn log_value(actual: &LogValue) -> String {
    match actual {
        LogValue::Lines(1) => "one line".into(),
        LogValue::Lines(lines) => format!("{lines} lines"),
        LogValue::Empty => "no log line".into(),
        LogValue::WithoutStatus(line) => format!("a line without the status: {}", line.excerpt()),
        LogValue::WithoutReason(lines, last) => format!(
            "no line with the reason; the last of {}: {}",
            counted(usize::try_from(*lines).unwrap_or(usize::MAX), "line"),
            last.excerpt()
        ),
    }
}

fn cache(rule: CacheRule, longest_s: u64, actual: &[Lifetime]) -> Rendered {
    let text = |lifetime: &Lifetime| match lifetime {
        Lifetime::Directives(text) => text.text.clone(),
        Lifetime::Expires(Some(seconds)) => format!("Expires in {seconds} seconds"),
        Lifetime::Expires(None) => "Expires".into(),
    };
    let lifetimes: Vec<String> = actual.iter().map(text).collect();
    match rule {
        CacheRule::Lifetime => Rendered::new(
            "cache lifetime",
            format!("at most {longest_s} seconds"),
            joined(&lifetimes, "no cache lifetime"),
        ),
        CacheRule::StaleIncluded => Rendered::new(
            "cache lifetime, stale use included",
            format!("a cache lifetime of at most {longest_s} seconds, stale use included"),
            joined(&lifetimes, "none"),
        ),
        CacheRule::NotShared => Rendered::new(
            "Cache-Control",
            "neither public nor s-maxage nor must-revalidate",
            joined(&lifetimes, "no Cache-Control"),
        ),
    }
}

fn coded(
    rule: CodingRule,
    expected: Option<&Wire>,
    actual: Option<&Wire>,
    coding: Option<&Wire>,
) -> Rendered {
    let text =
        |value: Option<&Wire>, absent: &str| value.map_or(absent.to_owned(), |value| value.text.clone());
    match rule {
        CodingRule::Transfer => Rendered::new(
            "transfer coding in an answer to HTTP/1.0",
            "none",
            if actual.is_some() { "in the answer" } else { "none" },
        ),
        CodingRule::Intact => Rendered::new(
            format!("body in {}", text(coding, "")),
            "complete",
            if actual.is_some() { "cut off, or not in this coding" } else { "complete" },
        ),
        CodingRule::Accepted => {
            Rendered::new("content coding", "one that the request accepts", text(coding, ""))
        }
        CodingRule::Vary => {
            Rendered::new("header vary of a coded answer", "Accept-Encoding", text(actual, ""))
        }
        CodingRule::HeadLength => Rendered::new(
            "header content-length of HEAD",
            format!("{}, or none", text(expected, "that of GET")),
            text(actual, "none"),
        ),
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
        TimeRule::MayWait => Rendered::new("answer", "any status except 500 to 599, or a wait", "a wait"),
        TimeRule::BeforeCollections => {
            compared("answer", "before the collections", "after the collections".into())
        }
        TimeRule::BeforeWaits => compared("time", "before the waits end", "after the waits".into()),
    }
}

fn joined(texts: &[String], none: &str) -> String {
    if texts.is_empty() { none.to_owned() } else { texts.join(", ") }
}
