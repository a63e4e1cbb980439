use std::io::{self, ErrorKind, Write as _};

use super::Failure;

/// Writes to standard output. A closed pipe is no failure: its reader has read enough.
pub fn write_stdout(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(why) if why.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::usage(format!("cannot write to standard output: {why}"), "check its destination"))
        }
        _ => Ok(()),
    }
}
