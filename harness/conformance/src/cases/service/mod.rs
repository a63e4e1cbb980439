//! A service that gives verdicts (4, 5, 7.4), asked as an integrator's context asks it. What holds of any service is
//! asked of any; what only a service can be asked that is told when sessions arrive is asked of our mock.

mod arrivals;
mod damage;
mod exact;
mod expected;
mod pending;
mod refusals;
mod secrecy;
mod sessions;
mod waiting;

use super::Catalog;

pub(super) fn add(cases: &mut Catalog<'_>) {
    pending::add(cases);
    refusals::add(cases);
    waiting::add(cases);
    sessions::add(cases);
    arrivals::add(cases);
    exact::add(cases);
    secrecy::add(cases);
}
