//! A service that gives verdicts (4, 5, 7.4), asked as an integrator's backend asks it. What holds of any service is
//! asked of any; what only a service can be asked that is told when sessions arrive is asked of our mock.

mod arrivals;
mod damage;
mod methods;
mod pending;
mod refusals;
mod rows;
mod secrecy;
mod sessions;
mod waiting;

use edgeproof_fixtures::spec::{Row, Stimulus, Table};
use serde_json::json;

use super::Catalog;
use crate::judge::{Code, Expected};

pub(super) fn add(cases: &mut Catalog<'_>) {
    pending::add(cases);
    refusals::add(cases);
    waiting::add(cases);
    sessions::add(cases);
    arrivals::add(cases);
    rows::add(cases);
    secrecy::add(cases);
    methods::add(cases);
}

/// The row for a session without a verdict.
const PENDING: &str = "verdict.404.pending";
/// The row for a request without a read token.
const UNAUTHORIZED: &str = "verdict.401.unauthorized";

/// The answer that a row shows, for this session reference.
fn answer(row: &Row, reference: &str) -> Expected {
    let body = row.body_with(&[("<session_ref>", json!(reference))]);
    Expected { status: row.status().unwrap_or_default(), body, headless: false }
}

/// The codes of these causes.
fn codes(cases: &Catalog<'_>, causes: &[Stimulus]) -> Vec<Code> {
    let mut codes: Vec<Code> = Vec::new();
    for row in causes.iter().filter_map(|cause| cases.spec.by_stimulus(Table::Verdict, *cause)) {
        if let Some(code) = code(row).filter(|code| !codes.contains(code)) {
            codes.push(code);
        }
    }
    codes
}

/// The code of a row.
fn code(row: &Row) -> Option<Code> {
    let suffixed = matches!(&row.fact, edgeproof_fixtures::spec::Fact::Verdict { suffixed: true, .. });
    Some(Code { text: row.code()?.to_owned(), suffixed })
}
