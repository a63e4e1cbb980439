use edgeproof_fixtures::credentials::Redactor;
use edgeproof_mock::{ReplyShape, Script};

use super::edge_record::EdgeRecord;
use crate::cases::{CaseContext, collection};
use crate::judge::{self, Check};

/// Name of the run's own last requests in reports.
pub(crate) const PATROL: &str = "monitor.patrol";

/// The refusals of the patrol. The last one is repeated.
const REFUSALS: [(u16, &str); 3] =
    [(401, "edgeproof_patrol_first"), (503, "edgeproof_patrol_second"), (503, "edgeproof_patrol_second")];
/// Header fields that identify an end user: field, name in reports, value, and the part of it that occurs nowhere else.
const USER_DATA: [(&str, &str, &str, &str); 4] = [
    ("User-Agent", "user agent", "Mozilla/5.0 (X11; edgeproof-patrol-agent)", "edgeproof-patrol-agent"),
    ("Cookie", "cookie", "session=edgeproof-patrol-cookie", "edgeproof-patrol-cookie"),
    ("X-Forwarded-For", "forwarded address", "198.51.100.97", "198.51.100.97"),
    ("Referer", "address of the page", "https://shop.example/edgeproof-patrol-page", "edgeproof-patrol-page"),
];

/// The last requests to an edge: refusals and acceptances that identify an end user in every part.
pub(crate) async fn patrol(edge: &mut CaseContext, shape: &ReplyShape, accept: Script) {
    let refusals = REFUSALS.map(|(status, reason)| Script::refuse(shape, status, reason));
    for script in refusals.into_iter().chain([accept]) {
        edge.script(script);
        let draft =
            USER_DATA.iter().fold(collection(), |draft, (name, _, value, _)| draft.header(name, value));
        edge.send(&draft).await;
    }
}

/// The edge accepted the last collection of the patrol. No check: there was no patrol at this edge.
pub(super) fn alive(edge: &EdgeRecord) -> Vec<Check> {
    let last = edge.requests.iter().rfind(|request| request.sender.case == PATROL);
    match last.map(|request| &request.sent) {
        None => Vec::new(),
        Some(None) => {
            vec![Check::new("answer after all other cases", edge.accepted.to_string(), "none", false)]
        }
        Some(Some(sent)) => {
            let checks = judge::exact(&edge.accepted, &sent.reply);
            checks.into_iter().map(|check| check.of("the last collection")).collect()
        }
    }
}

/// Whether a log line is about a refusal of the patrol.
pub(super) fn is_refusal(line: &str) -> bool {
    REFUSALS.iter().any(|(_, reason)| line.contains(reason))
}

/// Finds the end-user data of the patrol, raw and encoded: the name in reports, and what finds it.
pub(super) fn user_data() -> Vec<(&'static str, Redactor)> {
    let find = |name, canary| {
        let mut redactor = Redactor::empty();
        redactor.add(name, canary);
        (name, redactor)
    };
    USER_DATA.iter().map(|(_, name, _, canary)| find(*name, canary)).collect()
}
