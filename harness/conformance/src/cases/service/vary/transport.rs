use edgeproof_http::{Draft, HeadPace, HostForm, RequestForm, TargetForm};
use edgeproof_reports::CaseLevel;

use super::probe::{Probe, probe_each};
use crate::cases::service::Expected;
use crate::cases::service::expected::{PENDING, UNAUTHORIZED};
use crate::cases::{CaseList, Service, ServiceNeed};

/// Values of `Accept-Encoding`. edgeproof decodes gzip and deflate.
const CODINGS: [&str; 5] = ["gzip", "gzip, deflate", "deflate;q=0.5, gzip;q=1.0", "deflate", "gzip;q=0"];

/// The same request in other forms of HTTP: content codings, versions, targets, grouping of its bytes.
pub(super) fn add(cases: &mut CaseList<'_, Service>) {
    let token = &[ServiceNeed::ReadToken];
    let session = &[ServiceNeed::ReadToken, ServiceNeed::Session];
    let title = "a pending answer is the same in each form of HTTP";
    probe_each(cases, [PENDING, "vary.verdict.transport", title], token, |context, unknown| {
        forms().map(|form| form.of(|name| Probe::pending(name, context, unknown))).collect()
    });
    let title = "a refusal is the same in each form of HTTP";
    probe_each(cases, [UNAUTHORIZED, "vary.verdict.transport-refused", title], &[], |context, unknown| {
        forms()
            .map(|form| form.of(|name| Probe::unauthorized(name, context, unknown, |draft| draft)))
            .collect()
    });
    let title = "a verdict is available in each form of HTTP";
    let row = "verdict.200.available";
    probe_each(cases, [row, "vary.verdict.transport-available", title], session, |context, session| {
        let verdict = |name| Probe::new(name, context.with_token(session).draft(), Expected::Verdict);
        forms().map(|form| form.of(verdict)).collect()
    });
}

/// A form of HTTP.
pub(in crate::cases) struct HttpForm {
    /// Its name in findings.
    pub(in crate::cases) name: String,
    /// Level of the answer.
    pub(in crate::cases) level: CaseLevel,
    coding: Option<&'static str>,
    form: RequestForm,
}

/// All forms.
pub(in crate::cases) fn forms() -> impl Iterator<Item = HttpForm> {
    let codings = CODINGS.map(|coding| HttpForm {
        name: format!("Accept-Encoding: {coding}"),
        level: CaseLevel::Must,
        coding: Some(coding),
        form: RequestForm::default(),
    });
    let plain = RequestForm::default;
    let others = [
        ("HTTP/1.0", RequestForm { http10: true, ..plain() }),
        ("the whole URL as the target", RequestForm { target: TargetForm::Absolute, ..plain() }),
        ("Host in upper case", RequestForm { host: HostForm::UpperCase, ..plain() }),
        ("each line in a packet of its own", RequestForm { pace: HeadPace::Lines, ..plain() }),
        ("each byte in a packet of its own", RequestForm { pace: HeadPace::Bytes, ..plain() }),
    ];
    let others = others.map(|(name, form)| {
        // No client sends it to a server that is no proxy, and some servers refuse it against RFC 9112 §3.2.2.
        let is_absolute = form.target == TargetForm::Absolute;
        let level = if is_absolute { CaseLevel::Should } else { CaseLevel::Must };
        HttpForm { name: name.into(), level, coding: None, form }
    });
    codings.into_iter().chain(others)
}

impl HttpForm {
    /// The request in this form.
    pub(in crate::cases) fn apply(&self, mut draft: Draft) -> Draft {
        if let Some(coding) = self.coding {
            draft = draft.header("Accept-Encoding", coding);
        }
        draft.form = self.form.clone();
        draft
    }

    fn of(&self, plain: impl Fn(String) -> Probe) -> Probe {
        let probe = plain(self.name.clone()).map(|draft| self.apply(draft));
        if self.level == CaseLevel::Must { probe } else { probe.should() }
    }
}
