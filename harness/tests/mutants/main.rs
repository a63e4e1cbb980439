//! Every check can fail: edges with one deviation each, and who notices.

mod agreement;
mod gate;
mod nothing;
mod rows;

use harness::deviations::World;

fn world() -> World {
    World::builtin().unwrap()
}

/// As a run has it: cases are played in tasks of their own.
fn wait_for<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(future)
}
