use edgeproof_mutants::World;

pub(crate) fn world() -> World {
    World::builtin().unwrap()
}

/// As a run has it: cases are played in tasks of their own.
pub(crate) fn wait_for<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(future)
}
