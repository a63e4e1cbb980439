use std::iter::repeat_n;

use super::probe::{Probe, probe_each};
use crate::cases::service::Expected;
use crate::cases::service::expected::{AVAILABLE, PENDING, UNAUTHORIZED};
use crate::cases::{CaseList, Service, ServiceCaseContext, ServiceNeed};

/// Number of requests with the same answer in a row: more than ten, the usual limit of counters.
const TIMES: usize = 11;

/// What a service keeps of one answer must not change another one.
pub(super) fn add(cases: &mut CaseList<'_, Service>) {
    let title = "answers of one kind in a row change no answer of another kind";
    let needs = &[ServiceNeed::ReadToken, ServiceNeed::Session];
    probe_each(cases, [AVAILABLE, "vary.verdict.outcomes", title], needs, crossed)
        .also(PENDING)
        .also(UNAUTHORIZED);
}

/// Each kind of request many times, and then one of each.
fn crossed(context: &ServiceCaseContext, session: &str) -> Vec<Probe> {
    let unknown = context.reference("outcomes");
    let put = context.with_token(session).method("PUT").draft();
    let kinds = [
        ("verdict", Probe::new("", context.with_token(session).draft(), Expected::Verdict)),
        ("pending answer", Probe::pending("", context, &unknown)),
        ("refusal", Probe::unauthorized("", context, session, |draft| draft)),
        ("PUT", Probe::new("", put, Expected::NoServerError).should()),
    ];
    let mut probes = Vec::new();
    for (many, repeated) in &kinds {
        probes.extend(repeat_n(repeated.clone().named(format!("a {many} after others")), TIMES));
        let after =
            |(one, probe): &(&str, Probe)| probe.clone().named(format!("a {one} after {TIMES} × a {many}"));
        probes.extend(kinds.iter().map(after));
    }
    probes
}
