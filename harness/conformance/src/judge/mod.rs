//! Pure judging: expected value × actual value → checks. The module does no I/O and does not import the cases.

mod advice;
mod answer;
mod author;
mod check;
mod code;
mod coding;
mod collection;
mod cors;
mod freshness;
mod header;
mod json_change;
mod jwks;
mod jws;
mod jwt;
mod log;
mod relay;
mod session;
mod transport;
mod unset;
mod values;

pub(crate) use answer::status_and_body;
pub use answer::{
    ExpectedAnswer, exact, has_no_body, has_verdict, is_json, json_as_said, no_secrets, no_server_error,
    not_accepted, one_of, refused_in_one_line, status_in, status_is,
};
pub use check::{AnswerResult, Check};
pub use code::{ReasonCode, find_code, has_code, same_answer};
pub use coding::without_coding;
pub(crate) use coding::{gzip, gzipped, is_gzip, is_unread};
pub(crate) use collection::{decoded_forms, is_disguised, places_in, shared_stream};
pub use cors::{no_grant, preflight_passes, readable, vary};
pub(crate) use edgeproof_reports::difference::excerpt;
pub use freshness::{cache_time_bounded, fresh_for, is_never_stored, not_shared, not_stored};
pub use header::{header_has, json_content_type, same_header, same_length, same_value, without_fields};
pub use jwks::{distinct_ids, flawless, has_keys, members_once, public_only, typed_keys};
pub use jws::{claims, is_ecdsa, is_jws, key_id, leaves, texts, tokens, verify_jws};
pub use jwt::{
    claims_agree, distinct_tokens, outlives, token_begun, token_claims, token_header, token_times,
};
pub use log::{
    has_number, has_word, log_without_secrets, log_without_values, names_refusal, no_forged_line,
    one_refusal_line,
};
pub use relay::{
    RelayedRequests, carries_license, not_relayed, permits_repeat, presents_certificate, relayed_once,
    relays_one_of,
};
pub use session::{ExpectedError, SessionResult, fails_with, resolves, resolves_as};
pub use transport::{head_length, refuses_short_uri, transport};
pub(crate) use unset::unset_license;
pub(crate) use values::{answer_value, page_answer, silence};
