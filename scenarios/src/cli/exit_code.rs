/// A threshold is broken; what was to be proven is not so.
pub(super) const EXIT_BROKEN: u8 = 1;
/// The command, or a file that it names, is wrong.
pub(super) const EXIT_USAGE: u8 = 2;
/// It could not run, or its figures prove nothing.
pub(super) const EXIT_INCOMPLETE: u8 = 3;
