//! Judging: what was expected × what was seen → checks. Nothing here does I/O or knows how a message came about.

mod answer;
mod check;
mod code;
mod cors;
mod freshness;
mod jwks;
mod jws;
mod log;
mod relay;

pub use answer::{
    EDGE_SECRETS, Expected, exact, header_has, is_json, json_content_type, no_secrets, no_server_error,
    status_in,
};
pub use check::Check;
pub(crate) use check::shown;
pub use code::{Code, place_of, same_answer, tells};
pub use cors::{no_grant, preflight_passes, readable, vary};
pub use freshness::{bounded, fresh_for, not_shared};
pub use jwks::{distinct_ids, has_keys, public_only, typed_keys};
pub use jws::{Signed, is_jws, verify_jws};
pub use log::{names_refusal, one_refusal_line, shows_no_secrets, shows_nothing};
pub use relay::{carries_license, presents_certificate, relayed_nothing, relayed_once};
