/// One of so many, by the number of an operation. A share takes every n-th number; without mixing, those would share a few of
/// the choices.
pub(super) fn choose(number: u64, choices: usize) -> usize {
    ((number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33) % choices.max(1) as u64) as usize
}
