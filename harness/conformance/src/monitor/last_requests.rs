use std::net::Ipv4Addr;

use edgeproof_fixtures::credentials::Redactor;
use edgeproof_mock::Action;
use edgeproof_reports::CaseLevel;
use edgeproof_reports::difference::{AnswerSubject, DifferenceKind, UserDatum};

use super::edge_record::EdgeRecord;
use crate::cases::{Catalog, EdgeCaseContext, collection};
use crate::judge::{self, Check};

/// Name of the last requests of a run in reports.
pub(crate) const LAST_REQUESTS: &str = "monitor.last-requests";

/// Reasons of the refusals.
const REASONS: [&str; 2] = ["edgeproof_last_first", "edgeproof_last_second"];
/// Header fields that identify an end user: field, datum, value, and the part of it that occurs nowhere else.
const USER_DATA: [(&str, UserDatum, &str, &str); 4] = [
    ("User-Agent", UserDatum::UserAgent, "Mozilla/5.0 (X11; edgeproof-last-agent)", "edgeproof-last-agent"),
    ("Cookie", UserDatum::Cookie, "session=edgeproof-last-cookie", "edgeproof-last-cookie"),
    ("X-Forwarded-For", UserDatum::ForwardedAddress, "198.51.100.97", "198.51.100.97"),
    ("Referer", UserDatum::PageAddress, "https://shop.example/edgeproof-last-page", "edgeproof-last-page"),
];
/// Credentials that a page names. The edge has its own.
const CREDENTIALS: [(&str, &str); 2] =
    [("Authorization", "Bearer edgeproof.last.1"), ("X-License-Token", "edgeproof.last.2")];
/// A cookie of the service for the first page.
const COOKIE: (&str, &str) = ("set-cookie", "edgeproof-last-service=1; Path=/");
/// A query of a page.
const QUERY: &str = "?page=edgeproof-last-query";
/// Address of the client, where the edge's log is read: a loopback address that nothing else uses.
const CLIENT: Ipv4Addr = Ipv4Addr::new(127, 41, 97, 83);

/// Sends the last requests to an edge: refused collections and an accepted one. Every part of them identifies an end user.
pub(crate) async fn send_last_requests(edge: &mut EdgeCaseContext, catalog: &Catalog<'_>) {
    let statuses = catalog.refusal_statuses();
    let refusals = [statuses.first(), statuses.last()].into_iter().flatten().zip(REASONS);
    let mut scripts: Vec<_> = refusals.map(|(status, reason)| catalog.refuse(*status, reason)).collect();
    for reply in scripts.iter_mut().flat_map(|script| &mut script.replies) {
        if let Action::Answer { headers, .. } = &mut reply.action {
            headers.push((COOKIE.0.to_owned(), COOKIE.1.to_owned()));
        }
    }
    // A repeated refusal has a line of its own in the log.
    let refused = scripts.last().cloned();
    scripts.extend(refused.clone());
    scripts.push(catalog.accept());
    if let Some(refused) = refused {
        edge.script(refused);
        let mut draft = edge.fill(&collection());
        draft.path.push_str(QUERY);
        // An edge may refuse a query.
        edge.exchange_as(&edge.marker, CaseLevel::Open, &draft, edge.timeout).await;
    }
    for script in scripts {
        edge.script(script);
        let user = USER_DATA.iter().map(|(name, _, value, _)| (name, value));
        let credentials = CREDENTIALS.iter().map(|(name, value)| (name, value));
        let mut draft =
            user.chain(credentials).fold(collection(), |draft, (name, value)| draft.header(name, value));
        // Other systems need each address of 127.0.0.0/8 to be configured.
        let is_own =
            cfg!(target_os = "linux") && edge.target.log.is_some() && edge.target.endpoint.is_loopback();
        draft.from = is_own.then_some(CLIENT.into());
        edge.send(&draft).await;
    }
}

/// The edge accepted the last collection. No check: it got no last requests.
pub(super) fn alive(edge: &EdgeRecord) -> Vec<Check> {
    let last = edge.requests.iter().rfind(|request| request.sender.case == LAST_REQUESTS);
    match last.map(|request| &request.sent) {
        None => Vec::new(),
        Some(None) => {
            vec![Check::judged(
                DifferenceKind::Answer {
                    subject: AnswerSubject::AfterOtherCases,
                    expected: vec![edge.accepted.value()],
                    actual: Vec::new(),
                },
                false,
            )]
        }
        Some(Some(sent)) => {
            let mut checks = judge::exact(&edge.accepted, &sent.reply);
            let arrived = edge.relays().any(|arrival| arrival.request.body == sent.request.body);
            checks.push(Check::judged(
                DifferenceKind::Arrivals {
                    expected: 1,
                    actual: u64::from(arrived),
                    broken_off: 0,
                    method: None,
                    body_bytes: None,
                },
                arrived,
            ));
            checks.into_iter().map(|check| check.of("the last collection")).collect()
        }
    }
}

/// Whether a log line is about a refusal of a last request.
pub(super) fn is_refusal(line: &str) -> bool {
    REASONS.iter().any(|reason| line.contains(reason))
}

/// Finds the end-user data of the last requests, raw and encoded: the name in reports, and what finds it.
pub(super) fn user_data() -> Vec<(UserDatum, Redactor)> {
    let find = |datum: UserDatum, canary: String| {
        let mut redactor = Redactor::empty();
        redactor.add(datum.name(), &canary);
        (datum, redactor)
    };
    let others = [
        (UserDatum::ClientAddress, CLIENT.to_string()),
        (UserDatum::Query, QUERY.trim_start_matches('?').to_owned()),
    ];
    let fields = USER_DATA.iter().map(|(_, datum, _, canary)| (*datum, (*canary).to_owned()));
    fields.chain(others).map(|(datum, canary)| find(datum, canary)).collect()
}
