use edgeproof_mutants::TestBed;

pub(crate) fn test_bed() -> TestBed {
    TestBed::builtin().unwrap()
}

/// Blocks on a runtime with several threads: runs spawn a task for each case.
pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(future)
}
