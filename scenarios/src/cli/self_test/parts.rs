use std::io::{self, Read as _, Write as _};
use std::thread;

use crate::service::RecordingServer;
use edgeproof_cli::{Failure, raise_open_files, write_stdout};
use edgeproof_fixtures::spec::{Spec, Version};

/// The command `edgeproof-load self-test serve`: prints its URL, serves until standard input ends, and prints its
/// record.
pub(super) fn serve(behaviour: &str) -> Result<u8, Failure> {
    let behaviour = serde_json::from_str(behaviour)
        .map_err(|why| Failure::usage(format!("cannot read the behaviour: {why}"), "give it as JSON"))?;
    raise_open_files(u64::MAX);
    let server = RecordingServer::start(&Spec::builtin(Version::Current), behaviour).map_err(|why| {
        let what = format!("cannot start the server of the self-test: {why}");
        Failure::usage(what, "raise the limits on open files and threads (ulimit -n, ulimit -u)")
    })?;
    write_stdout(format!("{}\n", server.url()).as_bytes())?;
    wait_for_end_of_input();
    write_stdout(server.record().to_string().as_bytes())?;
    Ok(0)
}

/// The command `edgeproof-load self-test busy`: uses a CPU until standard input ends.
pub(super) fn busy() -> Result<u8, Failure> {
    write_stdout(b"\n")?;
    thread::spawn(|| {
        loop {
            std::hint::spin_loop();
        }
    });
    wait_for_end_of_input();
    Ok(0)
}

/// Standard input ends when the self-test ends, for whatever reason.
fn wait_for_end_of_input() {
    let _ = io::stdin().read_to_end(&mut Vec::new());
    let _ = io::stdout().flush();
}
