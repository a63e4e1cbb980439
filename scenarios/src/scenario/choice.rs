/// A pseudo-random index for an operation. Hashing is needed because a share selects every n-th number, and
/// plain remainders would correlate with it.
pub(super) fn choose(number: u64, choices: usize) -> usize {
    ((number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33) % choices.max(1) as u64) as usize
}
