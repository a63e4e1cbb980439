use edgeproof_cli::{Failure, runtime, signals};

/// Plays reference parts to the end. A signal ends the play, and all that it started.
pub(super) fn play<T>(played: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = runtime()?;
    let interrupted = {
        let _context = runtime.enter();
        signals::catch()?
    };
    runtime.block_on(async {
        tokio::select! {
            played = played => played,
            signal = interrupted => {
                let why = Failure::usage("the command was interrupted", "start it again: nothing was written");
                Err(why.ended_by(signal.exit_code()))
            }
        }
    })
}
