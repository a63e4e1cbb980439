/// A threshold is broken, or the self-test failed.
pub(super) const EXIT_BROKEN: u8 = 1;
/// The command, or a file it names, is wrong.
pub(super) const EXIT_USAGE: u8 = 2;
/// The run could not finish, or its figures prove nothing.
pub(super) const EXIT_INCOMPLETE: u8 = 3;
