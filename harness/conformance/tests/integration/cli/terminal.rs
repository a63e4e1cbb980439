//! A terminal whose user has typed all answers in advance.

use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::process::{Command, Output, Stdio};

use rustix::fs::{Mode, OFlags, open};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, OptionalActions, OutputModes, tcgetattr, tcsetattr};

use crate::limited;

/// Runs a program with standard input and standard error on a terminal. Yields its output; standard error is what the
/// terminal shows, without what is typed.
pub(super) fn output(command: &mut Command, typed: &str) -> Output {
    let user = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&user).unwrap();
    unlockpt(&user).unwrap();
    let name = ptsname(&user, Vec::new()).unwrap();
    let terminal: OwnedFd = open(name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap();
    let mut modes = tcgetattr(&terminal).unwrap();
    modes.local_modes -= LocalModes::ECHO;
    modes.output_modes -= OutputModes::ONLCR;
    tcsetattr(&terminal, OptionalActions::Now, &modes).unwrap();
    rustix::io::write(&user, typed.as_bytes()).unwrap();
    command.stdin(terminal.try_clone().unwrap()).stderr(terminal.try_clone().unwrap()).stdout(Stdio::piped());
    let child = command.spawn().unwrap();
    // Only the child holds the terminal, so that its end is the end of what the terminal shows.
    drop(terminal);
    command.stdin(Stdio::null()).stderr(Stdio::null());
    let mut output = limited::end(child);
    // Linux ends it with an error.
    let _ = File::from(user).read_to_end(&mut output.stderr);
    output
}
