use std::io;
use std::sync::Arc;

use edgeproof_fixtures::spec::{Spec, Version};

use super::args::Edge;
use edgeproof_cli::Failure;
use edgeproof_cli::Lines;
use edgeproof_cli::{runtime, signals};
use edgeproof_edge::{LogSink, ProgramOptions, run_program};

/// `edgeproof edge`.
pub(super) fn main(args: &Edge) -> Result<u8, Failure> {
    let spec = Arc::new(Spec::builtin(Version::Current));
    let profile = match &args.profile {
        Some(path) => spec.profile().with_file(path)?,
        None => spec.profile().clone(),
    };
    let options = ProgramOptions { listen: args.listen, cert: args.cert.clone(), key: args.key.clone() };
    runtime()?.block_on(async {
        let until = signals::interrupted().map_err(|why| {
            Failure::usage(format!("catch signals: {why}"), "check the limits on open files")
        })?;
        let until = async {
            let _ = until.await;
        };
        let (lines, written) = Lines::to(io::stdout());
        run_program(
            spec,
            profile,
            |name| std::env::var(name).ok(),
            options,
            LogSink::new(move |line| lines.write(line)),
            until,
        )
        .await
        .map_err(|why| Failure::within("start the edge", &why))?;
        written.wait();
        Ok(0)
    })
}
