//! Exit codes that both programs share. A signal ends a program with 128 and its number.

/// A requirement or a threshold is broken.
pub const BROKEN: u8 = 1;
/// The command, or a file that it names, is invalid. Nothing ran.
pub const USAGE: u8 = 2;
/// Something planned could not run, so nothing is proven.
pub const INCOMPLETE: u8 = 3;
