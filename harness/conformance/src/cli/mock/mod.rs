//! `edgeproof mock`: the mock service, with `--edge` a reference edge in front of it, with `--page` a page in front of both.

mod args;
mod health;
mod log;
mod magic;
mod page;
mod plan;
mod ready;
mod server;

pub(crate) use args::MockArgs;

use std::sync::Arc;

use edgeproof_cli::{Failure, raise_open_files, signals, single_threaded_runtime};

use plan::plan;
use server::MockServer;

/// `edgeproof mock`.
pub(super) fn main(args: &MockArgs) -> Result<u8, Failure> {
    if let Some(url) = &args.health {
        return health::check(url);
    }
    let spec = Arc::new(args.spec.load()?);
    if args.magic {
        magic::print(&spec, args.json)?;
        return Ok(0);
    }
    let plan = plan(args, spec)?;
    // Each long poll is an open connection.
    raise_open_files(u64::MAX);
    single_threaded_runtime()?.block_on(async {
        // Before anything starts: from here on a signal stops it in order.
        let interrupted = signals::catch()?;
        let server = MockServer::start(args, plan).await?;
        server.ready.print(args.json)?;
        interrupted.await;
        server.stop().await;
        Ok(0)
    })
}
