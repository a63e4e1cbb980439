use std::time::Duration;

use super::text::Rendered;
use crate::difference::choice::{AnswerSubject, BodyForm, CodingRule, SilenceReason};
use crate::difference::kind::DifferenceKind;
use crate::difference::value::{AnswerValue, BodyRule, BodyValue, Silence, Statuses};

pub(super) fn no_answer(silence: &Silence, wanted: Option<&DifferenceKind>) -> Rendered {
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

pub(super) fn statuses(expected: &Statuses) -> String {
    match expected {
        Statuses::OneOf(all) => all.iter().map(u16::to_string).collect::<Vec<_>>().join(" or "),
        Statuses::Success => "200 to 299".into(),
        Statuses::NoServerError => "a status below 500".into(),
        Statuses::NoServerErrorOr501 => "a status below 500, or 501".into(),
        Statuses::Except(status) => format!("any status except {status}"),
        Statuses::Any => "any status".into(),
    }
}

pub(super) fn body(expected: &BodyRule, actual: Option<&BodyValue>) -> Rendered {
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

pub(super) fn answer(subject: AnswerSubject, expected: &[AnswerValue], actual: &[AnswerValue]) -> Rendered {
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
