//! Cases of the verdict endpoint (4, 5, 7.4), played as the integrator's backend. A state hook makes the sessions, clocks and
//! tokens that they require.

mod arrivals;
mod damage;
mod exact;
mod exchange;
mod expected;
mod part;
mod pending;
mod refusals;
mod rule;
mod secrecy;
mod sessions;
mod stable_values;
mod states;
mod token_choice;
mod token_echo;
mod vary;
mod visitors;
mod waiting;

use super::CaseList;

pub use damage::Damage;
pub(crate) use expected::{
    AVAILABLE, OUTAGE, PENDING, PUBLISHED, REVOKED, UNAUTHORIZED, answer, is_pending, published_status,
    refusal_statuses,
};
pub(super) use expected::{Expected, status};
pub(super) use vary::{
    ACCEPTS, CONDITIONS, HEADERS, HttpForm, INVALID_WAITS, METHODS, Probe, SHORT_WAITS, WEAK_CONDITIONS,
    forms, with_bit, without_token,
};
pub(super) use visitors::{is_blocked, visit};
pub(super) use waiting::TO_BEGIN;

pub(crate) use token_echo::token_echo;

use exchange::SessionState;
pub use exchange::VerdictExchange;
pub use part::Service;
pub use rule::{VerdictObservation, VerdictRule};
pub use token_choice::TokenChoice;

/// Adds the cases in the order of the report.
pub(super) fn add(cases: &mut CaseList<'_, Service>) {
    pending::add(cases);
    refusals::add(cases);
    waiting::add(cases);
    sessions::add(cases);
    arrivals::add(cases);
    exact::add(cases);
    states::add(cases);
    secrecy::add(cases);
    vary::add(cases);
    visitors::add(cases);
}
