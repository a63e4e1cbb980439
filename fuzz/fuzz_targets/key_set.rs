//! Key sets (JWKS).
#![no_main]

#[expect(dead_code, reason = "the other targets")]
#[path = "../../harness/mock/tests/integration/fuzz/targets.rs"]
mod targets;

libfuzzer_sys::fuzz_target!(|input: &[u8]| targets::key_set(input));
