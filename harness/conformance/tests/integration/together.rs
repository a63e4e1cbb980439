//! Cases of one test that mostly wait: they run at the same time.

use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::thread;

/// Cases at the same time. Each starts processes, and a busy machine must not make them late.
const WIDTH: usize = 6;

/// Plays each case, several at the same time. Fails with the names of the cases that failed, after all have ended; their
/// messages are in the output.
#[track_caller]
pub(crate) fn together<C: Debug + Send>(cases: impl IntoIterator<Item = C>, play: impl Fn(C) + Sync) {
    let cases: Vec<C> = cases.into_iter().collect();
    let width = WIDTH.min(cases.len());
    let (waiting, failed) = (Mutex::new(cases.into_iter()), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..width {
            scope.spawn(|| {
                loop {
                    let Some(case) = waiting.lock().unwrap().next() else { return };
                    let name = format!("{case:?}");
                    if catch_unwind(AssertUnwindSafe(|| play(case))).is_err() {
                        println!("failed: {name}");
                        failed.lock().unwrap().push(name);
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap();
    assert!(failed.is_empty(), "{} cases failed:\n{}", failed.len(), failed.join("\n"));
}

/// Runs the asynchronous part of a case.
pub(crate) fn block_on<T>(part: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap().block_on(part)
}

#[test]
fn each_failed_case_is_named_and_the_others_are_played() {
    let played = Mutex::new(Vec::new());
    let failure = catch_unwind(AssertUnwindSafe(|| {
        together(0..20, |case| {
            played.lock().unwrap().push(case);
            assert!(case != 7 && case != 11, "as intended");
        });
    }));
    let message = failure.unwrap_err().downcast::<String>().unwrap();
    let mut lines: Vec<&str> = message.lines().collect();
    lines[1..].sort_unstable();
    assert_eq!(lines, ["2 cases failed:", "11", "7"]);
    assert_eq!(played.into_inner().unwrap().len(), 20);
}
