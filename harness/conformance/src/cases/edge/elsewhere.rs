use edgeproof_fixtures::spec::Advice;
use edgeproof_http::{Draft, HostForm};
use edgeproof_reports::CaseLevel;
use edgeproof_reports::difference::{Count, Counted};
use memchr::memmem;

use super::credentials::licenses;
use crate::cases::{CaseList, Edge, collection};
use crate::judge::Check;

/// Changes a collection so that it names this host.
type Naming = fn(Draft, &str) -> Draft;

/// Where a client can name a host, and how.
const PLACES: [(&str, Naming); 4] = [
    ("a request target that begins with two slashes", |draft, host| Draft {
        path: format!("//{host}{}", draft.path),
        ..draft
    }),
    ("a request target that is a whole URL", |draft, host| Draft {
        path: format!("https://{host}{}", draft.path),
        ..draft
    }),
    ("Host", |mut draft, host| {
        draft.form.host = HostForm::Other(host.to_owned());
        draft
    }),
    ("Forwarded and X-Forwarded-Host", |draft, host| {
        let forwarded = format!("host=\"{host}\";proto=https");
        let draft = draft.header("X-Forwarded-Host", host).header("X-Forwarded-Proto", "https");
        draft.header("Forwarded", &forwarded)
    }),
];

/// The edge knows its service from `SERVICE_URL` alone. Where a client names another host, no license goes there.
pub(super) fn add(cases: &mut CaseList<'_, Edge>) {
    let accept = cases.accept();
    cases
        .case(
            "statement.license-not-elsewhere",
            "relay.elsewhere",
            "the edge sends nothing to a host that a client names",
        )
        .steps(steps!(with(accept), async |context| {
            let Some(elsewhere) = context.target.elsewhere.clone() else {
                context.found.not_run = Some("this run has no second mock service to name".into());
                return;
            };
            context.script(accept);
            // A server may refuse a foreign host in its own way (RFC 9110 §7.4).
            context.weakest = CaseLevel::Open;
            let host = format!("localhost:{}", elsewhere.addr().port());
            for (place, naming) in PLACES {
                let mark = elsewhere.mark();
                context.send(&naming(collection(), &host)).await;
                let marker = context.marker.as_bytes();
                let mut arrivals = elsewhere.arrivals_since(mark);
                arrivals.retain(|arrival| memmem::find(&arrival.request.body, marker).is_some());
                let count = Count::new(Counted::RequestsElsewhere, 0, arrivals.len())
                    .part(licenses(&arrivals).len())
                    .first(arrivals.first().map(|arrival| &arrival.request.method));
                let check = Check::judged(count, arrivals.is_empty()).of(place);
                context.check(check.advise(Advice::RelayedElsewhere));
            }
        }));
}
